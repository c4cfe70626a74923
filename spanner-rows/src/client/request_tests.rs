//! What queries and reads send, read with messages that others generated.

use std::sync::Arc;

use googleapis_tonic_google_spanner_v1::google::spanner::v1 as theirs;
use prost::Message as _;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as ProtoValue};
use theirs::key_range::{EndKeyType, StartKeyType};
use theirs::transaction_options::read_only::TimestampBound;
use theirs::transaction_options::{Mode, ReadOnly};
use theirs::transaction_selector::Selector;

use super::query::Query;
use super::read::Read;
use super::test_transport::{DATABASE, Recorder, SESSION};
use crate::error::{Code, Error, ErrorKind};
use crate::observe::{Observer, Operation};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::cursor::RowCursor;
use crate::row::error::DecodeError;
use crate::row::spec::ColumnSpec;
use crate::transport::{Call, Method};
use crate::{Client, Key, KeyRange, ListWriter, OwnedRow, Row, RowType, SpannerRow, Timestamp};

pub(super) async fn sent(
    query: impl FnOnce(&Client) -> Query,
) -> (Call, theirs::ExecuteSqlRequest) {
    let recorder = Recorder::sessions_only();
    let error = query(&recorder.client())
        .rows::<(i64,)>()
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
    let call = recorder.last();
    let request = theirs::ExecuteSqlRequest::decode(call.body.clone()).unwrap();
    (call, request)
}

pub(super) async fn sent_read<T: SpannerRow>(
    read: impl FnOnce(&Client) -> Read<T>,
) -> (Call, theirs::ReadRequest) {
    let recorder = Recorder::sessions_only();
    let error = read(&recorder.client()).rows().await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied, "{error}");
    let call = recorder.last();
    let request = theirs::ReadRequest::decode(call.body.clone()).unwrap();
    (call, request)
}

fn strong_read() -> Option<theirs::TransactionSelector> {
    let read_only = ReadOnly {
        timestamp_bound: Some(TimestampBound::Strong(true)),
        return_read_timestamp: true,
    };
    let options = theirs::TransactionOptions {
        mode: Some(Mode::ReadOnly(read_only)),
        ..Default::default()
    };
    Some(theirs::TransactionSelector {
        selector: Some(Selector::SingleUse(options)),
    })
}

fn value(kind: Kind) -> ProtoValue {
    ProtoValue { kind: Some(kind) }
}

fn text(text: &str) -> ProtoValue {
    value(Kind::StringValue(text.to_owned()))
}

fn null() -> ProtoValue {
    value(Kind::NullValue(0))
}

fn list<const N: usize>(values: [ProtoValue; N]) -> ListValue {
    ListValue {
        values: values.into(),
    }
}

fn observer(client: &Client) -> Observer {
    Observer::start(&client.inner.observe(Operation::Query))
}

#[tokio::test(start_paused = true)]
async fn a_query_without_parameters() {
    let (call, request) = sent(|client| client.query("SELECT 1")).await;
    assert_eq!(call.method, Method::ExecuteStreamingSql);
    let expected = theirs::ExecuteSqlRequest {
        session: SESSION.to_owned(),
        transaction: strong_read(),
        sql: "SELECT 1".to_owned(),
        ..Default::default()
    };
    assert_eq!(request, expected);
    let header = |name| call.headers.get(name).unwrap().to_str().unwrap();
    assert_eq!(header("google-cloud-resource-prefix"), DATABASE);
    assert_eq!(
        header("x-goog-request-params"),
        "session=projects%2Fp%2Finstances%2Fi%2Fdatabases%2Fd%2Fsessions%2Fs%201"
    );
    assert!(call.headers.get("x-goog-spanner-route-to-leader").is_none());
}

