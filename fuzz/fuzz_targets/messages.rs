//! Any bytes as the messages of a result: nothing may panic, and nothing may be read
//! of a result that has ended.
//!
//! The input is a list of messages, each behind its length in two bytes.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use spanner_rows::{RetrySettings, Row, RowReader};

fuzz_target!(|input: &[u8]| {
    let settings = RetrySettings::new().hold_messages(2);
    let mut reader = RowReader::<Row<'_>>::new(&settings);
    let mut rest = input;
    while let [low, high, tail @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (message, tail) = tail.split_at(len);
        reader.receive(Bytes::copy_from_slice(message));
        read_all(&mut reader);
        rest = tail;
    }
    reader.end();
    read_all(&mut reader);
    assert!(reader.is_finished());
    assert!(matches!(reader.next(), Ok(None)), "ended for good");
});

fn read_all(reader: &mut RowReader<Row<'_>>) {
    loop {
        match reader.next() {
            Ok(Some(row)) => {
                // Reads every value to the bottom.
                let _ = format!("{row:?}");
            }
            Ok(None) => break,
            Err(error) => {
                let _ = format!("{error:?} {error}");
            }
        }
    }
}
