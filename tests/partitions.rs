//! Results in parts: every row once, wherever and however often the parts are read.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spanner_rows::testing::{Failure, FakeSpanner, Gate, Request, RequestTransaction, Rows, Step};
use spanner_rows::{
    Client, Code, Error, ErrorKind, Partition, PartitionOptions, RetrySettings, RowStream,
    SpannerRow, TimestampBound,
};

const SQL: &str = "SELECT n, name FROM Numbers WHERE n < @most";

async fn server(rows: i64) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let numbers = (0..rows).map(|n| (n, format!("name {n}")));
    let numbers = Rows::new(["n", "name"], numbers).message_size(60);
    fake.on_query(SQL, numbers.clone());
    fake.on_read("Numbers", numbers);
    let client = connect(&fake).await;
    (fake, client)
}

async fn connect(fake: &FakeSpanner) -> Client {
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    client.connect().await.unwrap()
}

async fn split(client: &Client, count: u64) -> Vec<Partition> {
    let query = client.query(SQL).param("most", 1_000_i64);
    let options = PartitionOptions::new().max_partitions(count);
    query.partitions(options).await.unwrap()
}

async fn read(client: &Client, partition: &Partition) -> Vec<i64> {
    let rows = client.read_partition(partition).rows::<(i64, &str)>();
    let mut rows = rows.await.unwrap();
    let mut all = Vec::new();
    rows.for_each(|(n, name)| {
        assert_eq!(name, format!("name {n}"));
        all.push(n);
    })
    .await
    .unwrap();
    all
}

fn last(fake: &FakeSpanner, method: &str) -> Request {
    let requests = fake.take_requests();
    let found = requests.into_iter().rfind(|it| it.method() == method);
    found.unwrap_or_else(|| panic!("no {method}"))
}

#[tokio::test]
async fn the_parts_of_a_query_are_its_rows() {
    let (fake, client) = server(100).await;
    let bound = TimestampBound::ExactStaleness(Duration::from_secs(15));
    let query = client.query(SQL).param("most", 1_000_i64).data_boost(true);
    let query = query.request_tag("export").timestamp_bound(bound);
    let options = PartitionOptions::new()
        .max_partitions(7)
        .partition_size(1 << 20);
    let partitions = query.partitions(options).await.unwrap();
    assert_eq!(partitions.len(), 7);

    let requests = fake.take_requests();
    let methods: Vec<_> = requests.iter().map(Request::method).collect();
    assert_eq!(
        methods,
        ["CreateSession", "BeginTransaction", "PartitionQuery"]
    );
    let RequestTransaction::Id(id) = requests[2].transaction() else {
        panic!("{:?}", requests[2]);
    };
    assert_eq!(requests[2].partition_options(), (1 << 20, 7));
    assert_eq!(requests[2].header("x-goog-spanner-route-to-leader"), None);

    let mut all = Vec::new();
    for partition in &partitions {
        assert_eq!(partition.database(), client.database());
        assert!(partition.read_timestamp().is_some());
        all.extend(read(&client, partition).await);
        let request = last(&fake, "ExecuteStreamingSql");
        assert_eq!(request.transaction(), RequestTransaction::Id(id.clone()));
        assert!(!request.partition_token().is_empty());
        assert_eq!(request.sql(), SQL);
        assert_eq!(
            request.param("most"),
            Some(spanner_rows::OwnedValue::String("1000".into()))
        );
        assert_eq!(request.request_tag(), "export");
        assert!(request.data_boost());
    }
    assert_eq!(all, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_parts_of_a_read_are_its_rows() {
    #[derive(SpannerRow)]
    struct Number {
        n: i64,
    }
    let (fake, client) = server(50).await;
    let numbers = client.read::<Number>("Numbers").all();
    let partitions = numbers.partitions(PartitionOptions::new()).await.unwrap();
    let request = last(&fake, "PartitionRead");
    assert!(matches!(request.transaction(), RequestTransaction::Id(_)));
    let mut all = Vec::new();
    for partition in &partitions {
        let mut rows = client
            .read_partition(partition)
            .rows::<Number>()
            .await
            .unwrap();
        while let Some(row) = rows.next().await.unwrap() {
            all.push(row.n);
        }
        let request = last(&fake, "StreamingRead");
        assert_eq!((request.table(), request.columns().len()), ("Numbers", 1));
    }
    assert_eq!(all, (0..50).collect::<Vec<_>>());

    let limited = client.read::<Number>("Numbers").all().limit(3);
    let error = limited
        .partitions(PartitionOptions::new())
        .await
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)) && error.to_string().contains("limit"));
}