#[tokio::test(start_paused = true)]
async fn parameters_go_with_their_types() {
    let long = "x".repeat(300);
    let (_, request) = sent(|client| {
        client
            .query("SELECT 1")
            .param("i", i64::MIN)
            .param("b", true)
            .param("f", -0.0_f64)
            .param("nan", f32::NAN)
            .param("s", "text ü")
            .param("long", long.as_str())
            .param("bytes", &b"\xfb\xff"[..])
            .param("none", None::<i64>)
            .param("ids", vec![Some(1_i64), None])
            .param("empty", Vec::<String>::new())
            .param("time", Timestamp::new(0, 0).unwrap())
    })
    .await;
    let (int64, string) = (theirs::TypeCode::Int64, theirs::TypeCode::String);
    let params = [
        ("i", text("-9223372036854775808"), scalar(int64)),
        (
            "b",
            value(Kind::BoolValue(true)),
            scalar(theirs::TypeCode::Bool),
        ),
        (
            "f",
            value(Kind::NumberValue(-0.0)),
            scalar(theirs::TypeCode::Float64),
        ),
        ("nan", text("NaN"), scalar(theirs::TypeCode::Float32)),
        ("s", text("text ü"), scalar(string)),
        ("long", text(&long), scalar(string)),
        ("bytes", text("+/8="), scalar(theirs::TypeCode::Bytes)),
        ("none", null(), scalar(int64)),
        (
            "ids",
            value(Kind::ListValue(list([text("1"), null()]))),
            array(int64),
        ),
        ("empty", value(Kind::ListValue(list([]))), array(string)),
        (
            "time",
            text("1970-01-01T00:00:00Z"),
            scalar(theirs::TypeCode::Timestamp),
        ),
    ];
    let fields = params
        .iter()
        .map(|(name, value, _)| ((*name).to_owned(), value.clone()));
    let expected = Struct {
        fields: fields.collect(),
    };
    assert_eq!(request.params, Some(expected));
    let types: Vec<_> = params
        .iter()
        .map(|(name, _, ty)| ((*name).to_owned(), ty.clone()))
        .collect();
    assert_eq!(request.param_types, types.into_iter().collect());
}

fn scalar(code: theirs::TypeCode) -> theirs::Type {
    theirs::Type {
        code: code.into(),
        ..Default::default()
    }
}

fn array(element: theirs::TypeCode) -> theirs::Type {
    theirs::Type {
        array_element_type: Some(Box::new(scalar(element))),
        ..scalar(theirs::TypeCode::Array)
    }
}

fn config_text(error: Error) -> String {
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn names_of_parameters_that_cannot_be() {
    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    let cases = [
        (
            client.query("").param("id", 1_i64).param("ID", 2_i64),
            "`ID` is given twice",
        ),
        (
            client.query("").param("@id", 1_i64).param("", 1_i64),
            "write `id`",
        ),
        (client.query("").param("", 1_i64), "empty name"),
    ];
    for (query, what) in cases {
        let error = config_text(query.rows::<(i64,)>().await.unwrap_err());
        assert!(error.contains(what), "{error}");
    }
    assert!(recorder.calls().is_empty());
}

#[test]
fn values_are_not_printed() {
    let client = Recorder::sessions_only().client();
    let query = client.query("SELECT @p").param("p", "secret");
    assert!(!format!("{query:?}").contains("secret"));
    let read = client.read::<(i64,)>("T").key("secret").range("secret"..);
    assert!(!format!("{read:?}").contains("secret"));
    assert!(!format!("{:?}", KeyRange::prefix("secret")).contains("secret"));
    assert!(format!("{client:?}").contains(DATABASE));
}

/// What the derive makes of a struct with two fields.
#[derive(Debug)]
pub(super) struct Named;

impl SpannerRow for Named {
    const COLUMNS: &'static [ColumnSpec] = &[
        ColumnSpec::named("id", "Id"),
        ColumnSpec::flatten("address", "Home", &[ColumnSpec::named("city", "City")]),
    ];
    type Row<'row> = Self;
    type Lent<'row> = Self;
    type Spare = ();
    type Home = ();
    type Mode = crate::Plain;

    fn bind(_: &RowType, _: &mut Binder<'_>) -> Binding {
        Binding::default()
    }

    fn decode<'row>(_: &mut RowCursor<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        Ok(Self)
    }

    fn recycle(_: Self, _: &mut ()) {}

    fn lend<'row>(_: &mut RowCursor<'_, 'row>, _: &'row mut ()) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}

