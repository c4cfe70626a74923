//! Servers for tests, of this crate and of its users (feature `testing`).
//!
//! * [`FakeSpanner`] runs in process and answers with what the test gave it. It starts at once, and can do what a real server does rarely: cut results
//!   anywhere, break connections, fail in the middle.
//! * [`Emulator`] is Google's emulator: real SQL, real types, a real server's messages. It has to be installed.

mod emulator;
mod fake;

pub use emulator::{Database, DatabaseBuilder, Dialect, Emulator, EmulatorError};
pub use fake::{
    Answer, Cut, Failure, FakeSpanner, Gate, Message, Request, RequestKeyRange, RequestMutation,
    RequestTransaction, RowWriter, Rows, Step, ToRow,
};
