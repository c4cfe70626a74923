//! The row types that results are read into, and what they read.

use std::future::Future;
use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use spanner_rows::{Error, OwnedValue, Recycled, Row, RowStream, SpannerRow};

use crate::reference;
use crate::scenario::COLUMNS;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

#[derive(SpannerRow)]
pub(crate) struct Borrowed<'row> {
    n: i64,
    text: Option<&'row str>,
    flag: Option<bool>,
    x: Option<f64>,
    data: Option<&'row [u8]>,
}

#[derive(SpannerRow)]
pub(crate) struct Mixed<'row> {
    n: i64,
    text: Option<&'row str>,
    flag: Option<bool>,
    x: Option<f64>,
    data: Option<&'row [u8]>,
    list: Option<Vec<Option<&'row str>>>,
    pairs: Option<Vec<Option<BorrowedPair<'row>>>>,
}

#[derive(SpannerRow)]
struct BorrowedPair<'row> {
    k: Option<i64>,
    v: Option<&'row str>,
}

/// Not in the order of the columns.
#[derive(SpannerRow)]
pub(crate) struct Owned {
    pairs: Option<Vec<Option<Pair>>>,
    text: Option<String>,
    n: i64,
    list: Option<Vec<Option<String>>>,
    flag: Option<bool>,
    data: Option<Vec<u8>>,
    x: Option<f64>,
}

#[derive(SpannerRow)]
struct Pair {
    k: Option<i64>,
    v: Option<String>,
}

/// A row type of this test.
pub(crate) trait ModelRow: SpannerRow + Sized + 'static {
    /// How many of the columns it reads, counted from the first.
    const WIDTH: usize = COLUMNS.len();

    fn lent(row: &Self::Lent<'_>) -> reference::Row;

    fn row(row: &Self::Row<'_>) -> reference::Row;

    /// All rows that are left, by `extend` where the row type has it.
    fn extend<'a>(
        rows: &'a mut RowStream<Self>,
        out: &'a mut Vec<reference::Row>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(rows.for_each(|row| out.push(Self::lent(&row))))
    }

    /// All rows that are left, none of them if there is an error.
    fn collect(rows: &mut RowStream<Self>) -> BoxFuture<'_, Result<Vec<reference::Row>, Error>> {
        Box::pin(async {
            let mut all = Vec::new();
            rows.for_each(|row| all.push(Self::lent(&row))).await?;
            Ok(all)
        })
    }

    /// All rows that are left, by way of `into_stream`.
    fn stream(
        mut rows: RowStream<Self>,
        out: &mut Vec<reference::Row>,
    ) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { rows.for_each(|row| out.push(Self::lent(&row))).await })
    }

    /// Whether `optional` gives rows; what it gave.
    fn only(rows: &mut RowStream<Self>) -> BoxFuture<'_, Result<Option<reference::Row>, Error>> {
        Box::pin(async {
            let batch = rows.optional_batch().await?;
            let row = batch.as_ref().map(|batch| batch.row(0)).transpose()?;
            Ok(row.map(|row| Self::row(&row)))
        })
    }
}

impl ModelRow for Borrowed<'static> {
    const WIDTH: usize = 5;

    fn lent(row: &Borrowed<'_>) -> reference::Row {
        Self::row(row)
    }

    fn row(row: &Borrowed<'_>) -> reference::Row {
        vec![
            integer(row.n),
            option(row.text, text),
            option(row.flag, OwnedValue::Bool),
            option(row.x, float),
            option(row.data, bytes),
        ]
    }
}

impl ModelRow for Mixed<'static> {
    fn lent(row: &Recycled<'_, Self>) -> reference::Row {
        let row: &Mixed<'_> = row;
        Self::row(row)
    }

    fn row(row: &Mixed<'_>) -> reference::Row {
        vec![
            integer(row.n),
            option(row.text, text),
            option(row.flag, OwnedValue::Bool),
            option(row.x, float),
            option(row.data, bytes),
            list(&row.list, |element| option(*element, text)),
            list(&row.pairs, |pair| {
                option(pair.as_ref(), |pair| {
                    OwnedValue::List(vec![option(pair.k, integer), option(pair.v, text)])
                })
            }),
        ]
    }
}

