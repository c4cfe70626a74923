//! Partitioned DML: what is sent, what is taken up again, and what is run from the start.

use std::time::{Duration, Instant};

use spanner_rows::testing::{
    Answer, Failure, FakeSpanner, Gate, Message, Request, RequestTransaction, Rows, Step,
};
use spanner_rows::{
    Client, Code, DirectedReads, Error, ErrorKind, OwnedValue, Priority, Replicas, RetrySettings,
    TypeCode,
};

const UPDATE: &str = "UPDATE Singers SET Active = @active WHERE TRUE";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(UPDATE, Rows::changed_at_least(3_000_000));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    fake.take_requests();
    (fake, client)
}

async fn update(client: &Client) -> Result<i64, Error> {
    client.partitioned_dml(UPDATE).execute().await
}

fn done(count: i64) -> Step {
    Step::Message(end().row_count_lower_bound(count))
}

/// A message of a statement without columns.
fn end() -> Message {
    Message::new().columns([] as [(&str, TypeCode); 0])
}

fn token(token: &'static str) -> Step {
    Step::Message(end().resume_token(token))
}

/// The requests in short, with the last number of their ids.
fn calls(requests: &[Request]) -> Vec<String> {
    let calls = requests.iter().map(|request| {
        let id = request.header("x-goog-spanner-request-id").unwrap();
        let attempt = id.rsplit('.').next().unwrap();
        let what = match (request.method(), request.transaction()) {
            ("BeginTransaction", _) if request.begins_partitioned_dml() => "begin".to_owned(),
            ("ExecuteStreamingSql", RequestTransaction::Id(id)) => {
                let id = String::from_utf8_lossy(&id).replace("fake-transaction-", "");
                let token = String::from_utf8_lossy(request.resume_token()).into_owned();
                format!("run in {id} from {token:?}")
            }
            (method, transaction) => format!("{method} {transaction:?}"),
        };
        format!("{what}, {attempt}")
    });
    calls.collect()
}

#[tokio::test]
async fn fields_and_headers() {
    let (fake, _) = server().await;
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .priority(Priority::High)
        .directed_reads(DirectedReads::include([Replicas::at("here")]))
        .optimizer_version("7");
    let client = client.connect().await.unwrap();
    fake.take_requests();
    let statement = client.partitioned_dml(UPDATE).param("active", false);
    let changed = statement
        .priority(Priority::Low)
        .request_tag("clean")
        .exclude_from_change_streams(true)
        .timeout(Duration::from_secs(50))
        .execute();
    assert_eq!(changed.await.unwrap(), 3_000_000);

    let requests = fake.requests();
    assert_eq!(calls(&requests), ["begin, 1", "run in 1 from \"\", 1"]);
    let [begin, run] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert!(begin.excluded_from_change_streams());
    assert!(!begin.begins_read_write());
    assert_eq!(begin.mutation_key(), None);
    assert_eq!(run.sql(), UPDATE);
    assert_eq!(run.param("active"), Some(OwnedValue::Bool(false)));
    assert_eq!(run.param_type("active").unwrap().code(), TypeCode::Bool);
    assert_eq!(run.priority(), Some(Priority::Low));
    assert_eq!(run.request_tag(), "clean");
    assert_eq!(run.optimizer_version(), "7");
    assert_eq!(run.directed_reads(), None, "only the leader can do it");
    for request in &requests {
        let header = |name| request.header(name).unwrap_or_default();
        assert_eq!(header("x-goog-spanner-route-to-leader"), "true");
        assert_eq!(header("google-cloud-resource-prefix"), fake.database());
        let params = header("x-goog-request-params");
        assert!(params.starts_with("session=projects%2Ffake"), "{params}");
        assert!(header("grpc-timeout").ends_with('m'));
    }

    // Nothing that was not asked for.
    fake.take_requests();
    let bare = Client::builder(fake.database()).endpoint(fake.endpoint());
    update(&bare.connect().await.unwrap()).await.unwrap();
    let requests = fake.requests();
    assert!(!requests[1].excluded_from_change_streams());
    assert_eq!(requests[2].priority(), None);
    assert_eq!(requests[2].request_tag(), "");
    assert_eq!(requests[2].header("grpc-timeout"), None);
}

#[tokio::test]
async fn a_broken_stream_goes_on_from_its_token() {
    let (fake, client) = server().await;
    let broken = [
        Step::Fail(Failure::unavailable("gone")),
        Step::Fail(Failure::internal(
            "stream terminated by RST_STREAM with code 2",
        )),
        Step::Reset(2),
        Step::Disconnect,
    ];
    for end in broken {
        let scripts = [
            vec![token("a"), token("b"), end.clone()],
            vec![token("c"), end.clone()],
            vec![end.clone()],
            vec![done(17)],
        ];
        fake.on_query(UPDATE, Answer::scripts(scripts));
        assert_eq!(update(&client).await.unwrap(), 17, "{end:?}");
        let calls = calls(&fake.take_requests());
        let transaction = calls[1].split(' ').nth(2).unwrap().to_owned();
        let expected = ["\"\", 1", "\"b\", 2", "\"c\", 3", "\"c\", 4"];
        let expected = expected.map(|from| format!("run in {transaction} from {from}"));
        assert_eq!(calls[0], "begin, 1");
        assert_eq!(calls[1..], expected, "{end:?}");
    }
}

