//! Commits of mutations alone: what is sent, and what happens when it is aborted, lost, or
//! its session is gone.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use spanner_rows::testing::{Failure, FakeSpanner, Request, Step};
use spanner_rows::{
    Client, Code, CommitTimestamp, ErrorKind, KeyRange, Mutation, OwnedValue, Priority,
    RetrySettings, SpannerEncode,
};

#[derive(SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Singer {
    singer_id: i64,
    first_name: Option<&'static str>,
}

const SINGERS: [Singer; 2] = [
    Singer {
        singer_id: 1,
        first_name: Some("Marc"),
    },
    Singer {
        singer_id: 2,
        first_name: None,
    },
];

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    fake.take_requests();
    (fake, client)
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

fn one() -> Mutation {
    Mutation::insert("T").set("Id", 1_i64)
}

/// What the requests were: the method, and of commits the transaction with its token.
fn calls(requests: &[Request]) -> Vec<String> {
    let calls = requests.iter().map(|request| match request.method() {
        "Commit" => {
            let (token, number) = request.precommit_token().unwrap_or_default();
            format!(
                "Commit {} {} {number}",
                String::from_utf8_lossy(request.transaction_id()),
                String::from_utf8_lossy(token),
            )
        }
        "BeginTransaction" => {
            let previous = request.previous_transaction_id();
            format!("Begin {}", String::from_utf8_lossy(previous))
        }
        method => method.to_owned(),
    });
    calls.collect()
}

#[tokio::test]
async fn every_kind_of_mutation_field_by_field() {
    let (fake, client) = server().await;
    let mutations = [
        Mutation::insert("Singers").rows(SINGERS),
        Mutation::update("Singers")
            .set("SingerId", 3_i64)
            .set("FirstName", "Alice")
            .set("At", CommitTimestamp),
        Mutation::insert_or_update("Singers")
            .columns(["SingerId", "FirstName"])
            .values([(4_i64, "Lea"), (5, "David")]),
        Mutation::replace("Singers").row(&SINGERS[1]),
        Mutation::delete("Singers")
            .key(6_i64)
            .keys([7_i64, 8])
            .range(10_i64..20)
            .range(KeyRange::prefix(30_i64)),
        Mutation::delete("Albums").all(),
        Mutation::insert("Words")
            .columns(["Word"])
            .values(["a", "b"]),
    ];
    client.write(mutations).await.unwrap();

    let requests = fake.requests();
    assert_eq!(
        calls(&requests),
        [
            "Begin ",
            "Commit fake-transaction-1 fake-transaction-1 token 1 1"
        ]
    );
    let sent = requests[1].mutations();
    let kinds: Vec<_> = sent
        .iter()
        .map(|it| (it.operation, &*it.table, it.columns.join(" ")))
        .collect();
    let both = "SingerId FirstName".to_owned();
    assert_eq!(
        kinds,
        [
            ("insert", "Singers", both.clone()),
            ("update", "Singers", "SingerId FirstName At".to_owned()),
            ("insert_or_update", "Singers", both.clone()),
            ("replace", "Singers", both),
            ("delete", "Singers", String::new()),
            ("delete", "Albums", String::new()),
            ("insert", "Words", "Word".to_owned()),
        ]
    );
    let marc = vec![text("1"), text("Marc")];
    let nobody = vec![text("2"), OwnedValue::Null];
    assert_eq!(sent[0].rows, [marc, nobody.clone()]);
    let now = text("spanner.commit_timestamp()");
    assert_eq!(sent[1].rows, [vec![text("3"), text("Alice"), now]]);
    let (lea, david) = (text("Lea"), text("David"));
    assert_eq!(sent[2].rows, [vec![text("4"), lea], vec![text("5"), david]]);
    assert_eq!(sent[3].rows, [nobody]);
    assert_eq!(
        sent[4].keys,
        [[text("6")], [text("7")], [text("8")]].map(Vec::from)
    );
    let ranges = sent[4].key_ranges.iter().map(|range| {
        let (start, end) = (range.start.clone(), range.end.clone());
        (start, range.start_closed, end, range.end_closed)
    });
    let (ten, twenty, thirty) = (vec![text("10")], vec![text("20")], vec![text("30")]);
    assert_eq!(
        ranges.collect::<Vec<_>>(),
        [
            (ten, true, twenty, false),
            (thirty.clone(), true, thirty, true)
        ]
    );
    assert!(!sent[4].all_keys && sent[5].all_keys);
    assert_eq!(sent[6].rows, [[text("a")], [text("b")]].map(Vec::from));

    // Of the mutations that are no inserts, one with the most rows.
    assert_eq!(requests[0].mutation_key().as_ref(), Some(&sent[2]));
}