#[tokio::test]
async fn other_machines_read_them() {
    let (fake, client) = server(40).await;
    let partitions = split(&client, 3).await;
    let texts: Vec<_> = partitions.iter().map(ToString::to_string).collect();
    let json = serde_json::to_string(&partitions).unwrap();
    drop(client);

    let other = connect(&fake).await;
    let mut all = Vec::new();
    for text in &texts {
        all.extend(read(&other, &text.parse().unwrap()).await);
    }
    assert_eq!(all, (0..40).collect::<Vec<_>>());
    // The session is that of the partition, not the client's own.
    let sessions: BTreeSet<_> = fake
        .take_requests()
        .iter()
        .rev()
        .take(3)
        .map(|it| it.session().to_owned())
        .collect();
    assert_eq!(sessions.len(), 1);

    let back: Vec<Partition> = serde_json::from_str(&json).unwrap();
    assert_eq!(back, partitions);
    for partition in &partitions {
        assert_eq!(
            Partition::from_bytes(&partition.to_bytes()).unwrap(),
            *partition
        );
        assert!(
            !format!("{partition:?}").contains("1000"),
            "no values of parameters"
        );
    }
}

#[tokio::test]
async fn what_is_no_partition_is_said() {
    let (_fake, client) = server(1).await;
    let partition = split(&client, 1).await.remove(0);
    let bytes = partition.to_bytes();
    for end in 0..bytes.len() {
        let cut = Partition::from_bytes(&bytes[..end]);
        assert!(
            cut.is_err() || cut.unwrap().read_timestamp().is_none(),
            "{end}"
        );
    }
    let mut newer = bytes;
    newer[1] = 2;
    let error = Partition::from_bytes(&newer).unwrap_err().to_string();
    assert_eq!(
        error,
        "not a partition: it has the version 2, and this is version 1"
    );
    assert!("%".parse::<Partition>().is_err());

    let elsewhere = FakeSpanner::start().await;
    let elsewhere =
        Client::builder("projects/p/instances/i/databases/d").endpoint(elsewhere.endpoint());
    // The server does not have that database: the client is never asked for a session.
    let Err(error) = elsewhere.connect().await else {
        panic!("the fake server has one database");
    };
    assert!(error.to_string().contains("Database not found"));
}

#[tokio::test]
async fn breaks_are_repaired_inside_of_a_partition() {
    let fake = FakeSpanner::start().await;
    let numbers = (0..60).map(|n| (n, format!("name {n}")));
    let rows = Rows::new(["n", "name"], numbers).message_size(60);
    // Each part is read by two calls.
    let later = || Step::Fail(Failure::unavailable("later"));
    let rows = rows.interrupt(1, 2, later()).interrupt(3, 2, later());
    fake.on_query(SQL, rows);
    let client = connect(&fake).await;
    let mut all = Vec::new();
    for partition in &split(&client, 2).await {
        all.extend(read(&client, partition).await);
    }
    assert_eq!(all, (0..60).collect::<Vec<_>>());
    let requests = fake.take_requests();
    let resumed = requests.iter().filter(|it| !it.resume_token().is_empty());
    assert_eq!(resumed.count(), 2);
    let tokens: BTreeSet<_> = requests
        .iter()
        .map(|it| it.partition_token().to_vec())
        .collect();
    assert_eq!(tokens.len(), 3, "two, and none for the other calls");
}

