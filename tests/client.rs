//! The client against a server: connecting, what goes over the wire, and what
//! an answer that breaks off becomes.

use std::time::Duration;

use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
use spanner_rows::{Client, Code, ErrorKind, OwnedValue, RetrySettings, SpannerRow};

#[derive(SpannerRow, Debug, PartialEq)]
#[spanner(rename_all = "PascalCase")]
struct Singer {
    singer_id: i64,
    first_name: String,
}

const SQL: &str = "SELECT SingerId, FirstName FROM Singers";

async fn connect(fake: &FakeSpanner) -> Client {
    let builder = Client::builder(fake.database()).endpoint(fake.endpoint());
    builder.connect().await.unwrap()
}

fn singers(n: i64) -> Rows {
    let rows = (0..n).map(|i| (i, format!("name {i}")));
    Rows::new(["SingerId", "FirstName"], rows)
}

#[tokio::test]
async fn connecting_makes_the_one_session() {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, singers(1));
    let client = Client::builder(fake.database())
        .endpoint(fake.address().to_string())
        .database_role("reader")
        .connect()
        .await
        .unwrap();
    assert_eq!(client.database(), fake.database());
    let queries = (0..10).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.query(SQL).one::<Singer>().await.unwrap() })
    });
    for query in queries.collect::<Vec<_>>() {
        query.await.unwrap();
    }

    let requests = fake.requests();
    assert_eq!(requests.len(), 11);
    let (create, queries) = requests.split_first().unwrap();
    assert_eq!(
        (create.method(), create.database()),
        ("CreateSession", fake.database())
    );
    assert!(create.multiplexed());
    assert_eq!(create.creator_role(), "reader");
    assert_eq!(
        create.header("x-goog-spanner-route-to-leader"),
        Some("true")
    );
    let session = queries[0].session();
    let params = format!("session={}", session.replace('/', "%2F"));
    let mut ids = Vec::new();
    for query in queries {
        assert_eq!(query.session(), session);
        assert_eq!(
            query.header("google-cloud-resource-prefix"),
            Some(fake.database())
        );
        assert_eq!(query.header("x-goog-request-params"), Some(&*params));
        assert_eq!(query.header("x-goog-spanner-route-to-leader"), None);
        assert!(
            query
                .header("x-goog-api-client")
                .unwrap()
                .starts_with("gl-rust/1.")
        );
        assert!(
            query
                .header("user-agent")
                .unwrap()
                .starts_with("spanner-rows/")
        );
        ids.push(
            query
                .header("x-goog-spanner-request-id")
                .unwrap()
                .to_owned(),
        );
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 10, "{ids:?}");
}

#[tokio::test]
async fn a_database_that_is_not_there_fails_the_connection() {
    let fake = FakeSpanner::start().await;
    let failure = Failure::not_found("Database not found: d");
    fake.before_next("CreateSession", [Step::Fail(failure)]);
    let error = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(
        error.to_string().contains("Database not found: d"),
        "{error}"
    );
    let ErrorKind::Status { status, attempts } = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(*attempts, 1);
    assert!(status.request_id().unwrap().ends_with(".1"));
}