#[tokio::test]
async fn the_mutation_that_begins() {
    let (fake, client) = server().await;
    let many = Mutation::insert("Singers").rows(SINGERS);
    let none = Mutation::update("Singers").rows([] as [Singer; 0]);
    client.write([one(), many, none.clone()]).await.unwrap();
    client
        .write([one(), Mutation::delete("T").key(1_i64)])
        .await
        .unwrap();
    client.write([none]).await.unwrap();
    client.write([]).await.unwrap();
    let requests = fake.take_requests();
    let keys = requests
        .iter()
        .filter(|it| it.method() == "BeginTransaction");
    let keys: Vec<_> = keys.map(Request::mutation_key).collect();
    let [Some(many), Some(delete), None, None] = &*keys else {
        panic!("{keys:?}")
    };
    assert_eq!((many.operation, many.rows.len()), ("insert", 2));
    assert_eq!(delete.operation, "delete");
    // What changes nothing is not sent.
    let sent = requests.iter().filter(|it| it.method() == "Commit");
    let sent: Vec<_> = sent.map(|it| it.mutations().len()).collect();
    assert_eq!(sent, [2, 2, 0, 0]);
}

#[tokio::test]
async fn headers_and_options() {
    let (fake, client) = server().await;
    let plain = client.write([one()]).await.unwrap();
    assert_eq!(plain.stats, None);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let age = now.as_secs() as i64 - plain.timestamp.seconds();
    assert!((0..60).contains(&age), "{age}");
    let told = client
        .write([one(), Mutation::insert("Singers").rows(SINGERS)])
        .return_commit_stats(true)
        .max_commit_delay(Duration::from_millis(123))
        .priority(Priority::Low)
        .transaction_tag("import")
        .exclude_from_change_streams(true)
        .await
        .unwrap();
    assert_eq!(told.stats.unwrap().mutation_count, 5);

    let requests = fake.take_requests();
    let [begin, commit, told_begin, told_commit] = &*requests else {
        panic!("{requests:?}")
    };
    for request in &requests {
        let header = |name| request.header(name).unwrap_or("").to_owned();
        assert_eq!(header("x-goog-spanner-route-to-leader"), "true");
        assert_eq!(header("google-cloud-resource-prefix"), fake.database());
        let session = request.session().replace('/', "%2F");
        assert_eq!(
            header("x-goog-request-params"),
            format!("session={session}")
        );
        assert!(header("x-goog-spanner-request-id").ends_with(".1"));
        assert!(!header("grpc-timeout").is_empty());
        assert_eq!(request.session(), begin.session());
    }
    for request in [begin, told_begin] {
        assert!(request.begins_read_write());
        assert_eq!(request.isolation_level(), None);
    }
    for request in [begin, commit] {
        assert_eq!(request.priority(), None);
        assert_eq!(request.transaction_tag(), "");
    }
    for request in [told_begin, told_commit] {
        assert_eq!(request.priority(), Some(Priority::Low));
        assert_eq!(request.transaction_tag(), "import");
    }
    assert!(told_begin.excluded_from_change_streams());
    assert!(!begin.excluded_from_change_streams());
    assert_eq!(commit.max_commit_delay(), None);
    assert!(!commit.return_commit_stats());
    assert_eq!(
        told_commit.max_commit_delay(),
        Some(Duration::from_millis(123))
    );
    assert!(told_commit.return_commit_stats());
}