impl OwnedRow for Named {}

#[tokio::test(start_paused = true)]
async fn a_read_asks_for_the_columns_of_its_row() {
    let (call, request) = sent_read(|client| client.read::<Named>("Singers").key(7_i64)).await;
    assert_eq!(call.method, Method::StreamingRead);
    let expected = theirs::ReadRequest {
        session: SESSION.to_owned(),
        transaction: strong_read(),
        table: "Singers".to_owned(),
        columns: vec!["Id".to_owned(), "HomeCity".to_owned()],
        key_set: Some(theirs::KeySet {
            keys: vec![list([text("7")])],
            ..Default::default()
        }),
        ..Default::default()
    };
    assert_eq!(request, expected);
}

#[tokio::test(start_paused = true)]
async fn a_read_through_an_index_with_columns_and_limit() {
    let (_, request) = sent_read(|client| {
        let read = client
            .read::<(i64, String)>("Singers")
            .index("ByName")
            .all();
        read.columns(["Id", "Name"]).limit(300)
    })
    .await;
    assert_eq!(request.index, "ByName");
    assert_eq!(request.columns, ["Id", "Name"]);
    assert_eq!(request.limit, 300);
    let expected = theirs::KeySet {
        all: true,
        ..Default::default()
    };
    assert_eq!(request.key_set, Some(expected));

    let (_, request) = sent_read(|client| client.read::<Named>("T").all().limit(u64::MAX)).await;
    assert_eq!(request.limit, i64::MAX);
}

