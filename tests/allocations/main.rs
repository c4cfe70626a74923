//! Reading a row allocates nothing: in steady state, in every mode, with every
//! type whose memory can be used again.
//!
//! | file | what is counted |
//! |---|---|
//! | this one | every mode, through a client and without one |
//! | `every_attribute` | every attribute of the derive, without a client |
//! | `every_type` | every type, without a client |
//! | `by_nature` | the types that are left out, and why |
//! | `point_query` | a query of one row, with and without spans and counters |
//!
//! The rows of `try_collect` and the owned rows of a batch are made anew, too.

#[path = "../../examples/support/allocations.rs"]
mod allocations;
mod by_nature;
mod every_attribute;
mod every_type;
mod point_query;

use std::borrow::Cow;
use std::hint::black_box;

use allocations::{Allocations, Counting, this_thread_is_the_server};
use jiff::civil::Date;
use spanner_rows::testing::{FakeSpanner, Message, Rows};
use spanner_rows::{
    Client, Field, OwnedValue, RetrySettings, Row, RowReader, RowType, SpannerRow, Timestamp, Type,
    TypeCode,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// After so many rows everything has been there: each length, each NULL.
const PERIOD: usize = 60;

/// Only borrows and scalars: lent by value.
#[derive(SpannerRow)]
struct Borrowed<'row> {
    flag: bool,
    int: i64,
    double: f64,
    single: f32,
    text: &'row str,
    text2: Cow<'row, str>,
    bytes: &'row [u8],
    bytes2: Cow<'row, [u8]>,
    instant: Timestamp,
    day: Date,
    maybe: Option<&'row str>,
    maybe_bytes: Option<&'row [u8]>,
}

/// The columns in another order than the result's.
#[derive(SpannerRow)]
struct OutOfOrder<'row> {
    maybe_bytes: Option<&'row [u8]>,
    day: Date,
    instant: jiff::Timestamp,
    text2: &'row str,
    bytes2: &'row [u8],
    bytes: Cow<'row, [u8]>,
    text: Cow<'row, str>,
    double: f64,
    int: Option<i64>,
    flag: bool,
}

/// No lifetime: lent as `&mut`.
#[derive(SpannerRow)]
struct Owned {
    flag: bool,
    int: i64,
    double: f64,
    single: f32,
    text: String,
    text2: Option<String>,
    bytes: Vec<u8>,
    bytes2: Vec<u8>,
    instant: Timestamp,
    day: Date,
    maybe: Option<String>,
    maybe_bytes: Option<Vec<u8>>,
    ints: Vec<i64>,
    texts: Vec<String>,
    blobs: Vec<Vec<u8>>,
    maybe_texts: Option<Vec<Option<String>>>,
    structs: Vec<OwnedStruct>,
}

#[derive(SpannerRow)]
struct OwnedStruct {
    name: String,
    list: Vec<String>,
}

#[derive(SpannerRow)]
struct OwnedOutOfOrder {
    structs: Vec<OwnedStruct>,
    maybe_texts: Option<Vec<Option<String>>>,
    blobs: Vec<Vec<u8>>,
    maybe: Option<String>,
    text: String,
    int: i64,
}

/// Both: lent as a guard.
#[derive(SpannerRow)]
struct Mixed<'row> {
    int: i64,
    text: &'row str,
    text2: String,
    bytes: &'row [u8],
    maybe: Option<&'row str>,
    maybe_bytes: Option<Vec<u8>>,
    ints: Vec<i64>,
    texts: Vec<&'row str>,
    blobs: Vec<&'row [u8]>,
    maybe_texts: Option<Vec<Option<Cow<'row, str>>>>,
    structs: Vec<MixedStruct<'row>>,
}

#[derive(SpannerRow)]
struct MixedStruct<'row> {
    list: Vec<&'row str>,
    name: &'row str,
}

fn columns() -> Vec<(&'static str, Type)> {
    let scalar = Type::new;
    let structure = RowType::new([
        Field::new("name", scalar(TypeCode::String)),
        Field::new("list", Type::array(scalar(TypeCode::String))),
    ]);
    vec![
        ("flag", scalar(TypeCode::Bool)),
        ("int", scalar(TypeCode::Int64)),
        ("double", scalar(TypeCode::Float64)),
        ("single", scalar(TypeCode::Float32)),
        ("text", scalar(TypeCode::String)),
        ("text2", scalar(TypeCode::String)),
        ("bytes", scalar(TypeCode::Bytes)),
        ("bytes2", scalar(TypeCode::Bytes)),
        ("instant", scalar(TypeCode::Timestamp)),
        ("day", scalar(TypeCode::Date)),
        ("maybe", scalar(TypeCode::String)),
        ("maybe_bytes", scalar(TypeCode::Bytes)),
        ("ints", Type::array(scalar(TypeCode::Int64))),
        ("texts", Type::array(scalar(TypeCode::String))),
        ("blobs", Type::array(scalar(TypeCode::Bytes))),
        ("maybe_texts", Type::array(scalar(TypeCode::String))),
        ("structs", Type::array(Type::structure(structure))),
    ]
}

