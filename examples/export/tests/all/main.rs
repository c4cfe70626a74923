//! An export has every row once, whatever happens to it.

mod interrupted;
mod support;
mod types;
mod wrong;
