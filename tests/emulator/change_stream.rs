//! A change stream, whose result is the deepest that Spanner has: borrowed, owned,
//! read lazily, and without a struct.

#[path = "../../examples/change_stream/records.rs"]
mod records;

use std::collections::BTreeMap;

use jiff::Timestamp;
use records::{Change, ChangeRecord, DataChange};
use serde_json::value::RawValue;
use spanner_rows::testing::Database;
use spanner_rows::{Client, DecodeError, Json, List, Query, Row, SpannerRow, TypeCode, Value};

use crate::support;

const DDL: [&str; 3] = [
    "CREATE TABLE Singers (
        SingerId INT64 NOT NULL, Name STRING(MAX), Fee NUMERIC, Tags ARRAY<STRING(MAX)>, Extra JSON,
    ) PRIMARY KEY (SingerId)",
    "CREATE TABLE Albums (Title STRING(MAX), Disc INT64, Cover BYTES(MAX)) PRIMARY KEY (Title, Disc DESC)",
    "CREATE CHANGE STREAM Changes FOR Singers(Name, Tags, Extra), Albums",
];

const WORK: [&[&str]; 4] = [
    &[
        r#"INSERT INTO Singers (SingerId, Name, Fee, Tags, Extra) VALUES
            (1, 'Zoë "Z"\n🎷', 1.5, ['a', ''], JSON '{"k": [1, "x"]}'), (2, NULL, 2, [], NULL)"#,
    ],
    // Changes of two kinds: as many records. (In which order those of several tables
    // come is not said.)
    &[
        "UPDATE Singers SET Name = 'Zoë' WHERE SingerId = 1",
        "UPDATE Singers SET Tags = NULL WHERE SingerId = 1",
        "DELETE FROM Singers WHERE SingerId = 2",
    ],
    &[
        "INSERT INTO Albums (Title, Disc, Cover) VALUES ('T', -1, b'\\x00\\xff'), ('T', 9007199254740993, NULL)",
    ],
    &["DELETE FROM Albums WHERE Disc < 0"],
];

/// A record as what is told of it apart from times and tokens.
#[derive(Debug, PartialEq)]
struct Seen {
    table: String,
    kind: String,
    /// Name, type, whether in the key, position.
    columns: Vec<(String, String, bool, i64)>,
    mods: Vec<SeenMod>,
    /// Record sequence, whether the last, number of records.
    place: (String, bool, i64),
}

/// The JSON of keys, old and new values; values that did not change are left out.
#[derive(Debug, PartialEq)]
struct SeenMod {
    keys: String,
    old: String,
    new: String,
}

impl SeenMod {
    fn new(keys: Object, mut old: Object, mut new: Object) -> Self {
        // A server may leave them out by itself.
        let same = old.iter().filter(|(k, v)| new.get(*k) == Some(v));
        let same: Vec<_> = same.map(|(column, _)| column.clone()).collect();
        for column in same {
            old.remove(&column);
            new.remove(&column);
        }
        let text = |object: Object| serde_json::to_string(&object).unwrap();
        Self {
            keys: text(keys),
            old: text(old),
            new: text(new),
        }
    }
}

type Object = BTreeMap<String, serde_json::Value>;