/// The values of row `i`: lengths go up and down, NULL and values take turns.
fn row(i: usize) -> Vec<OwnedValue> {
    let i = i % PERIOD;
    let text = |n: usize| OwnedValue::String("é".repeat(n * 7 % 20));
    // Base64 of zeros.
    let bytes = |n: usize| OwnedValue::String("AAAA".repeat(n * 11 % 15));
    let list = |f: &dyn Fn(usize) -> OwnedValue| OwnedValue::List((0..i % 5).map(f).collect());
    let or_null = |null: bool, value| if null { OwnedValue::Null } else { value };
    let known = |text: &str| OwnedValue::String(text.to_owned());
    let structure = |j: usize| {
        let inner = (0..(i + j) % 4).map(|k| text(i + j + k));
        OwnedValue::List(vec![text(i + j), OwnedValue::List(inner.collect())])
    };
    vec![
        OwnedValue::Bool(i.is_multiple_of(3)),
        OwnedValue::String((i * 1_000_003).to_string()),
        if i.is_multiple_of(4) {
            known("NaN")
        } else {
            OwnedValue::Number(0.5)
        },
        OwnedValue::Number(1.5),
        text(i),
        text(i + 1),
        bytes(i),
        bytes(i + 2),
        known("2024-02-29T12:30:45.123456789Z"),
        known("2024-02-29"),
        or_null(i.is_multiple_of(2), text(i)),
        or_null(i.is_multiple_of(3), bytes(i)),
        list(&|j| OwnedValue::String((i * j).to_string())),
        list(&|j| text(i + j)),
        list(&|j| bytes(i + j)),
        or_null(
            i % 4 == 1,
            list(&|j| or_null((i + j).is_multiple_of(3), text(i + j))),
        ),
        list(&structure),
    ]
}

/// One test, so that nothing else runs beside what is counted.
#[test]
fn no_allocation_per_row() {
    let server = Server::start();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // What is counted is counted at all.
    assert_eq!(allocations_of(|| drop(black_box(vec![1_u8]))), 1);

    all_ways::<Borrowed>("borrowed", &runtime, &server);
    all_ways::<OutOfOrder>("out of order", &runtime, &server);
    all_ways::<Owned>("owned", &runtime, &server);
    all_ways::<OwnedOutOfOrder>("owned, out of order", &runtime, &server);
    all_ways::<Mixed>("mixed", &runtime, &server);
    all_ways::<Row>("row without a struct", &runtime, &server);
    batches::<Borrowed>("borrowed", &runtime, &server);
    batches::<OutOfOrder>("out of order", &runtime, &server);

    every_attribute::no_allocation_per_row();
    every_type::no_allocation_per_row();
    by_nature::what_allocates();
    point_query::costs_no_more_than_ever(&runtime, &server);
}

fn allocations_of(run: impl FnOnce()) -> u64 {
    let before = Allocations::now();
    run();
    Allocations::now().since(before).client()
}

fn all_ways<T: SpannerRow + 'static>(
    what: &str,
    runtime: &tokio::runtime::Runtime,
    server: &Server,
) {
    without_a_transport::<T>(what);
    let per_row = runtime.block_on(per_row(server, async |client, sql| {
        let mut rows = client.query(sql).rows::<T>().await.unwrap();
        let mut seen = 0;
        let mut start = None;
        while let Some(row) = rows.next().await.unwrap() {
            black_box(&row);
            seen += 1;
            start.get_or_insert_with(Allocations::now);
        }
        (seen, start)
    }));
    check(what, "next", per_row, runtime.block_on(unread(server)));
    let per_row = runtime.block_on(self::per_row(server, async |client, sql| {
        let mut rows = client.query(sql).rows::<T>().await.unwrap();
        let mut seen = 0;
        let mut start = None;
        let counted = rows.for_each(|row| {
            black_box(&row);
            seen += 1;
            start.get_or_insert_with(Allocations::now);
        });
        counted.await.unwrap();
        (seen, start)
    }));
    check(what, "for_each", per_row, runtime.block_on(unread(server)));
}

fn batches<T: SpannerRow + 'static>(
    what: &str,
    runtime: &tokio::runtime::Runtime,
    server: &Server,
) {
    let per_row = runtime.block_on(per_row(server, async |client, sql| {
        let mut rows = client.query(sql).rows::<T>().await.unwrap();
        let mut seen = 0;
        let mut start = None;
        while let Some(batch) = rows.next_batch().await.unwrap() {
            for row in &batch {
                black_box(&row.unwrap());
                seen += 1;
                start.get_or_insert_with(Allocations::now);
            }
        }
        (seen, start)
    }));
    check(
        what,
        "next_batch",
        per_row,
        runtime.block_on(unread(server)),
    );
}

