//! Tests of the result layer as a whole: scripted cases, and properties checked
//! against models that are written from the rules, not from the code.
//!
//! * `support`: what all of them use
//! * `script`: the JSON formats of the scripted cases
//! * `conformance`: the cases in `tests/data` and those of other clients
//! * `assembly`: any split of any rows; any messages at all against a naive assembler
//! * `resume`: any breaks of any stream against a model server
//! * `rules`: what single rules are for, one test each
//! * `memory`: what is kept to be used again
//! * `rows`: rows handed out in every way
//! * `hostile`: bytes that no server sends

mod assembly;
mod conformance;
mod hostile;
mod memory;
mod resume;
mod rows;
mod rules;
mod script;
mod support;