fn expected() -> Vec<Seen> {
    let column =
        |name: &str, ty: &str, key, position| (name.to_owned(), ty.to_owned(), key, position);
    let singers = || {
        vec![
            column("SingerId", "INT64", true, 1),
            column("Name", "STRING", false, 2),
            column("Tags", "ARRAY<STRING>", false, 4),
            column("Extra", "JSON", false, 5),
        ]
    };
    let albums = || {
        vec![
            column("Title", "STRING", true, 1),
            column("Disc", "INT64", true, 2),
            column("Cover", "BYTES", false, 3),
        ]
    };
    let change = |keys: &str, old: &str, new: &str| SeenMod {
        keys: keys.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let seen = |table: &str, kind: &str, columns, place: (&str, bool, i64), mods| Seen {
        table: table.to_owned(),
        kind: kind.to_owned(),
        columns,
        mods,
        place: (place.0.to_owned(), place.1, place.2),
    };
    vec![
        seen(
            "Singers",
            "INSERT",
            singers(),
            ("00000000", true, 1),
            vec![
                change(
                    r#"{"SingerId":"1"}"#,
                    "{}",
                    r#"{"Extra":"{\"k\":[1,\"x\"]}","Name":"Zoë \"Z\"\n🎷","Tags":["a",""]}"#,
                ),
                change(
                    r#"{"SingerId":"2"}"#,
                    "{}",
                    r#"{"Extra":null,"Name":null,"Tags":[]}"#,
                ),
            ],
        ),
        seen(
            "Singers",
            "UPDATE",
            singers(),
            ("00000000", false, 2),
            vec![change(
                r#"{"SingerId":"1"}"#,
                r#"{"Name":"Zoë \"Z\"\n🎷","Tags":["a",""]}"#,
                r#"{"Name":"Zoë","Tags":null}"#,
            )],
        ),
        seen(
            "Singers",
            "DELETE",
            singers(),
            ("00000001", true, 2),
            vec![change(
                r#"{"SingerId":"2"}"#,
                r#"{"Extra":null,"Name":null,"Tags":[]}"#,
                "{}",
            )],
        ),
        seen(
            "Albums",
            "INSERT",
            albums(),
            ("00000000", true, 1),
            vec![
                // In the order of the key, `Disc DESC`.
                change(
                    r#"{"Disc":"9007199254740993","Title":"T"}"#,
                    "{}",
                    r#"{"Cover":null}"#,
                ),
                change(r#"{"Disc":"-1","Title":"T"}"#, "{}", r#"{"Cover":"AP8="}"#),
            ],
        ),
        seen(
            "Albums",
            "DELETE",
            albums(),
            ("00000000", true, 1),
            vec![change(
                r#"{"Disc":"-1","Title":"T"}"#,
                r#"{"Cover":"AP8="}"#,
                "{}",
            )],
        ),
    ]
}

/// A database with changes between two times, and the partitions of its stream.
struct Stream {
    _database: Database,
    client: Client,
    from: Timestamp,
    to: Timestamp,
    tokens: Vec<String>,
}

impl Stream {
    async fn start() -> Option<Self> {
        let (database, client) = support::database(&DDL).await?;
        let now = async || {
            let query = client.query("SELECT CURRENT_TIMESTAMP()");
            query.one::<(Timestamp,)>().await.unwrap().0
        };
        let from = now().await;
        for transaction in WORK {
            database.execute_all(transaction).await.unwrap();
        }
        let to = now().await;
        let mut stream = Self {
            _database: database,
            client,
            from,
            to,
            tokens: Vec::new(),
        };
        stream.tokens = stream.partitions().await;
        Some(stream)
    }

    fn query(&self, token: Option<&str>) -> Query {
        let sql = "SELECT ChangeRecord FROM READ_Changes(
            start_timestamp => @from, end_timestamp => @to, partition_token => @token, heartbeat_milliseconds => 10000)";
        let query = self.client.query(sql).param("from", self.from);
        query.param("to", self.to).param("token", token)
    }

    fn queries(&self) -> impl Iterator<Item = Query> {
        self.tokens.iter().map(|token| self.query(Some(token)))
    }

    /// The tokens of the first partitions, with all that is told of them.
    async fn partitions(&self) -> Vec<String> {
        let mut tokens = Vec::new();
        let mut sequences = Vec::new();
        let mut rows = self.query(None).rows::<Change>().await.unwrap();
        while let Some(change) = rows.next().await.unwrap() {
            for record in &change.change_record {
                assert_eq!(record.data_change_record.len(), 0);
                assert_eq!(record.heartbeat_record.len(), 0);
                for next in &record.child_partitions_record {
                    assert_eq!(next.start_timestamp, self.from);
                    sequences.push(next.record_sequence.to_owned());
                    for child in &next.child_partitions {
                        assert!(child.parent_partition_tokens.is_empty());
                        tokens.push(child.token.to_owned());
                    }
                }
            }
        }
        assert!(!tokens.is_empty());
        assert!(sequences.is_sorted() && sequences[0] == "00000000");
        tokens
    }
}

impl<'row> DataChange<'row> {
    fn seen(&self) -> Seen {
        let columns = self.column_types.iter().map(|column| {
            (
                column.name.to_owned(),
                column.r#type.0.to_string(),
                column.is_primary_key,
                column.ordinal_position,
            )
        });
        let mods = self.mods.iter().map(|change| {
            let all = self.column_types.iter().map(|column| column.name);
            let object = |get: &dyn Fn(&str) -> Option<&'row str>| {
                let json = |text| serde_json::from_str(text).unwrap();
                let values = all
                    .clone()
                    .filter_map(|name| Some((name.to_owned(), json(get(name)?))));
                values.collect()
            };
            SeenMod::new(
                object(&|name| change.key(name)),
                object(&|name| change.before(name)),
                object(&|name| change.after(name)),
            )
        });
        Seen {
            table: self.table_name.to_owned(),
            kind: self.mod_type.to_owned(),
            columns: columns.collect(),
            mods: mods.collect(),
            place: (
                self.record_sequence.to_owned(),
                self.is_last_record_in_transaction_in_partition,
                self.number_of_records_in_transaction,
            ),
        }
    }
}

