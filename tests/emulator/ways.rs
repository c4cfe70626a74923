//! One column, read into many types in every way.

/// Reads the first column of the query into each type, NULL as `None`, by `next`, by
/// `next_batch` and by `Row::get`, and compares what `show` makes of it.
macro_rules! read_as {
    ($client:expr, $sql:expr, $expected:expr; $($ty:ty => $show:expr;)+) => {$({
        let sql: &str = $sql;
        let what = format!("{sql} as {}", stringify!($ty));
        let expected = $expected;
        let show: fn(&$ty) -> _ = $show;

        let mut rows = $client.query(sql).rows::<(Option<$ty>,)>().await.unwrap();
        for expected in &expected {
            let row = rows.next().await.unwrap().expect(&what);
            assert_eq!(row.0.as_ref().map(show), *expected, "{what}");
        }
        assert!(rows.next().await.unwrap().is_none());

        let mut rows = $client.query(sql).rows::<(Option<$ty>,)>().await.unwrap();
        let mut seen = Vec::new();
        while let Some(batch) = rows.next_batch().await.unwrap() {
            let alive: Vec<_> = batch.iter().map(Result::unwrap).collect();
            seen.extend(alive.iter().map(|row| row.0.as_ref().map(show)));
        }
        assert_eq!(seen, expected, "{what} by batch");

        let mut rows = $client.query(sql).rows::<spanner_rows::Row>().await.unwrap();
        for expected in &expected {
            let row = rows.next().await.unwrap().expect(&what);
            let value: Option<$ty> = row.get(0).unwrap();
            assert_eq!(value.as_ref().map(show), *expected, "{what} by `Row::get`");
        }
    })+};
}
pub(crate) use read_as;
