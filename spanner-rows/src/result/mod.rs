//! From messages to rows: everything about a result that needs no socket, no
//! clock and no random numbers.
//!
//! * [`assembler`] puts rows together; it changes by *released* messages only
//! * [`merge`] joins the pieces of a value that came in several messages
//! * [`resumer`] decides which messages are released, and keeps what a broken
//!   stream is taken up again with
//! * [`retry`] decides whether an error is worth another attempt, and when
//! * [`reader`] is the face of all that for whoever owns the connection
//! * [`rows`] hands the rows out, [`batch`] many of them at once
//!
//! The asynchronous shell (feature `client`): [`source`] drives the call, [`stream`]
//! is what users hold.
//!
//! That assembler and resumer are apart is what makes taking a stream up again
//! correct: at any moment the assembler's state is the server's at the resume
//! token (and, once resuming is given up, what was handed out since).

pub(crate) mod assembler;
pub(crate) mod batch;
pub(crate) mod merge;
pub(crate) mod reader;
pub(crate) mod resumer;
pub(crate) mod retry;
pub(crate) mod rows;
#[cfg(feature = "client")]
pub(crate) mod source;
#[cfg(feature = "client")]
pub(crate) mod stream;

#[cfg(test)]
mod tests;
