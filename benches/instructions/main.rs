//! Instructions per row of decoding: what `cargo xtask instructions` runs under callgrind.
//!
//! Every arm runs once inside [`measured`], and callgrind is told to count there
//! and to write its count down at the end of each call. The lines printed name
//! the calls in their order. An argument leaves only shapes whose names begin so.

#[path = "../shapes/cpu.rs"]
mod cpu;
#[path = "../shapes/mod.rs"]
#[allow(dead_code, reason = "some shapes are for other harnesses")]
mod shapes;

use std::hint::black_box;

use bytes::Bytes;
use shapes::arms::{Subject, subjects};

/// Enough that the start of a result, where columns are bound, does not count.
const MESSAGES: usize = 100;

fn main() {
    println!("cpu\t{}", cpu::features());
    let only = std::env::args().nth(1).unwrap_or_default();
    let wanted = |subject: &Subject| subject.shape.starts_with(&only) || only == "--bench";
    for subject in subjects().into_iter().filter(wanted) {
        let messages = (subject.messages)(MESSAGES);
        subject.check(&(subject.messages)(2));
        for arm in &subject.arms {
            measured(arm.time, &messages.encoded);
            println!("{}\t{}\t{}", subject.shape, arm.name, messages.rows);
        }
    }
}

/// What callgrind counts. Its name is known to xtask.
#[inline(never)]
fn measured(read: fn(&[Bytes]), messages: &[Bytes]) {
    read(messages);
    // Callgrind cannot see where the function ends if its last act is a jump.
    black_box(messages);
}
