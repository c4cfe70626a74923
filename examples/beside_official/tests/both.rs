//! Both clients see the same, with the same credentials.

use beside_official::{Both, COUNT, DDL, SINGERS, Singer};
use google_cloud_auth::credentials::{anonymous, api_key_credentials};
use google_cloud_spanner::batch;
use google_cloud_spanner::key::{Key, KeyRange, KeySet};
use google_cloud_spanner::model::PartitionOptions;
use google_cloud_spanner::read::ReadRequest;
use google_cloud_spanner::statement::Statement;
use google_cloud_spanner::types;
use google_cloud_spanner::value::ToValue;
use spanner_rows::testing::{Database, Emulator, FakeSpanner, Request, RequestTransaction, Rows};
use spanner_rows::{OwnedValue, Partition, Priority, TypeCode};

async fn emulator() -> Option<(Database, Both)> {
    let emulator = Emulator::start_or_skip().await?;
    let database = emulator.create_database(&[DDL]).await.unwrap();
    let insert = "INSERT INTO Singers (SingerId, FirstName) SELECT n, 'Zoë' FROM UNNEST(GENERATE_ARRAY(1, 300)) AS n";
    database.execute(insert).await.unwrap();
    let anonymous = anonymous::Builder::new().build();
    let endpoint = database.endpoint();
    let both = Both::connect(database.name(), Some(&endpoint), anonymous).await;
    Some((database, both.unwrap()))
}

async fn fake() -> (FakeSpanner, Both) {
    let fake = FakeSpanner::start().await;
    fake.on_query(COUNT, Rows::new(["n"], [(3_i64,)]));
    let singers = [(1_i64, "a"), (2, "b"), (3, "c")];
    let singers = Rows::new(["SingerId", "FirstName"], singers);
    fake.on_query(SINGERS, singers);
    let first = Rows::new(["SingerId", "FirstName"], [(1_i64, "a")]);
    fake.on_read("Singers", first);
    let credentials = api_key_credentials::Builder::new("the key").build();
    let endpoint = fake.endpoint();
    let both = Both::connect(fake.database(), Some(&endpoint), credentials).await;
    (fake, both.unwrap())
}

#[tokio::test]
async fn one_state_of_the_database() {
    let Some((database, both)) = emulator().await else {
        return;
    };
    let (count, ids) = both.same_state().await.unwrap();
    assert_eq!((count, ids.len()), (300, 300));

    // What is deleted in between is in both, or in none: here in none.
    let texts = both.official_partitions(101, 4).await.unwrap();
    database
        .execute("DELETE FROM Singers WHERE SingerId > 150")
        .await
        .unwrap();
    let mut ids = both.read_official_partitions(&texts).await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (101..=300).collect::<Vec<_>>());

    let (count, ids) = both.same_state().await.unwrap();
    assert_eq!((count, ids.len()), (150, 150));
    let name = both.reads_what_was_written(7, "Marc").await.unwrap();
    assert_eq!(name.as_deref(), Some("Marc"));
}

#[tokio::test]
async fn partitions_of_a_read() {
    let Some((_database, both)) = emulator().await else {
        return;
    };
    let transaction = both
        .official
        .batch_read_only_transaction()
        .build()
        .await
        .unwrap();
    let key = |id: i64| Key::new(vec![id.to_value()]);
    let ranges = [
        KeyRange::closed_open(key(10), key(20)),
        KeyRange::open_closed(key(30), key(40)),
    ];
    let [first, second] = ranges;
    let keys = KeySet::builder()
        .add_key(key(299))
        .add_range(first)
        .add_range(second);
    for (keys, expected) in [
        (
            keys.build(),
            (10..20).chain(31..=40).chain([299]).collect::<Vec<i64>>(),
        ),
        (KeySet::all(), (1..=300).collect()),
    ] {
        let read = ReadRequest::builder("Singers", vec!["SingerId", "FirstName"]).with_keys(keys);
        let partitions = transaction.partition_read(read.build(), PartitionOptions::default());
        let partitions = partitions.await.unwrap();
        let texts: Vec<_> = partitions
            .iter()
            .map(|it| serde_json::to_string(it).unwrap())
            .collect();
        let mut ids = both.read_official_partitions(&texts).await.unwrap();
        ids.sort_unstable();
        assert_eq!(ids, expected);
    }
}

