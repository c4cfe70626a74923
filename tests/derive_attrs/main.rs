//! What the attributes of the derive do, read from results.

mod convert;
mod defaults;
mod enums;
mod flatten;
mod json;
mod mixed;
mod names;
mod structs;
mod support;