#[tokio::test]
async fn without_a_token_it_is_run_in_a_new_transaction() {
    let (fake, client) = server().await;
    let gone = || Step::Fail(Failure::unavailable("gone"));
    let scripts = [
        vec![gone()],
        vec![Step::Message(end()), gone()],
        vec![done(5)],
    ];
    fake.on_query(UPDATE, Answer::scripts(scripts));
    assert_eq!(update(&client).await.unwrap(), 5);
    assert_eq!(
        calls(&fake.requests()),
        [
            "begin, 1",
            "run in 1 from \"\", 1",
            "begin, 1",
            "run in 2 from \"\", 1",
            "begin, 1",
            "run in 3 from \"\", 1"
        ]
    );
}

#[tokio::test]
async fn aborted_it_is_run_in_a_new_transaction() {
    let (fake, client) = server().await;
    let wait = Duration::from_millis(60);
    let aborted = || Step::Fail(Failure::aborted("others first").retry_after(wait));
    // With a token and without, in the statement and at its beginning.
    let scripts = [vec![token("a"), aborted()], vec![aborted()], vec![done(6)]];
    fake.on_query(UPDATE, Answer::scripts(scripts));
    fake.before_next("BeginTransaction", [aborted()]);
    let started = Instant::now();
    assert_eq!(update(&client).await.unwrap(), 6);
    assert!(started.elapsed() >= wait * 3, "{:?}", started.elapsed());
    assert_eq!(
        calls(&fake.requests()),
        [
            "begin, 1",
            "begin, 1",
            "run in 1 from \"\", 1",
            "begin, 1",
            "run in 2 from \"\", 1",
            "begin, 1",
            "run in 3 from \"\", 1"
        ]
    );

    // Not for ever.
    fake.on_query(UPDATE, Answer::script([aborted()]));
    let few = RetrySettings::default().max_attempts(3);
    let error = client.partitioned_dml(UPDATE).retry(few).execute().await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    assert!(error.to_string().contains("others first"), "{error}");
}

#[tokio::test]
async fn a_beginning_that_fails_is_tried_again() {
    let (fake, client) = server().await;
    fake.before_next(
        "BeginTransaction",
        [Step::Fail(Failure::unavailable("not yet"))],
    );
    assert_eq!(update(&client).await.unwrap(), 3_000_000);
    let requests = calls(&fake.take_requests());
    assert_eq!(requests, ["begin, 1", "begin, 1", "run in 1 from \"\", 1"]);

    fake.before_next(
        "BeginTransaction",
        [Step::Fail(Failure::permission_denied("read only"))],
    );
    let error = update(&client).await.unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
    assert_eq!(calls(&fake.requests()), ["begin, 1"]);
}

#[tokio::test]
async fn a_lost_session_is_replaced() {
    let (fake, client) = server().await;
    fake.forget_sessions();
    assert_eq!(update(&client).await.unwrap(), 3_000_000);

    // Also in the middle, where the transaction is gone with it.
    let session = fake.requests().last().unwrap().session().to_owned();
    let lost = Step::Fail(Failure::session_not_found(&session));
    fake.on_query(
        UPDATE,
        Answer::scripts([vec![token("a"), lost], vec![done(8)]]),
    );
    fake.take_requests();
    assert_eq!(update(&client).await.unwrap(), 8);
    let requests = fake.requests();
    let sessions: Vec<_> = requests.iter().map(Request::session).collect();
    assert_eq!(sessions[..2], [&*session, &session]);
    assert_eq!(requests[2].method(), "CreateSession");
    assert!(
        sessions[3..]
            .iter()
            .all(|it| *it != session && *it == sessions[3])
    );
    assert_eq!(requests.len(), 5);
}

#[tokio::test]
async fn what_is_refused() {
    let (fake, client) = server().await;
    fake.on_query(UPDATE, Failure::invalid_argument("no THEN RETURN here"));
    let error = update(&client).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("THEN RETURN"), "{error}");
    assert_eq!(calls(&fake.take_requests()).len(), 2, "once");

    fake.on_query("SELECT 1", Rows::new(["n"], [(1_i64,)]));
    let error = client.partitioned_dml("SELECT 1").execute().await;
    let error = error.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{error:?}");
    assert!(error.to_string().contains("`Client::query`"), "{error}");

    fake.take_requests();
    let twice = client
        .partitioned_dml(UPDATE)
        .param("a", 1_i64)
        .param("A", 2_i64);
    let error = twice.execute().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn a_time_limit_ends_it() {
    let (fake, client) = server().await;
    let limit = Duration::from_millis(150);
    for method in ["BeginTransaction", "ExecuteStreamingSql"] {
        let gate = Gate::new();
        fake.before_next(method, [Step::Wait(gate.clone())]);
        let statement = client.partitioned_dml(UPDATE).timeout(limit);
        let started = Instant::now();
        let error = statement.execute().await.unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded, "{method}");
        assert!(started.elapsed() >= limit - Duration::from_millis(5));
        assert!(started.elapsed() < limit * 20);
        gate.open();
    }
}