#[tokio::test]
async fn aborted_ones_begin_anew_when_the_server_says_so() {
    let (fake, client) = server().await;
    let wait = Duration::from_millis(80);
    let aborted = || [Step::Fail(Failure::aborted("busy").retry_after(wait))];
    fake.before_next("Commit", aborted());
    fake.before_next("BeginTransaction", []);
    fake.before_next("BeginTransaction", aborted());
    let started = Instant::now();
    client.write([one()]).await.unwrap();
    assert!(started.elapsed() >= wait * 2, "{:?}", started.elapsed());
    assert_eq!(
        calls(&fake.requests()),
        [
            "Begin ",
            "Commit fake-transaction-1 fake-transaction-1 token 1 1",
            "Begin fake-transaction-1",
            "Begin fake-transaction-1",
            "Commit fake-transaction-2 fake-transaction-2 token 1 1",
        ]
    );
}

#[tokio::test]
async fn a_time_limit_ends_the_retries() {
    let (fake, client) = server().await;
    for _ in 0..100 {
        let failure = Failure::aborted("busy").retry_after(Duration::from_millis(300));
        fake.before_next("Commit", [Step::Fail(failure)]);
    }
    let started = Instant::now();
    let write = client.write([one()]).timeout(Duration::from_millis(1500));
    let error = write.await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    let cause = error.grpc_status().unwrap().cause().unwrap();
    assert_eq!(cause.code(), Code::Aborted, "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
    let tries = fake.take_requests().len() / 2;
    assert!((2..=5).contains(&tries), "{tries}");

    let write = client.write([one()]).retry(RetrySettings::never());
    assert_eq!(write.await.unwrap_err().code(), Code::Aborted);
    assert_eq!(fake.take_requests().len(), 2);

    // A server that does not answer at all.
    fake.before_next("BeginTransaction", [Step::Hang]);
    let write = client.write([one()]).timeout(Duration::from_millis(150));
    assert_eq!(write.await.unwrap_err().code(), Code::DeadlineExceeded);
}

/// The server commits a transaction once, so asking again is safe, and beginning another
/// one would not be.
#[tokio::test]
async fn a_lost_answer_is_asked_for_in_the_same_transaction() {
    let lost = [
        vec![Step::Fail(Failure::unavailable("away"))],
        vec![Step::Disconnect],
        vec![Step::Reset(2)],
        vec![Step::EndWithoutStatus],
    ];
    for steps in lost {
        let (fake, client) = server().await;
        fake.before_next("Commit", steps.clone());
        client.write([one()]).await.unwrap();
        let requests = fake.take_requests();
        let commit = "Commit fake-transaction-1 fake-transaction-1 token 1 1";
        assert_eq!(calls(&requests), ["Begin ", commit, commit], "{steps:?}");
        assert_eq!(requests[1].body(), requests[2].body());
        let id = |n: usize| {
            let id = requests[n].header("x-goog-spanner-request-id").unwrap();
            id.rsplit_once('.').unwrap()
        };
        assert_eq!(id(1).0, id(2).0);
        assert_eq!((id(1).1, id(2).1), ("1", "2"));
    }
}

#[tokio::test]
async fn another_token_is_committed_with() {
    use prost::Message as _;

    /// `google.spanner.v1.CommitResponse`, as far as it says to try again.
    #[derive(prost::Message)]
    struct Again {
        #[prost(message, optional, tag = "4")]
        precommit_token: Option<Token>,
    }

    #[derive(prost::Message)]
    struct Token {
        #[prost(bytes = "vec", tag = "1")]
        precommit_token: Vec<u8>,
        #[prost(int32, tag = "2")]
        seq_num: i32,
    }

    let (fake, client) = server().await;
    let again = Again {
        precommit_token: Some(Token {
            precommit_token: b"other".to_vec(),
            seq_num: 9,
        }),
    };
    let again = again.encode_to_vec();
    fake.before_next("Commit", [Step::Raw(again.clone().into())]);
    client.write([one()]).await.unwrap();
    let requests = fake.take_requests();
    assert_eq!(
        calls(&requests),
        [
            "Begin ",
            "Commit fake-transaction-1 fake-transaction-1 token 1 1",
            "Commit fake-transaction-1 other 9",
        ]
    );
    assert_eq!(requests[2].mutations(), requests[1].mutations());

    // Not for ever.
    for _ in 0..100 {
        fake.before_next("Commit", [Step::Raw(again.clone().into())]);
    }
    let error = client.write([one()]).await.unwrap_err();
    assert_eq!(error.code(), Code::Internal, "{error}");
}

#[tokio::test]
async fn a_lost_session_is_replaced() {
    let (fake, client) = server().await;
    fake.forget_sessions();
    client.write([one()]).await.unwrap();
    assert_eq!(
        calls(&fake.take_requests()),
        [
            "Begin ",
            "CreateSession",
            "Begin ",
            "Commit fake-transaction-1 fake-transaction-1 token 1 1"
        ]
    );
    // After an attempt that may have committed it is not known what happened.
    fake.before_next("Commit", [Step::Fail(Failure::unavailable("away"))]);
    let gone = Failure::session_not_found("s");
    fake.before_next("Commit", [Step::Fail(gone)]);
    let error = client.write([one()]).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
}

#[tokio::test]
async fn refusals_are_told_and_not_repeated() {
    let (fake, client) = server().await;
    fake.before_next(
        "Commit",
        [Step::Fail(Failure::new(Code::AlreadyExists, "row 1"))],
    );
    let error = client.write([one()]).await.unwrap_err();
    assert_eq!(error.code(), Code::AlreadyExists);
    assert!(error.to_string().contains("row 1"), "{error}");
    assert_eq!(fake.take_requests().len(), 2);
    // An answer that is none.
    fake.before_next("Commit", [Step::Raw(Default::default())]);
    let error = client.write([one()]).await.unwrap_err();
    assert_eq!(error.code(), Code::Internal, "{error}");
    fake.before_next("BeginTransaction", [Step::Raw(Default::default())]);
    let error = client.write([one()]).await.unwrap_err();
    assert!(error.to_string().contains("no transaction"), "{error}");
    fake.before_next("BeginTransaction", [Step::Raw(vec![0xFF].into())]);
    let error = client.write([one()]).await.unwrap_err();
    assert_eq!(error.code(), Code::Internal, "{error}");
}

#[derive(SpannerEncode)]
struct Unnamed(i64);

#[derive(SpannerEncode)]
struct Other {
    other: i64,
}

#[tokio::test]
async fn mutations_that_make_no_sense() {
    let (fake, client) = server().await;
    let columns = || Mutation::insert("T").columns(["A", "B"]);
    let wrong = [
        (Mutation::insert("T"), "`insert` of `T` has no row"),
        (
            Mutation::delete("T"),
            "`delete` of `T` does not say which rows",
        ),
        (
            Mutation::delete("T").set("A", 1_i64),
            "does not take `set`: say which rows by `key`",
        ),
        (
            Mutation::replace("T").key(1_i64),
            "`replace` of `T` does not take `keys`",
        ),
        (
            Mutation::update("T").set("A", 1_i64).set("a", 2_i64),
            "the column `a` twice",
        ),
        (
            Mutation::update("T").set("", 1_i64),
            "a column without a name",
        ),
        (
            Mutation::update("T").set("A", 1_i64).rows(SINGERS),
            "filled in different ways",
        ),
        (
            Mutation::insert("T").values([1_i64]),
            "values without columns",
        ),
        (columns().columns(["C"]), "names its columns twice"),
        (
            columns().values([(1_i64, 2_i64)]).values([3_i64]),
            "2 columns and 1 value in its row 2",
        ),
        (
            columns().values([(1_i64, 2_i64, 3_i64)]),
            "2 columns and 3 values in its row 1",
        ),
        (
            Mutation::insert("T").row(Unnamed(1)),
            "column 1 has no name",
        ),
        (
            Mutation::insert("T").rows(SINGERS).row(Other { other: 1 }),
            "different columns",
        ),
    ];
    for (mutation, text) in wrong {
        let error = client.write([one(), mutation.clone()]).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    assert!(fake.take_requests().is_empty(), "nothing is sent");
}

#[test]
fn values_are_not_told() {
    let mutation = Mutation::insert("T").set("Secret", "abc").set("Id", 77_i64);
    let text = format!("{mutation:?}");
    assert!(text.contains("Secret") && text.contains("insert"), "{text}");
    assert!(!text.contains("abc") && !text.contains("77"), "{text}");
}