fn last_part(fake: &FakeSpanner) -> Request {
    let mut requests = fake.take_requests().into_iter();
    let part = |request: &Request| !request.partition_token().is_empty();
    requests.rfind(part).expect("a part was read")
}

/// The request that is sent for a partition is the one that the official client sends.
#[tokio::test]
async fn the_same_request() {
    let (fake, both) = fake().await;
    let transaction = both
        .official
        .batch_read_only_transaction()
        .build()
        .await
        .unwrap();
    let texts = vec!["x".to_owned(), "y".to_owned()];
    let statement = Statement::builder(SINGERS)
        .add_typed_param("least", 2_i64, types::int64())
        .add_typed_param("names", &texts, types::array(types::string()))
        .add_param("score", 0.5_f64)
        .add_param("none", None::<bool>)
        .set_request_tag("export")
        .set_priority(google_cloud_spanner::model::request_options::Priority::Low)
        .build();
    let options = PartitionOptions::default().set_max_partitions(2);
    let partitions = transaction
        .partition_query(statement, options)
        .await
        .unwrap();
    let boosted = partitions[1].clone().set_data_boost(true);

    let mut rows = boosted.execute(&both.official).await.unwrap();
    while let Some(row) = rows.next().await {
        row.unwrap();
    }
    let theirs = last_part(&fake);
    let ours = Partition::from_official_json(&serde_json::to_string(&boosted).unwrap()).unwrap();
    assert_eq!(ours.database(), fake.database());
    let mut rows = both
        .ours
        .read_partition(&ours)
        .rows::<Singer>()
        .await
        .unwrap();
    while rows.next().await.unwrap().is_some() {}
    let ours = last_part(&fake);

    assert!(matches!(ours.transaction(), RequestTransaction::Id(_)));
    assert_eq!(ours.transaction(), theirs.transaction());
    for request in [&ours, &theirs] {
        assert_eq!(request.sql(), SINGERS);
        assert_eq!(request.session(), theirs.session());
        assert_eq!(request.partition_token(), theirs.partition_token());
        assert_eq!(request.param("least"), Some(OwnedValue::String("2".into())));
        assert_eq!(request.param("score"), Some(OwnedValue::Number(0.5)));
        assert_eq!(request.param("none"), Some(OwnedValue::Null));
        let names = texts.iter().cloned().map(OwnedValue::String).collect();
        assert_eq!(request.param("names"), Some(OwnedValue::List(names)));
        for name in ["least", "names", "score", "none"] {
            assert_eq!(request.param_type(name), theirs.param_type(name), "{name}");
        }
        assert_eq!(request.request_tag(), "export");
        assert_eq!(request.priority(), Some(Priority::Low));
        assert!(request.data_boost());
    }
    assert_eq!(ours.param_type("least").unwrap().code(), TypeCode::Int64);
    let names = ours.param_type("names").unwrap();
    assert_eq!(names.element().unwrap().code(), TypeCode::String);
}

#[tokio::test]
async fn one_object_says_who_calls() {
    let (fake, both) = fake().await;
    both.same_state().await.unwrap();
    both.reads_what_was_written(1, "a").await.unwrap();
    let texts = both.official_partitions(1, 2).await.unwrap();
    both.read_official_partitions(&texts).await.unwrap();
    let requests = fake.requests();
    assert!(requests.len() > 8, "{requests:?}");
    for request in &requests {
        assert_eq!(
            request.header("x-goog-api-key"),
            Some("the key"),
            "{}",
            request.method()
        );
    }
}

#[tokio::test]
async fn what_is_none_of_its_partitions_is_said() {
    let (_fake, both) = fake().await;
    let text = both.official_partitions(1, 1).await.unwrap().remove(0);
    assert!(serde_json::from_str::<batch::Partition>(&text).is_ok());
    for (from, to, words) in [
        ("\"version\":1", "\"version\":2", "`version`"),
        ("\"sql\"", "\"sequel\"", "`sequel`"),
        (
            "\"partitionToken\"",
            "\"resumeToken\"",
            "no partition token",
        ),
        ("\"Query\"", "\"Delete\"", "neither"),
        ("/sessions/", "/seasons/", "session"),
        (
            "\"transaction\":{",
            "\"transaction\":{\"begin\":{},",
            "`begin`",
        ),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from} in {text}");
        let error = Partition::from_official_json(&changed)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{to}: {error}");
        assert!(
            !error.contains("least"),
            "no names or values of parameters: {error}"
        );
    }
    assert!(Partition::from_official_json("{").is_err());
}
