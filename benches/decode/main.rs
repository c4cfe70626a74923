//! Time per row of decoding, without any transport: the same messages through
//! this crate in its modes, and through prost into the same owned rows.
//!
//! ```sh
//! cargo bench --bench decode
//! ```
//!
//! Compare ratios within one run; absolute times are those of one machine.

mod shapes;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use googleapis_tonic_google_spanner_v1::google::spanner::v1::PartialResultSet;
use prost::Message as _;
use prost_types::value::Kind;
use shapes::{Customer, Messages, Narrow, OwnedCustomer, OwnedNarrow, OwnedStrings8, Strings8};
use spanner_rows::{OwnedRow, RetrySettings, RowReader, SpannerRow};

/// Feeds the messages to a reader, one by one, and has `read` take the rows.
fn feed<T: SpannerRow>(messages: &[Bytes], mut read: impl FnMut(&mut RowReader<T>)) {
    let mut rows = RowReader::<T>::new(&RetrySettings::default());
    for message in messages {
        rows.receive(message.clone());
        read(&mut rows);
    }
}

fn next<T: SpannerRow>(messages: &[Bytes]) {
    feed::<T>(messages, |rows| {
        while let Some(row) = rows.next().expect("good rows") {
            black_box(&row);
        }
    });
}

fn for_each<T: SpannerRow>(messages: &[Bytes]) {
    feed::<T>(messages, |rows| {
        rows.for_each(&mut |row| {
            black_box(&row);
        })
        .expect("good rows");
    });
}

fn batch<T: SpannerRow>(messages: &[Bytes]) {
    feed::<T>(messages, |rows| {
        while let Some(batch) = rows.next_batch().expect("good rows") {
            for row in &batch {
                black_box(&row.expect("a good row"));
            }
        }
    });
}

fn fresh<T: OwnedRow>(messages: &[Bytes]) {
    feed::<T>(messages, |rows| {
        while let Some(row) = rows.next_owned().expect("good rows") {
            black_box(&row);
        }
    });
}

/// What a program pays that decodes with prost and moves the values out.
fn prost<T>(messages: &[Bytes], convert: impl Fn(&mut dyn Iterator<Item = Kind>) -> Option<T>) {
    for message in messages {
        let message = PartialResultSet::decode(message.clone()).expect("a good message");
        let values = message.values.into_iter();
        let mut kinds = values.map(|value| value.kind.expect("every value has a kind"));
        while let Some(row) = convert(&mut kinds) {
            black_box(&row);
        }
    }
}

fn text(kind: Option<Kind>) -> Option<String> {
    match kind? {
        Kind::StringValue(text) => Some(text),
        other => panic!("{other:?} is not a string"),
    }
}

/// The arms that every shape has.
fn shape<B, O>(
    c: &mut Criterion,
    name: &str,
    messages: &Messages,
    convert: impl Fn(&mut dyn Iterator<Item = Kind>) -> Option<O>,
) where
    B: SpannerRow,
    O: OwnedRow,
{
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(messages.rows));
    let wire = &messages.encoded;
    group.bench_function("walk only", |b| {
        b.iter(|| feed::<B>(wire, |rows| drop(black_box(rows.next_batch()))));
    });
    group.bench_function("borrowed next", |b| b.iter(|| next::<B>(wire)));
    group.bench_function("borrowed for_each", |b| b.iter(|| for_each::<B>(wire)));
    group.bench_function("borrowed batch", |b| b.iter(|| batch::<B>(wire)));
    group.bench_function("owned next", |b| b.iter(|| next::<O>(wire)));
    group.bench_function("owned fresh", |b| b.iter(|| fresh::<O>(wire)));
    group.bench_function("prost + convert", |b| b.iter(|| prost(wire, &convert)));
    group.finish();
}

fn decode(c: &mut Criterion) {
    let messages = shapes::customer();
    shape::<Customer<'static>, _>(c, "customer", &messages, |kinds| {
        Some(OwnedCustomer {
            a: text(kinds.next())?,
            b: text(kinds.next())?,
            c: text(kinds.next())?,
        })
    });
    for (name, messages) in [("strings8", shapes::strings8()), ("vary8", shapes::vary8())] {
        shape::<Strings8<'static>, _>(c, name, &messages, |kinds| {
            let mut next = || text(kinds.next());
            Some(OwnedStrings8 {
                a: next()?,
                b: next()?,
                c: next()?,
                d: next()?,
                e: next()?,
                f: next()?,
                g: next()?,
                h: next()?,
            })
        });
    }
    let messages = shapes::narrow();
    shape::<Narrow<'static>, _>(c, "narrow", &messages, |kinds| {
        Some(OwnedNarrow {
            a: text(kinds.next())?.parse().expect("an integer"),
            b: text(kinds.next())?,
        })
    });
}

criterion_group!(benches, decode);
criterion_main!(benches);