/// A few allocations for every 16 KiB are the HTTP/2 library's, whatever is in them.
fn check(what: &str, way: &str, per_row: f64, unread: f64) {
    println!("{what} by {way}: {per_row:.3} allocations of the client per row, {unread:.3} unread");
    assert!(
        per_row - unread < 0.05,
        "{what} by {way}: {per_row} allocations per row, {unread} unread"
    );
}

/// The transport's share: the messages are received and dropped unread.
async fn unread(server: &Server) -> f64 {
    per_row(server, async |client, sql| {
        let mut rows = client.query(sql).rows::<(bool,)>().await.unwrap();
        let mut seen = 0;
        let mut start = None;
        while let Some(batch) = rows.next_batch().await.unwrap() {
            seen += batch.len();
            start.get_or_insert_with(Allocations::now);
        }
        (seen, start)
    })
    .await
}

/// The difference between a long and a short result, per row.
async fn per_row(
    server: &Server,
    read: impl AsyncFn(&Client, &str) -> (usize, Option<Allocations>),
) -> f64 {
    let client = server.client().await;
    let mut counts = Vec::new();
    for rows in [SHORT, LONG] {
        let (seen, start) = read(&client, &sql(rows)).await;
        let end = Allocations::now();
        assert_eq!(seen, rows);
        counts.push(end.since(start.expect("a first row")).client());
    }
    (counts[1] as f64 - counts[0] as f64) / (LONG - SHORT) as f64
}

fn without_a_transport<T: SpannerRow>(what: &str) {
    without_a_client::<T>(what, &columns(), row, |row| {
        black_box(row);
    });
}

/// Messages into a `RowReader`: behind the first message, not one allocation
/// for all rows of a message but the first that is joined from two messages and the
/// first that is not. (With these, the base64 of all is decoded, and the columns of
/// all are found where they are out of order.)
fn without_a_client<T: SpannerRow>(
    what: &str,
    columns: &[(&'static str, Type)],
    row: fn(usize) -> Vec<OwnedValue>,
    visit: impl for<'row> Fn(&T::Lent<'row>),
) {
    let allocations = allocations_per_message::<T>(columns, row, visit);
    for (rows, allocations) in allocations.into_iter().skip(1) {
        assert!(rows > PERIOD);
        assert_eq!(allocations, 0, "{what}: for {rows} rows");
    }
}

/// For each of some messages, how many rows behind the first two it has, and how
/// often these allocate.
fn allocations_per_message<T: SpannerRow>(
    columns: &[(&'static str, Type)],
    row: fn(usize) -> Vec<OwnedValue>,
    visit: impl for<'row> Fn(&T::Lent<'row>),
) -> Vec<(usize, u64)> {
    const MESSAGES: usize = 6;
    const FIRST: usize = 2;
    // What a message of more than 1 MiB needs is not kept for the next: these have less.
    let values: Vec<_> = (0..2 * PERIOD * MESSAGES).flat_map(row).collect();
    // A few values more, so that rows lie across the borders.
    let messages = values.chunks(values.len() / MESSAGES + 5);
    let messages: Vec<_> = messages
        .enumerate()
        .map(|(i, values)| {
            let message = Message::new().values(values.iter().cloned());
            let message = if i == 0 {
                message.columns(columns.iter().cloned())
            } else {
                message
            };
            message.resume_token(format!("token {i}")).encode()
        })
        .collect();

    let mut reader = RowReader::<T>::new(&RetrySettings::default());
    let mut counts = Vec::new();
    for message in messages {
        reader.receive(message);
        for _ in 0..FIRST {
            visit(&reader.next().unwrap().expect("a first row"));
        }
        let mut rest = 0;
        let allocations = allocations_of(|| {
            while let Some(row) = reader.next().unwrap() {
                visit(&row);
                rest += 1;
            }
        });
        counts.push((rest, allocations));
    }
    let rows: usize = counts.iter().map(|(rest, _)| FIRST + rest).sum();
    assert_eq!(rows, 2 * PERIOD * MESSAGES);
    counts
}

const SHORT: usize = 2_000;
const LONG: usize = 10_000;

fn sql(rows: usize) -> String {
    format!("SELECT {rows} rows")
}

/// The fake Spanner on a thread of its own, whose allocations are counted apart.
struct Server {
    fake: FakeSpanner,
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Server {
    fn start() -> Self {
        let (started, fake) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            this_thread_is_the_server();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                started.send(FakeSpanner::start().await).unwrap();
                let _ = stopped.await;
            });
        });
        let fake = fake.recv().expect("a fake Spanner");
        for rows in [SHORT, LONG] {
            // Messages as long as the service may make them.
            let answer = Rows::of_values(columns(), (0..rows).map(row)).message_size(512 * 1024);
            fake.on_query(&sql(rows), answer);
        }
        Self { fake, _stop: stop }
    }

    async fn client(&self) -> Client {
        let client = Client::builder(self.fake.database()).endpoint(self.fake.endpoint());
        client.connect().await.unwrap()
    }
}
