//! Tests of the result layer as a whole: scripted cases, and properties checked
//! against models that are written from the rules, not from the code.
//!
//! * `support`: what all of them use
//! * `script`: the JSON formats of the scripted cases
//! * `conformance`: the cases in `tests/data` and those of other clients
//! * `assembly`: any split of any rows; any messages at all against a naive assembler
//! * `resume`: any breaks of any stream against a model server
//! * `rules`: what single rules are for, one test each

mod assembly;
mod conformance;
mod resume;
mod rules;
mod script;
mod support;