struct AlbumId(i64, &'static str);

impl Key for AlbumId {
    fn write(&self, parts: &mut ListWriter<'_>) {
        (self.0, self.1).write(parts);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_of_all_kinds() {
    let (_, request) = sent_read(|client| {
        client
            .read::<Named>("T")
            .key("a")
            .key(("a", 3_i64, None::<&str>))
            .key(Some(true))
            .key(AlbumId(1, "x"))
            .key(())
            .keys([4_i64, 5])
            .keys(&[vec![0xff_u8]])
    })
    .await;
    let expected = theirs::KeySet {
        keys: vec![
            list([text("a")]),
            list([text("a"), text("3"), null()]),
            list([value(Kind::BoolValue(true))]),
            list([text("1"), text("x")]),
            list([]),
            list([text("4")]),
            list([text("5")]),
            list([text("/w==")]),
        ],
        ..Default::default()
    };
    assert_eq!(request.key_set, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn ranges_of_all_kinds() {
    let (_, request) = sent_read(|client| {
        client
            .read::<Named>("T")
            .range(1_i64..2)
            .range(("a", 1_i64)..=("a", 2))
            .range("m"..)
            .range(.."m")
            .range(..="m")
            .range(KeyRange::prefix(("a",)))
            .range(KeyRange::open_closed(("a", 1_i64), ("b",)))
            .range(KeyRange::open_open((), "z"))
            .range(KeyRange::closed_open("y", "z"))
            .key("and a key")
    })
    .await;
    let closed = |values| Some(StartKeyType::StartClosed(values));
    let open = |values| Some(StartKeyType::StartOpen(values));
    let to_closed = |values| Some(EndKeyType::EndClosed(values));
    let to_open = |values| Some(EndKeyType::EndOpen(values));
    let ranges = [
        (closed(list([text("1")])), to_open(list([text("2")]))),
        (
            closed(list([text("a"), text("1")])),
            to_closed(list([text("a"), text("2")])),
        ),
        (closed(list([text("m")])), to_closed(list([]))),
        (closed(list([])), to_open(list([text("m")]))),
        (closed(list([])), to_closed(list([text("m")]))),
        (closed(list([text("a")])), to_closed(list([text("a")]))),
        (
            open(list([text("a"), text("1")])),
            to_closed(list([text("b")])),
        ),
        (open(list([])), to_open(list([text("z")]))),
        (closed(list([text("y")])), to_open(list([text("z")]))),
    ]
    .map(|(start_key_type, end_key_type)| theirs::KeyRange {
        start_key_type,
        end_key_type,
    });
    let expected = theirs::KeySet {
        keys: vec![list([text("and a key")])],
        ranges: ranges.into(),
        all: false,
    };
    assert_eq!(request.key_set, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn no_keys_are_no_rows_but_nothing_said_is_an_error() {
    let (_, request) = sent_read(|client| client.read::<Named>("T").keys(Vec::<i64>::new())).await;
    assert_eq!(request.key_set, Some(theirs::KeySet::default()));

    let recorder = Recorder::sessions_only();
    let error = recorder
        .client()
        .read::<Named>("T")
        .rows()
        .await
        .unwrap_err();
    let error = config_text(error);
    assert!(error.contains("`T` does not say which rows"), "{error}");
    assert!(recorder.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_row_without_names_needs_columns() {
    let client = Recorder::sessions_only().client();
    let error = client
        .read::<(i64, String)>("T")
        .all()
        .rows()
        .await
        .unwrap_err();
    let error = config_text(error);
    assert!(
        error.contains("field `0`") && error.contains(".columns("),
        "{error}"
    );

    let error = client.read::<Row<'_>>("T").all().rows().await.unwrap_err();
    assert!(config_text(error).contains("neither does its row"));
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_nothing_is_not_sent_as_no_limit() {
    let client = Recorder::sessions_only().client();
    let error = client
        .read::<Named>("T")
        .all()
        .limit(0)
        .rows()
        .await
        .unwrap_err();
    assert!(config_text(error).contains("limit 0"));
}

#[tokio::test(start_paused = true)]
async fn a_later_attempt_has_the_token_and_its_own_number() {
    use crate::transport::Opener as _;

    let recorder = Recorder::sessions_only();
    let client = recorder.client();
    let session = client.session().await.unwrap();
    let token = [9; 200];

    let call = client
        .query("SELECT @p")
        .param("p", 1_i64)
        .encode()
        .unwrap();
    let mut sender = client.sender(call, Arc::clone(&session), None, &observer(&client));
    let status = sender.open(&[], 1).await.err().unwrap();
    let first = recorder.last();
    assert_eq!(
        status.request_id(),
        first.headers["x-goog-spanner-request-id"].to_str().ok()
    );
    sender.open(&token, 2).await.err().unwrap();
    let second = recorder.last();
    let mut request = theirs::ExecuteSqlRequest::decode(second.body).unwrap();
    assert_eq!(request.resume_token, &token[..]);
    request.resume_token.clear();
    assert_eq!(
        request,
        theirs::ExecuteSqlRequest::decode(first.body).unwrap()
    );
    let id = |call: &http::HeaderMap| {
        call["x-goog-spanner-request-id"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (same, last) = second_and_attempt(&id(&second.headers));
    assert_eq!(
        (same, last),
        (second_and_attempt(&id(&first.headers)).0, "2".to_owned())
    );

    let call = client.read::<Named>("T").all().encode().unwrap();
    client
        .sender(call, session, None, &observer(&client))
        .open(b"read", 1)
        .await
        .err()
        .unwrap();
    let request = theirs::ReadRequest::decode(recorder.last().body).unwrap();
    assert_eq!(request.resume_token, &b"read"[..]);
    assert_eq!(request.limit, 0);
}

fn second_and_attempt(id: &str) -> (String, String) {
    let (rest, attempt) = id.rsplit_once('.').unwrap();
    (rest.to_owned(), attempt.to_owned())
}

#[test]
fn clients_and_requests_can_be_sent_and_shared() {
    fn both<T: Send + Sync + 'static>(_: &T) {}
    fn send<T: Send>(_: &T) {}
    let client = Recorder::sessions_only().client();
    both(&client);
    both(&Client::builder("d"));
    let query = client.query("SELECT 1").param("p", 1_i64);
    both(&query);
    send(&query.clone().rows::<(i64, &str)>());
    send(&query.clone().one::<(i64,)>());
    send(&query.optional::<(i64,)>());
    let read = client.read::<Named>("T").key(1_i64);
    both(&read);
    send(&read.clone().rows());
    send(&read.one_batch());
    send(&Client::connect("d"));
}
