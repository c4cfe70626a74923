//! What transactions that write can be told about locks, leaders and their last statement,
//! and on which connection their calls go.

use spanner_rows::testing::{Failure, FakeSpanner, Request, RequestTransaction, Rows, Step};
use spanner_rows::{Client, ClientBuilder, Error, ErrorKind, Mutation, ReadLockMode, Transaction};

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = 1 WHERE TRUE";
const RETURNING: &str = "DELETE FROM Numbers WHERE TRUE THEN RETURN n";

async fn server() -> (FakeSpanner, ClientBuilder) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SELECT, Rows::new(["n"], [(1_i64,), (2,)]));
    fake.on_query(UPDATE, Rows::changed(3));
    fake.on_query(RETURNING, Rows::new(["n"], [(7_i64,)]).row_count(1));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    (fake, client)
}

async fn select(tx: &Transaction) -> Result<(), Error> {
    tx.query(SELECT)
        .rows::<(i64,)>()
        .await?
        .for_each(|_| {})
        .await
}

fn insert() -> [Mutation; 1] {
    [Mutation::insert("T").set("Id", 1_i64)]
}

#[tokio::test]
async fn the_last_statement_is_marked() {
    let (fake, client) = server().await;
    let client = client.connect().await.unwrap();
    let run = client.transaction().run(|tx| async move {
        tx.dml(UPDATE).execute().await?;
        tx.dml(UPDATE).last_statement(true).execute().await?;
        tx.dml(UPDATE).last_statement(false).execute().await?;
        let returning = tx.dml(RETURNING).last_statement(true);
        returning.rows::<(i64,)>().await?.for_each(|_| {}).await?;
        tx.batch_dml([tx.dml(UPDATE), tx.dml(UPDATE)]).await?;
        let last = tx.dml(UPDATE).last_statement(true);
        tx.batch_dml([tx.dml(UPDATE), last.clone()]).await?;
        // In the middle of a batch it means nothing.
        let error: Error = tx
            .batch_dml([last, tx.dml(UPDATE)])
            .await
            .unwrap_err()
            .into();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
        assert!(error.to_string().contains("others follow it"), "{error}");
        Ok::<_, Error>(())
    });
    run.await.unwrap();
    let requests = fake.requests();
    let statements = requests.iter().filter(|request| request.seqno() > 0);
    let marked: Vec<_> = statements.map(Request::last_statement).collect();
    assert_eq!(marked, [false, true, false, true, false, true]);
}

#[tokio::test]
async fn when_reads_lock() {
    let (fake, client) = server().await;
    let client = client.connect().await.unwrap();
    let modes = [
        None,
        Some(ReadLockMode::Optimistic),
        Some(ReadLockMode::Pessimistic),
    ];
    for mode in modes {
        let builder = || match mode {
            None => client.transaction(),
            Some(mode) => client.transaction().read_lock_mode(mode),
        };
        // With the first statement, again when it is aborted, and with a call of its own.
        fake.before_next("Commit", [Step::Fail(Failure::aborted("others first"))]);
        fake.take_requests();
        let run = builder().run(|tx| async move { select(&tx).await });
        run.await.unwrap();
        let run = builder().run(|tx| async move { tx.buffer(insert()) });
        run.await.unwrap();
        let requests = fake.requests();
        let begins = requests
            .iter()
            .filter(|request| request.begins_read_write());
        let seen: Vec<_> = begins.map(Request::read_lock_mode).collect();
        assert_eq!(seen, [mode; 3]);
    }
}

/// Everything that only a leader can do, and some of what others can.
async fn all_kinds(client: &Client) {
    let run = client.transaction().run(|tx| async move {
        select(&tx).await?;
        tx.read::<(i64,)>("Numbers")
            .columns(["n"])
            .all()
            .rows()
            .await?;
        tx.batch_dml([tx.dml(UPDATE)]).await?;
        Ok::<_, Error>(())
    });
    run.await.unwrap();
    let run = client.transaction().run(|tx| async move {
        select(&tx).await?;
        Err::<(), _>(
            tx.query("no such statement")
                .one::<(i64,)>()
                .await
                .unwrap_err(),
        )
    });
    run.await.unwrap_err();
    client.write(insert()).await.unwrap();
    client.partitioned_dml(UPDATE).execute().await.unwrap();
    let mut results = client.batch_write([insert()]).start().unwrap();
    results.next().await.unwrap();
    client.query(SELECT).rows::<(i64,)>().await.unwrap();
    let snapshot = client.read_only().begin().await.unwrap();
    snapshot.query(SELECT).rows::<(i64,)>().await.unwrap();
}

