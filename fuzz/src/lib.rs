//! What the fuzz targets do with their bytes: plain functions, which cargo-fuzz drives
//! on a nightly toolchain and `tests/replay.rs` runs over `corpus/` on any.
//!
//! | module | what its bytes are | what must hold |
//! |---|---|---|
//! | `messages` | serialised messages, mostly malformed | nothing panics, the end is final |
//! | `assembly` | values, cut into messages | the rows are those of a naive assembler |
//! | `parsers` | the text of one value | the value is the one that other libraries read |
//! | `every_type` | values for a row with every type | every way to read a row gives the same |
//! | `differential` | serialised messages | the rows are those of a decoder made with prost |
#![forbid(unsafe_code)]

pub mod assembly;
pub mod differential;
pub mod every_type;
mod frames;
pub mod messages;
mod model;
pub mod parsers;
mod wire;

/// What a target does with an input.
pub type Entry = fn(&[u8]);

/// All targets by name.
pub const TARGETS: &[(&str, Entry)] = &[
    ("assembly", assembly::entry),
    ("differential", differential::entry),
    ("every_type", every_type::entry),
    ("messages", messages::entry),
    ("parsers", parsers::entry),
];

/// The body of a target's program: under cargo-fuzz what libFuzzer calls, otherwise a
/// `main` that runs the files it is given, such as one that made a target fail.
#[macro_export]
macro_rules! fuzz {
    ($entry:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $entry(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            for path in std::env::args_os().skip(1) {
                $entry(&std::fs::read(path)?);
            }
            Ok(())
        }
    };
}