#[tokio::test]
async fn a_lost_session_is_told() {
    let (fake, client) = server(10).await;
    let partitions = split(&client, 2).await;
    fake.forget_sessions();
    let error = client
        .read_partition(&partitions[0])
        .rows::<(i64, &str)>()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("begin a new one"), "{error}");
    // Nothing was sent twice.
    let requests = fake.take_requests();
    assert_eq!(
        requests
            .iter()
            .filter(|it| it.method() == "ExecuteStreamingSql")
            .count(),
        1
    );
}

#[tokio::test]
async fn splitting_is_repeated_and_refusals_are_told() {
    let (fake, client) = server(10).await;
    fake.before_next(
        "PartitionQuery",
        [Step::Fail(Failure::unavailable("later"))],
    );
    assert_eq!(split(&client, 2).await.len(), 2);
    let refusal = Failure::invalid_argument("not root partitionable");
    fake.before_next("PartitionQuery", [Step::Fail(refusal)]);
    let query = client.query(SQL).partitions(PartitionOptions::new());
    let error = query.await.unwrap_err();
    assert!(error.to_string().contains("not root partitionable"));

    let bound = TimestampBound::MaxStaleness(Duration::from_secs(1));
    let query = client.query(SQL).timestamp_bound(bound);
    let error = query.partitions(PartitionOptions::new()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error}");
}

#[tokio::test]
async fn in_a_transaction_parts_and_queries_see_the_same() {
    let (fake, client) = server(10).await;
    let snapshot = client.read_only().start().unwrap();
    let query = snapshot.query(SQL).param("most", 1_i64);
    let partitions = query.partitions(PartitionOptions::new()).await.unwrap();
    let mut whole = snapshot
        .query(SQL)
        .param("most", 1_i64)
        .rows::<(i64, &str)>()
        .await
        .unwrap();
    whole.for_each(|_| ()).await.unwrap();
    read(&client, &partitions[0]).await;
    assert_eq!(partitions[0].read_timestamp(), snapshot.read_timestamp());
    let used: BTreeSet<_> = fake
        .take_requests()
        .iter()
        .map(|it| format!("{:?}", it.transaction()))
        .filter(|it| it.starts_with("Id"))
        .collect();
    assert_eq!(used.len(), 1, "{used:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_partition_is_given_once_and_no_more_run_than_asked_for() {
    let (_fake, client) = server(500).await;
    let partitions = split(&client, 20).await;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let read = client.read_partitions(partitions.clone()).parallelism(3);
    let (running_, most_, seen_) = (running.clone(), most.clone(), seen.clone());
    read.for_each(move |partition, mut rows: RowStream<(i64, &str)>| {
        let (running, most, seen) = (running_.clone(), most_.clone(), seen_.clone());
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            while let Some((n, _)) = rows.next().await? {
                seen.lock().unwrap().0.push(n);
            }
            seen.lock().unwrap().1.push(partition.to_string());
            running.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Error>(())
        }
    })
    .await
    .unwrap();
    assert!((2..=3).contains(&most.load(Ordering::SeqCst)));
    let (mut numbers, mut done) = std::mem::take(&mut *seen.lock().unwrap());
    numbers.sort_unstable();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    done.sort_unstable();
    let mut all: Vec<_> = partitions.iter().map(ToString::to_string).collect();
    all.sort_unstable();
    assert_eq!(done, all);
}

/// Says that it is gone.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn nothing_runs_any_more_when_an_error_is_told() {
    let (_fake, client) = server(100).await;
    let partitions = split(&client, 3).await;
    let running = Arc::new(AtomicUsize::new(0));
    let running_ = running.clone();
    let read = client.read_partitions(partitions).parallelism(3);
    let result = read.for_each(move |_, _: RowStream<(i64, &str)>| {
        let running = running_.clone();
        async move {
            let number = running.fetch_add(1, Ordering::SeqCst);
            let _guard = Guard(running);
            match number {
                2 => Err(Failed::Mine),
                _ => std::future::pending().await,
            }
        }
    });
    assert!(matches!(result.await, Err(Failed::Mine)));
    assert_eq!(running.load(Ordering::SeqCst), 0);
}

#[derive(Debug)]
enum Failed {
    Spanner,
    Mine,
}

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self::Spanner
    }
}