#[tokio::test]
async fn leaders_are_asked_for_unless_that_is_switched_off() {
    for wanted in [true, false] {
        let (fake, client) = server().await;
        fake.on_read("Numbers", Rows::new(["n"], [(1_i64,)]));
        let client = match wanted {
            true => client,
            false => client.route_to_leader(false),
        };
        all_kinds(&client.connect().await.unwrap()).await;
        let requests = fake.requests();
        let told: Vec<_> = requests
            .iter()
            .map(|it| {
                (
                    it.method(),
                    it.header("x-goog-spanner-route-to-leader").is_some(),
                )
            })
            .collect();
        let expected = [
            ("CreateSession", wanted),
            ("ExecuteStreamingSql", wanted),
            ("StreamingRead", wanted),
            ("ExecuteBatchDml", wanted),
            ("Commit", wanted),
            ("ExecuteStreamingSql", wanted),
            ("ExecuteStreamingSql", wanted),
            ("Rollback", wanted),
            ("BeginTransaction", wanted),
            ("Commit", wanted),
            ("BeginTransaction", wanted),
            ("ExecuteStreamingSql", wanted),
            ("BatchWrite", wanted),
            ("ExecuteStreamingSql", false),
            ("BeginTransaction", false),
            ("ExecuteStreamingSql", false),
        ];
        assert_eq!(told, expected);
    }
}

/// On which connections the calls were.
fn connections(requests: &[Request]) -> Vec<usize> {
    requests.iter().map(Request::connection).collect()
}

#[tokio::test]
async fn all_calls_of_a_transaction_are_on_one_connection() {
    let (fake, client) = server().await;
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,)]));
    let client = client.channels(4).warm_up(true).connect().await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            let run = client
                .transaction()
                .transaction_tag("t")
                .run(|tx| async move {
                    let mut rows = tx.query(SELECT).rows::<(i64,)>().await?;
                    // Several calls at once.
                    let read = tx.read::<(i64,)>("Numbers").columns(["n"]).all();
                    let (a, b) = tokio::join!(tx.dml(UPDATE).execute(), read.rows());
                    drop((a?, b?));
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    rows.for_each(|_| {}).await?;
                    tx.batch_dml([tx.dml(UPDATE)]).await?;
                    Ok::<_, Error>(())
                });
            run.await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let requests = fake.take_requests();
    let commits = requests.iter().filter(|it| it.method() == "Commit");
    let mut used = Vec::new();
    for commit in commits {
        let id = String::from_utf8_lossy(commit.transaction_id()).into_owned();
        let of_it = requests.iter().filter(|it| match it.transaction() {
            RequestTransaction::Id(other) => other == id,
            _ => false,
        });
        let of_it: Vec<_> = of_it.map(Request::connection).collect();
        assert_eq!(of_it, [commit.connection(); 3], "{id}");
        used.push(commit.connection());
    }
    // Each of the four has its share of the eight.
    used.sort_unstable();
    assert_eq!(used.len(), 8);
    used.dedup();
    assert_eq!(used.len(), 4, "{used:?}");

    // Also when it begins with a call of its own, and when it is rolled back.
    for _ in 0..2 {
        let busy = client.query(SELECT).rows::<(i64,)>().await.unwrap();
        fake.take_requests();
        client.write(insert()).await.unwrap();
        client.partitioned_dml(UPDATE).execute().await.unwrap();
        let run = client.transaction().run(|tx| async move {
            select(&tx).await?;
            Err::<(), _>(
                tx.query("no such statement")
                    .one::<(i64,)>()
                    .await
                    .unwrap_err(),
            )
        });
        run.await.unwrap_err();
        drop(busy);
        let seen = connections(&fake.take_requests());
        let [a, b, c, d, e, f, g] = seen[..] else {
            panic!("{seen:?}");
        };
        assert_eq!((a, c, e, e), (b, d, f, g));
    }
}
