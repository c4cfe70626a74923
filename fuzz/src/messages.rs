//! Any bytes as the messages of a result: nothing may panic, and nothing may be read
//! of a result that has ended.

use bytes::Bytes;
use spanner_rows::{RetrySettings, Row, RowReader};

use crate::frames;

pub fn entry(data: &[u8]) {
    let settings = RetrySettings::new().hold_messages(2);
    let mut reader = RowReader::<Row<'_>>::new(&settings);
    for message in frames::split(data) {
        reader.receive(Bytes::copy_from_slice(message));
        read_all(&mut reader);
    }
    reader.end();
    read_all(&mut reader);
    assert!(reader.is_finished());
    assert!(matches!(reader.next(), Ok(None)), "ended for good");
    assert_eq!(reader.held_bytes(), 0);
    if let Some(stats) = reader.stats() {
        let _ = format!("{stats:?}");
    }
}

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