impl ModelRow for Owned {
    fn lent(row: &&mut Self) -> reference::Row {
        Self::row(row)
    }

    fn row(row: &Self) -> reference::Row {
        vec![
            integer(row.n),
            option(row.text.as_deref(), text),
            option(row.flag, OwnedValue::Bool),
            option(row.x, float),
            option(row.data.as_deref(), bytes),
            list(&row.list, |element| option(element.as_deref(), text)),
            list(&row.pairs, |pair| {
                option(pair.as_ref(), |pair| {
                    let value = option(pair.v.as_deref(), text);
                    OwnedValue::List(vec![option(pair.k, integer), value])
                })
            }),
        ]
    }

    fn extend<'a>(
        rows: &'a mut RowStream<Self>,
        out: &'a mut Vec<reference::Row>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move { rows.extend(&mut Into(out)).await })
    }

    fn collect(rows: &mut RowStream<Self>) -> BoxFuture<'_, Result<Vec<reference::Row>, Error>> {
        Box::pin(async {
            let all: Vec<Self> = rows.try_collect().await?;
            Ok(all.iter().map(Self::row).collect())
        })
    }

    fn stream(
        rows: RowStream<Self>,
        out: &mut Vec<reference::Row>,
    ) -> BoxFuture<'_, Result<(), Error>> {
        let mut rows = rows.into_stream();
        Box::pin(async move {
            use futures_core::Stream as _;
            let mut next =
                async || std::future::poll_fn(|cx| Pin::new(&mut rows).poll_next(cx)).await;
            while let Some(row) = next().await {
                match row {
                    Ok(row) => out.push(Self::row(&row)),
                    Err(error) => {
                        assert!(next().await.is_none(), "an item behind the error");
                        return Err(error);
                    }
                }
            }
            assert!(next().await.is_none(), "an item behind the end");
            Ok(())
        })
    }

    fn only(rows: &mut RowStream<Self>) -> BoxFuture<'_, Result<Option<reference::Row>, Error>> {
        Box::pin(async { Ok(rows.optional().await?.as_ref().map(Self::row)) })
    }
}

/// A collection that keeps what the rows say.
struct Into<'a>(&'a mut Vec<reference::Row>);

impl Extend<Owned> for Into<'_> {
    fn extend<I: IntoIterator<Item = Owned>>(&mut self, rows: I) {
        self.0.extend(rows.into_iter().map(|row| Owned::row(&row)));
    }
}

impl ModelRow for Row<'static> {
    fn lent(row: &Row<'_>) -> reference::Row {
        Self::row(row)
    }

    /// By name: the columns may come the other way round.
    fn row(row: &Row<'_>) -> reference::Row {
        assert_eq!(row.len(), COLUMNS.len());
        let values = COLUMNS.iter().map(|name| row.value(*name));
        values
            .map(|value| OwnedValue::from(value.expect("a value of the server's")))
            .collect()
    }
}

fn option<T>(value: Option<T>, known: impl FnOnce(T) -> OwnedValue) -> OwnedValue {
    value.map_or(OwnedValue::Null, known)
}

fn list<T>(elements: &Option<Vec<T>>, element: impl Fn(&T) -> OwnedValue) -> OwnedValue {
    option(elements.as_ref(), |elements| {
        OwnedValue::List(elements.iter().map(element).collect())
    })
}

fn integer(value: i64) -> OwnedValue {
    OwnedValue::String(value.to_string())
}

fn text(value: &str) -> OwnedValue {
    OwnedValue::String(value.to_owned())
}

fn bytes(value: &[u8]) -> OwnedValue {
    OwnedValue::String(STANDARD.encode(value))
}

fn float(value: f64) -> OwnedValue {
    if value.is_nan() {
        text("NaN")
    } else if value.is_infinite() {
        text(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        OwnedValue::Number(value)
    }
}