#[tokio::test]
async fn the_first_error_stops_everything() {
    let (fake, client) = server(100).await;
    let partitions = split(&client, 50).await;
    fake.take_requests();
    let read = client.read_partitions(partitions.clone()).parallelism(2);
    let result = read.for_each(async |_, _: RowStream<(i64, &str)>| Err(Failed::Mine));
    assert!(matches!(result.await, Err(Failed::Mine)));
    assert!(fake.take_requests().len() <= 4);

    let wrong = client
        .read_partitions(partitions)
        .for_each(async |_, _: RowStream<(bool, i64)>| Ok(()));
    assert!(matches!(wrong.await, Err(Failed::Spanner)));
}

#[tokio::test]
#[should_panic(expected = "mine")]
async fn a_panic_is_that_of_the_caller() {
    let (_fake, client) = server(10).await;
    let partitions = split(&client, 2).await;
    let read = client.read_partitions(partitions);
    let _ = read
        .for_each(async |_, _: RowStream<(i64, &str)>| -> Result<(), Error> { panic!("mine") })
        .await;
}

#[tokio::test]
async fn no_partitions_are_no_rows() {
    let (_fake, client) = server(1).await;
    let read = client.read_partitions([]);
    read.clone()
        .for_each(async |_, _: RowStream<(i64,)>| Ok::<_, Error>(()))
        .await
        .unwrap();
    let mut batches = read.batches::<(i64,)>();
    assert!(batches.next().await.unwrap().is_none());
    assert!(batches.next().await.unwrap().is_none());
}