/// What else a record tells: the times and transactions, in the order of commit.
fn check(record: &ChangeRecord<'_>, stream: &Stream, last: &mut (Timestamp, String)) {
    let kinds = [
        record.data_change_record.len(),
        record.heartbeat_record.len(),
        record.child_partitions_record.len(),
    ];
    assert_eq!(kinds.iter().sum::<usize>(), 1, "{record:?}");
    for data in &record.data_change_record {
        assert!(stream.from < data.commit_timestamp && data.commit_timestamp < stream.to);
        assert_eq!(data.value_capture_type, "OLD_AND_NEW_VALUES");
        assert_eq!(data.number_of_partitions_in_transaction, 1);
        assert_eq!(data.transaction_tag.unwrap_or_default(), "");
        assert!(!data.is_system_transaction);
        // The first record of a transaction, or another one of the same.
        if data.record_sequence == "00000000" {
            assert!(last.0 < data.commit_timestamp);
            assert_ne!(last.1, data.server_transaction_id);
        } else {
            assert_eq!(last.0, data.commit_timestamp);
            assert_eq!(last.1, data.server_transaction_id);
        }
        *last = (data.commit_timestamp, data.server_transaction_id.to_owned());
    }
    for heartbeat in &record.heartbeat_record {
        assert!(stream.from <= heartbeat.timestamp && heartbeat.timestamp <= stream.to);
    }
}