/// What a program needs to decide is on the error itself.
#[tokio::test]
async fn errors_tell_what_to_do() {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .retry(RetrySettings::never())
        .connect()
        .await
        .unwrap();
    for (failure, is_retryable, delay) in [
        (Failure::unavailable("busy"), true, None),
        (
            Failure::unavailable("busy").retry_after(Duration::from_millis(1500)),
            true,
            Some(Duration::from_millis(1500)),
        ),
        (Failure::new(Code::Aborted, "conflict"), true, None),
        (Failure::not_found("Table not found: T"), false, None),
        (Failure::new(Code::ResourceExhausted, "quota"), false, None),
    ] {
        fake.before_next("ExecuteStreamingSql", [Step::Fail(failure)]);
        let error = client.query("SELECT 1").one::<(i64,)>().await.unwrap_err();
        assert_eq!(error.is_retryable(), is_retryable, "{error}");
        assert_eq!(error.retry_delay(), delay, "{error}");
        assert_eq!(error.column(), None);
        assert!(error.request_id().unwrap().ends_with(".1"), "{error}");
        assert_eq!(error.grpc_status().unwrap().code(), error.code());
    }
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again() {
    let fake = FakeSpanner::start().await;
    let busy = Failure::unavailable("busy").retry_after(Duration::from_millis(1));
    fake.before_next("CreateSession", [Step::Fail(busy)]);
    fake.before_next("CreateSession", [Step::Disconnect]);
    connect(&fake).await;
    let attempts: Vec<_> = fake
        .requests()
        .iter()
        .map(|request| {
            let id = request.header("x-goog-spanner-request-id").unwrap();
            id.rsplit_once('.').unwrap().1.to_owned()
        })
        .collect();
    assert_eq!(attempts, ["1", "2", "3"]);
}

#[tokio::test]
async fn settings_that_cannot_be_are_told_without_a_server() {
    for (database, endpoint, what) in [
        (
            "d",
            "127.0.0.1:1",
            "write `projects/P/instances/I/databases/D`",
        ),
        (
            "projects/p/instances/i/databases/d",
            "https://spanner.googleapis.com:0",
            "no valid port",
        ),
        (
            "projects/p/instances/i/databases/d",
            "http://10.0.0.1:80",
            "without TLS",
        ),
    ] {
        let builder = Client::builder(database).endpoint(endpoint);
        let error = builder.connect().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

/// Whatever breaks a stream, all rows come, once, and each attempt says which it is.
#[tokio::test]
async fn a_broken_stream_is_taken_up_again() {
    for step in [
        Step::Fail(Failure::unavailable("moved")),
        Step::Reset(0),
        Step::Reset(2),
        Step::Reset(7),
        Step::Reset(8),
        Step::EndWithoutStatus,
        Step::Unframed(vec![0, 0, 0, 9, 9, 9].into()),
        Step::GoAway,
        Step::Disconnect,
    ] {
        let name = format!("{step:?}");
        let fake = FakeSpanner::start().await;
        let mut rows = singers(1_000).message_size(1_000).token_every(1);
        rows = rows.interrupt(1, 3, step.clone());
        if let Step::Unframed(_) = step {
            rows = rows.interrupt(1, 3, Step::EndWithoutStatus);
        }
        fake.on_query(SQL, rows);
        let client = connect(&fake).await;
        let mut rows = client
            .query(SQL)
            .param("p", 1_i64)
            .rows::<Singer>()
            .await
            .unwrap();
        let mut n = 0;
        while let Some(singer) = rows.next().await.unwrap() {
            assert_eq!(singer.singer_id, n, "{name}");
            n += 1;
        }
        assert_eq!(n, 1_000, "{name}");

        let requests = fake.requests();
        let tries: Vec<_> = requests.iter().filter(|r| r.sql() == SQL).collect();
        if matches!(step, Step::GoAway) {
            // Calls under way go on.
            assert_eq!(tries.len(), 1);
            continue;
        }
        assert_eq!(tries.len(), 2, "{name}");
        assert!(tries[0].resume_token().is_empty() && !tries[1].resume_token().is_empty());
        assert_eq!(tries[0].session(), tries[1].session());
        assert_eq!(
            tries[1].param("p"),
            Some(OwnedValue::String("1".to_owned()))
        );
        let id = |i: usize| {
            let id = tries[i].header("x-goog-spanner-request-id").unwrap();
            id.rsplit_once('.').unwrap()
        };
        assert_eq!((id(0).0, id(0).1, id(1).1), (id(1).0, "1", "2"));
    }
}

#[tokio::test]
async fn one_optional_one_batch() {
    let fake = FakeSpanner::start().await;
    let client = connect(&fake).await;
    for (n, missing, many) in [(0, true, false), (1, false, false), (2, false, true)] {
        fake.on_query(SQL, singers(n));
        fake.on_read("Singers", singers(n));
        let read = || client.read::<Singer>("Singers").all();
        let columns = ["SingerId", "FirstName"];
        let borrowed = || client.read::<(i64, &str)>("Singers").all().columns(columns);
        let query = || client.query(SQL);
        let exactly_one = [
            query().one::<Singer>().await.err(),
            query().one_batch::<(i64, &str)>().await.err(),
            read().one().await.err(),
            borrowed().one_batch().await.err(),
        ];
        let at_most_one = [
            query().optional::<Singer>().await.err(),
            read().optional().await.err(),
        ];
        for (errors, none_is_wrong) in [(&exactly_one[..], missing), (&at_most_one[..], false)] {
            for error in errors {
                match error.as_ref().map(spanner_rows::Error::kind) {
                    None => assert!(!many && !none_is_wrong),
                    Some(ErrorKind::ManyRows) => assert!(many),
                    Some(ErrorKind::NoRow) => assert!(none_is_wrong),
                    Some(other) => panic!("{other:?}"),
                }
            }
        }
        if missing {
            assert_eq!(read().optional().await.unwrap(), None);
        } else if !many {
            assert_eq!(read().one().await.unwrap().first_name, "name 0");
            let batch = borrowed().one_batch().await.unwrap();
            assert_eq!(batch.row(0).unwrap(), (0, "name 0"));
            let (id, name): (i64, String) = query().one().await.unwrap();
            assert_eq!((id, &*name), (0, "name 0"));
        }
    }
}

#[tokio::test]
async fn a_read_sends_columns_keys_and_index() {
    let fake = FakeSpanner::start().await;
    fake.on_index_read("Singers", "ByName", singers(3));
    let client = connect(&fake).await;
    let mut rows = client
        .read::<Singer>("Singers")
        .index("ByName")
        .key("a")
        .range("m"..="p")
        .limit(7)
        .rows()
        .await
        .unwrap();
    let all: Vec<Singer> = rows.try_collect().await.unwrap();
    assert_eq!(all.len(), 3);
    let requests = fake.requests();
    let read = requests.last().unwrap();
    assert_eq!(read.method(), "StreamingRead");
    assert_eq!(read.columns(), ["SingerId", "FirstName"]);
    assert_eq!(read.limit(), 7);
    let text = |text: &str| OwnedValue::String(text.to_owned());
    assert_eq!(read.keys(), [[text("a")]]);
    let range = &read.key_ranges()[0];
    assert_eq!(
        (&range.start[..], range.start_closed),
        (&[text("m")][..], true)
    );
    assert_eq!((&range.end[..], range.end_closed), (&[text("p")][..], true));
}

#[tokio::test]
async fn values_of_many_megabytes() {
    let fake = FakeSpanner::start().await;
    for size in [5 << 20, 20 << 20] {
        let text = "ä".repeat(size / 2);
        let rows = Rows::new(["SingerId", "FirstName"], [(1_i64, &*text)]).message_size(32 << 20);
        fake.on_query(SQL, rows);
        let client = connect(&fake).await;
        let singer: Singer = client.query(SQL).one().await.unwrap();
        assert!(singer.first_name == text);
    }
}