#[tokio::test]
async fn batches_of_all_partitions_come_in_one_stream() {
    let (_fake, client) = server(300).await;
    for parallelism in [1, 2, 100] {
        let partitions = split(&client, 13).await;
        let read = client.read_partitions(partitions).parallelism(parallelism);
        let mut batches = read.batches::<(i64, &str)>();
        let mut all = Vec::new();
        loop {
            // Futures that are dropped lose nothing.
            {
                let mut next = pin!(batches.next());
                let waker = std::task::Waker::noop();
                if let std::task::Poll::Ready(batch) = next
                    .as_mut()
                    .poll(&mut std::task::Context::from_waker(waker))
                {
                    let Some(batch) = batch.unwrap() else { break };
                    all.extend(batch.iter().map(|row| row.unwrap().0));
                    continue;
                }
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        all.sort_unstable();
        assert_eq!(all, (0..300).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn an_error_ends_the_stream_of_batches_and_is_told_once() {
    let fake = FakeSpanner::start().await;
    let numbers = (0..60).map(|n| (n, format!("name {n}")));
    let rows = Rows::new(["n", "name"], numbers).message_size(60);
    let rows = rows.interrupt_every(1, Step::Fail(Failure::new(Code::DataLoss, "gone")));
    fake.on_query(SQL, rows);
    let client = connect(&fake).await;
    let partitions = split(&client, 4).await;
    let mut batches = client.read_partitions(partitions).batches::<(i64, &str)>();
    let error = loop {
        match batches.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("ended as if all were well"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("gone"));
    assert!(batches.next().await.unwrap().is_none());
}

#[tokio::test]
async fn dropping_stops_reading() {
    let fake = FakeSpanner::start().await;
    let gate = Gate::new();
    let rows = Rows::new(["n", "name"], (0..60).map(|n| (n, format!("name {n}"))));
    fake.on_query(
        SQL,
        rows.message_size(60)
            .interrupt_every(1, Step::Wait(gate.clone())),
    );
    let client = connect(&fake).await;
    let partitions = split(&client, 8).await;
    let read = client
        .read_partitions(partitions)
        .parallelism(2)
        .retry(RetrySettings::never());
    let each = read.for_each(async |_, mut rows: RowStream<(i64, &str)>| {
        while rows.next().await?.is_some() {}
        Ok::<_, Error>(())
    });
    tokio::time::timeout(Duration::from_millis(300), each)
        .await
        .unwrap_err();
    gate.open();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let sent = fake.take_requests();
    assert_eq!(
        sent.iter()
            .filter(|it| !it.partition_token().is_empty())
            .count(),
        2
    );
}

/// What another client would send is what is sent.
#[tokio::test]
async fn partitions_of_other_clients() {
    let (fake, client) = server(20).await;
    let query = client.query(SQL).param("most", 1_000_i64).data_boost(true);
    let query = query.request_tag("export");
    let of_query = query.partitions(PartitionOptions::new().max_partitions(2));
    let of_query = of_query.await.unwrap().remove(1);
    let numbers = client.read::<(i64, String)>("Numbers");
    let numbers = numbers.columns(["n", "name"]).keys([1_i64, 2]);
    let of_read = numbers.partitions(PartitionOptions::new()).await.unwrap();

    let rows = read(&client, &of_query).await;
    let request = last(&fake, "ExecuteStreamingSql");
    let other = Partition::from_execute_sql_request(request.body()).unwrap();
    assert_eq!(other.database(), client.database());
    assert_eq!(other.read_timestamp(), None);
    assert_eq!(
        read(&client, &other.to_string().parse().unwrap()).await,
        rows
    );
    let sent = last(&fake, "ExecuteStreamingSql");
    assert_eq!(sent.body(), request.body());

    read(&client, &of_read[0]).await;
    let request = last(&fake, "StreamingRead");
    read(
        &client,
        &Partition::from_read_request(request.body()).unwrap(),
    )
    .await;
    assert_eq!(last(&fake, "StreamingRead").body(), request.body());
}

#[test]
fn requests_that_are_no_partitions() {
    use googleapis_tonic_google_spanner_v1::google::spanner::v1::transaction_selector::Selector;
    use googleapis_tonic_google_spanner_v1::google::spanner::v1::{
        ExecuteSqlRequest, ReadRequest, TransactionSelector,
    };
    use prost::Message;

    let selector = |selector| {
        Some(TransactionSelector {
            selector: Some(selector),
        })
    };
    let sql = ExecuteSqlRequest {
        session: "projects/p/instances/i/databases/d/sessions/s".into(),
        transaction: selector(Selector::Id("id".into())),
        sql: "SELECT 1".into(),
        partition_token: "token".into(),
        resume_token: "from the middle".into(),
        ..ExecuteSqlRequest::default()
    };
    let parsed = |request: &ExecuteSqlRequest| {
        let parsed = Partition::from_execute_sql_request(&request.encode_to_vec());
        parsed.map_err(|error| error.to_string())
    };
    let whole = parsed(&sql).unwrap();
    assert_eq!(whole.database(), "projects/p/instances/i/databases/d");
    // A part is read from its beginning.
    let mut from_the_start = sql.clone();
    from_the_start.resume_token = bytes::Bytes::new();
    assert_eq!(parsed(&from_the_start).unwrap(), whole);

    type Change = fn(&mut ExecuteSqlRequest);
    let changes: [(Change, &str); 6] = [
        (|it| it.session.clear(), "no session"),
        (|it| it.session = "s".into(), "no session of a database"),
        (|it| it.transaction = None, "no transaction"),
        (
            |it| {
                it.transaction.as_mut().unwrap().selector =
                    Some(Selector::Begin(Default::default()))
            },
            "transaction that has begun",
        ),
        (
            |it| it.partition_token = bytes::Bytes::new(),
            "no partition token",
        ),
        (|it| it.sql.clear(), "no statement"),
    ];
    for (change, words) in changes {
        let mut request = sql.clone();
        change(&mut request);
        let error = parsed(&request).unwrap_err();
        assert!(error.contains(words), "{words}: {error}");
    }

    let bytes = sql.encode_to_vec();
    for end in 0..bytes.len() {
        // Cut between two fields it may be whole by chance, but never another one.
        if let Ok(cut) = Partition::from_execute_sql_request(&bytes[..end]) {
            assert_eq!(cut, whole);
        }
    }
    let read = ReadRequest {
        session: sql.session.clone(),
        transaction: sql.transaction,
        partition_token: "token".into(),
        ..ReadRequest::default()
    };
    let error = Partition::from_read_request(&read.encode_to_vec()).unwrap_err();
    assert!(error.to_string().contains("no table"), "{error}");
}