#[tokio::test]
async fn borrowed() {
    let Some(stream) = Stream::start().await else {
        return;
    };
    let mut seen = Vec::new();
    for query in stream.queries() {
        let mut last = (stream.from, String::new());
        let mut rows = query.rows::<Change>().await.unwrap();
        while let Some(change) = rows.next().await.unwrap() {
            for record in &change.change_record {
                check(record, &stream, &mut last);
                seen.extend(record.data_change_record.iter().map(DataChange::seen));
            }
        }
    }
    assert_eq!(seen, expected());

    // All rows of a batch alive at once, read backwards.
    let mut seen = Vec::new();
    for query in stream.queries() {
        let mut rows = query.rows::<Change>().await.unwrap();
        while let Some(batch) = rows.next_batch().await.unwrap() {
            let mut alive = batch.iter().rev().collect::<Result<Vec<_>, _>>().unwrap();
            alive.reverse();
            let records = alive.iter().flat_map(|change| &change.change_record);
            let data = records.flat_map(|record| &record.data_change_record);
            seen.extend(data.map(DataChange::seen));
        }
    }
    assert_eq!(seen, expected());
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OwnedChange {
    change_record: Vec<OwnedRecord>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct OwnedRecord {
    data_change_record: Vec<OwnedData>,
}

/// Its fields in another order than the result's, some left out.
#[derive(Debug, PartialEq, SpannerRow)]
struct OwnedData {
    mods: Vec<OwnedMod>,
    column_types: Box<[OwnedColumn]>,
    mod_type: String,
    table_name: Box<str>,
    number_of_records_in_transaction: i64,
    is_last_record_in_transaction_in_partition: bool,
    record_sequence: String,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct OwnedColumn {
    ordinal_position: i64,
    is_primary_key: bool,
    r#type: serde_json::Value,
    name: String,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct OwnedMod {
    old_values: Json<Object>,
    new_values: Json<Object>,
    keys: Json<Object>,
}

impl OwnedData {
    fn seen(&self) -> Seen {
        fn name(ty: &serde_json::Value) -> String {
            let code = ty["code"].as_str().unwrap();
            match ty.get("array_element_type") {
                Some(element) => format!("{code}<{}>", name(element)),
                None => code.to_owned(),
            }
        }
        let columns = self.column_types.iter().map(|column| {
            let ty = name(&column.r#type);
            (
                column.name.clone(),
                ty,
                column.is_primary_key,
                column.ordinal_position,
            )
        });
        let mods = self.mods.iter();
        let mods = mods.map(|m| {
            SeenMod::new(
                m.keys.0.clone(),
                m.old_values.0.clone(),
                m.new_values.0.clone(),
            )
        });
        Seen {
            table: self.table_name.to_string(),
            kind: self.mod_type.clone(),
            columns: columns.collect(),
            mods: mods.collect(),
            place: (
                self.record_sequence.clone(),
                self.is_last_record_in_transaction_in_partition,
                self.number_of_records_in_transaction,
            ),
        }
    }
}

#[tokio::test]
async fn owned() {
    let Some(stream) = Stream::start().await else {
        return;
    };
    let (mut lent, mut collected) = (Vec::new(), Vec::new());
    for (again, query) in stream.queries().zip(stream.queries()) {
        // One struct, set anew for every row: lists grow and shrink.
        let mut rows = query.rows::<OwnedChange>().await.unwrap();
        while let Some(change) = rows.next().await.unwrap() {
            let data = change
                .change_record
                .iter()
                .flat_map(|record| &record.data_change_record);
            lent.extend(data.map(OwnedData::seen));
        }
        let mut rows = again.rows::<OwnedChange>().await.unwrap();
        let all: Vec<OwnedChange> = rows.try_collect().await.unwrap();
        let records = all.iter().flat_map(|change| &change.change_record);
        let data = records.flat_map(|record| &record.data_change_record);
        collected.extend(data.map(OwnedData::seen));
    }
    assert_eq!(lent, expected());
    assert_eq!(collected, expected());
}

/// Nothing is decoded but what is asked for, and nothing allocated.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct LazyChange<'row> {
    change_record: List<'row, LazyRecord<'row>>,
}

#[derive(SpannerRow)]
struct LazyRecord<'row> {
    data_change_record: List<'row, LazyData<'row>>,
}

#[derive(SpannerRow)]
struct LazyData<'row> {
    table_name: &'row str,
    mods: List<'row, LazyMod<'row>>,
}

#[derive(SpannerRow)]
struct LazyMod<'row> {
    keys: &'row RawValue,
}

fn keys(change: &LazyChange<'_>, out: &mut Vec<(String, String)>) -> Result<(), DecodeError> {
    for record in change.change_record {
        for data in record?.data_change_record {
            let data = data?;
            for change in data.mods {
                out.push((data.table_name.to_owned(), change?.keys.get().to_owned()));
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn lazy() {
    let Some(stream) = Stream::start().await else {
        return;
    };
    let mut seen = Vec::new();
    for query in stream.queries() {
        let mut rows = query.rows::<LazyChange>().await.unwrap();
        while let Some(change) = rows.next().await.unwrap() {
            keys(&change, &mut seen).unwrap();
        }
    }
    let expected = expected().into_iter().flat_map(|seen| {
        let table = seen.table;
        seen.mods
            .into_iter()
            .map(move |change| (table.clone(), change.keys))
    });
    assert_eq!(seen, expected.collect::<Vec<_>>());
}

/// `Row::get` reads into the same structs; `Value` shows what was sent.
#[tokio::test]
async fn without_a_struct() {
    let Some(stream) = Stream::start().await else {
        return;
    };
    let mut seen = Vec::new();
    for query in stream.queries() {
        let mut rows = query.rows::<Row>().await.unwrap();
        let [column] = rows.row_type().fields() else {
            panic!("{}", rows.row_type());
        };
        assert_eq!(column.name(), "ChangeRecord");
        assert_eq!(column.ty().code(), TypeCode::Array);
        while let Some(row) = rows.next().await.unwrap() {
            let records: Vec<ChangeRecord<'_>> = row.get("ChangeRecord").unwrap();
            for record in &records {
                seen.extend(record.data_change_record.iter().map(DataChange::seen));
            }
            let Value::List(list) = row.value(0).unwrap() else {
                panic!("{row:?}");
            };
            for (record, value) in records.iter().zip(list.iter()) {
                let Value::List(kinds) = value else {
                    panic!("{value}");
                };
                let lens = kinds.iter().map(|kind| match kind {
                    Value::List(list) => list.iter().count(),
                    other => panic!("{other}"),
                });
                let expected = [
                    record.data_change_record.len(),
                    record.heartbeat_record.len(),
                    record.child_partitions_record.len(),
                ];
                assert!(lens.eq(expected), "{value}");
            }
        }
    }
    assert_eq!(seen, expected());
}

#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct WrongChange {
    change_record: Vec<WrongRecord>,
}

#[derive(Debug, SpannerRow)]
struct WrongRecord {
    data_change_record: Vec<WrongData>,
}

#[derive(Debug, SpannerRow)]
struct WrongData {
    mods: Vec<WrongMod>,
    commit_time: Timestamp,
}

#[derive(Debug, SpannerRow)]
struct WrongMod {
    keys: i64,
}

/// Four levels down, and every mistake at once.
#[tokio::test]
async fn what_does_not_fit_is_told_with_the_way_to_it() {
    let Some(stream) = Stream::start().await else {
        return;
    };
    let error = stream.query(None).rows::<WrongChange>().await.unwrap_err();
    let text = error.to_string();
    for part in [
        "WrongChange.change_record",
        "WrongRecord.data_change_record",
        "WrongData.mods",
        "WrongMod.keys",
        "JSON",
        "WrongData.commit_time",
        "commit_timestamp",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
