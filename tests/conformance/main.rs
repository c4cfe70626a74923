//! The conformance cases, run through the public API: a client, and a fake
//! Spanner that sends what each case says.

mod acceptance;
mod bug_cases;
mod chunk_cases;
mod fake_only;
mod json;
mod proto_json;
mod run;
mod value_cases;
