//! Answers to a batch write and to partitioned DML that no sane server gives: nothing panics,
//! nothing hangs, and no group is said to be committed that was not.

use std::time::{Duration, Instant};

use bytes::Bytes;
use googleapis_tonic_google_spanner_v1::google::spanner::v1::BatchWriteResponse;
use prost::Message as _;
use spanner_rows::testing::{Answer, Failure, FakeSpanner, Gate, Message, Request, Rows, Step};
use spanner_rows::{
    BatchWrite, BatchWriteStream, Client, Code, Error, ErrorKind, Mutation, RetrySettings, TypeCode,
};

const UPDATE: &str = "UPDATE Singers SET Active = TRUE WHERE TRUE";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(UPDATE, Rows::changed_at_least(5));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.unwrap();
    fake.take_requests();
    (fake, client)
}

fn groups(client: &Client, count: i64) -> BatchWrite {
    client.batch_write((0..count).map(|id| [Mutation::insert_or_update("T").set("Id", id)]))
}

/// The groups that are committed, those that are not with their codes, and how it ended.
async fn all(mut results: BatchWriteStream) -> (Vec<usize>, Vec<(usize, Code)>, Option<Error>) {
    let (mut committed, mut refused) = (Vec::new(), Vec::new());
    let end = loop {
        match results.next().await {
            Ok(Some(result)) => match result.outcome {
                Ok(_) => committed.push(result.group),
                Err(error) => refused.push((result.group, error.code())),
            },
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(results.next().await.unwrap().is_none(), "it has ended");
    (committed, refused, end)
}

fn answer(indexes: &[i32], code: Option<i32>, seconds: Option<i64>) -> Step {
    let answer = BatchWriteResponse {
        indexes: indexes.to_vec(),
        commit_timestamp: seconds.map(|seconds| prost_types::Timestamp { seconds, nanos: 0 }),
        status: code.map(
            |code| googleapis_tonic_google_spanner_v1::google::rpc::Status {
                code,
                message: "said by the server".to_owned(),
                details: Vec::new(),
            },
        ),
    };
    Step::Raw(answer.encode_to_vec().into())
}

#[tokio::test]
async fn a_failure_of_no_group_is_told() {
    let (fake, client) = server().await;
    fake.on_batch_write([answer(&[1], Some(0), Some(7)), answer(&[], Some(8), None)]);
    let (committed, refused, end) = all(groups(&client, 3).start().unwrap()).await;
    assert_eq!((committed, refused.len()), (vec![1], 0));
    let end = end.unwrap();
    assert_eq!(end.code(), Code::ResourceExhausted, "{end}");
    assert!(
        end.to_string()
            .contains("2 groups unanswered: said by the server"),
        "{end}"
    );
    assert!(end.request_id().is_some());
    // Where the groups have answers, it says nothing more.
    fake.on_batch_write([
        answer(&[], Some(8), None),
        answer(&[0, 1, 2], None, Some(7)),
    ]);
    let (committed, _, end) = all(groups(&client, 3).start().unwrap()).await;
    assert_eq!((committed, end.is_none()), (vec![0, 1, 2], true));
    // Empty answers are nothing.
    fake.on_batch_write([Step::Raw(Bytes::new()), Step::Raw(Bytes::new())]);
    let (committed, _, end) = all(groups(&client, 3).start().unwrap()).await;
    assert!(committed.is_empty());
    assert!(matches!(end.unwrap().kind(), ErrorKind::Protocol(_)));
}

#[tokio::test]
async fn answers_without_a_time_or_with_odd_codes() {
    let (fake, client) = server().await;
    fake.on_batch_write([
        answer(&[0], None, None),
        answer(&[1], Some(0), Some(i64::MAX)),
        answer(&[2], Some(-7), Some(7)),
        answer(&[3], Some(99), None),
        answer(&[4], Some(10), Some(7)),
        answer(&[5, 5, 5], Some(0), Some(7)),
    ]);
    let (committed, refused, end) = all(groups(&client, 6).start().unwrap()).await;
    assert!(end.is_none(), "{end:?}");
    assert_eq!(committed, [5]);
    let expected = [
        (0, Code::Internal),
        (1, Code::Internal),
        (2, Code::Unknown),
        (3, Code::Unknown),
        (4, Code::Aborted),
    ];
    assert_eq!(refused, expected);
    // None of them is sent again.
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn an_index_that_is_none_spoils_its_answer_only() {
    let (fake, client) = server().await;
    for wrong in [&[2, 3][..], &[-1, 2], &[i32::MAX], &[i32::MIN, 0]] {
        fake.on_batch_write([answer(&[0, 0], None, Some(7)), answer(wrong, None, Some(7))]);
        let (committed, refused, end) = all(groups(&client, 3).start().unwrap()).await;
        assert_eq!((committed, refused.len()), (vec![0], 0), "{wrong:?}");
        assert!(matches!(end.unwrap().kind(), ErrorKind::Protocol(_)));
    }
}

/// After a break the indexes count the groups of the second request.
#[tokio::test]
async fn an_index_of_the_first_request_in_the_answer_to_the_second() {
    let (fake, client) = server().await;
    let broken = vec![answer(&[0, 1], None, Some(7)), Step::Disconnect];
    fake.on_batch_write(Answer::scripts([broken, vec![answer(&[2], None, Some(7))]]));
    let (committed, _, end) = all(groups(&client, 3).start().unwrap()).await;
    assert_eq!(committed, [0, 1]);
    let end = end.unwrap();
    assert!(
        end.to_string().contains("group 2, and 1 were sent"),
        "{end}"
    );
}

#[tokio::test]
async fn nothing_is_waited_for_when_all_is_said() {
    for last in [
        Step::Hang,
        Step::Disconnect,
        Step::Fail(Failure::internal("x")),
    ] {
        let (fake, client) = server().await;
        fake.on_batch_write([answer(&[1, 0], None, Some(7)), last]);
        let limit = Duration::from_secs(20);
        let started = Instant::now();
        let write = groups(&client, 2).timeout(limit);
        let (committed, _, end) = all(write.start().unwrap()).await;
        assert_eq!(committed, [1, 0]);
        assert!(end.is_none(), "{end:?}");
        assert!(started.elapsed() < limit / 2);
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn no_groups_and_very_many() {
    let (fake, client) = server().await;
    let (committed, _, end) = all(groups(&client, 0).start().unwrap()).await;
    assert!(committed.is_empty() && end.is_none());
    assert_eq!(fake.requests().len(), 0, "there is nothing to ask");

    const MANY: i32 = 50_000;
    // All of them, backwards, a thousand at a time, and a break in the middle.
    let indexes: Vec<i32> = (0..MANY).rev().collect();
    let mut first: Vec<_> = indexes.chunks(1000).take(25).collect();
    let mut script: Vec<_> = first
        .drain(..)
        .map(|part| answer(part, None, Some(7)))
        .collect();
    script.push(Step::Disconnect);
    let rest: Vec<i32> = (0..MANY / 2).collect();
    fake.on_batch_write(Answer::scripts([
        script,
        vec![answer(&rest, None, Some(7))],
    ]));
    let started = Instant::now();
    let (mut committed, refused, end) = all(groups(&client, MANY.into()).start().unwrap()).await;
    assert!(end.is_none() && refused.is_empty(), "{end:?}");
    committed.sort_unstable();
    assert!(committed.into_iter().eq(0..MANY as usize));
    assert!(started.elapsed() < Duration::from_secs(20));
}

/// Each time the stream gets one group further, and then its session is lost, or it breaks.
#[tokio::test]
async fn breaks_without_end() {
    let (fake, client) = server().await;
    let step = |n: usize| match n % 3 {
        0 => Step::Disconnect,
        1 => Step::Fail(Failure::unavailable("gone")),
        _ => Step::EndWithoutStatus,
    };
    let scripts = (0..30).map(|n| vec![answer(&[0], None, Some(7)), step(n)]);
    fake.on_batch_write(Answer::scripts(scripts.collect::<Vec<_>>()));
    let settings = RetrySettings::new()
        .initial_delay(Duration::from_millis(1))
        .max_attempts(2);
    let write = groups(&client, 30).retry(settings);
    let (committed, _, end) = all(write.start().unwrap()).await;
    assert!(end.is_none(), "{end:?}");
    assert!(committed.into_iter().eq(0..30));
    assert_eq!(fake.requests().len(), 30);
}

/// The stream may be dropped at any time, and another one goes on.
#[tokio::test]
async fn dropped_anywhere() {
    let (fake, client) = server().await;
    for steps in [
        vec![Step::Hang],
        vec![answer(&[0], None, Some(7)), Step::Hang],
        vec![Step::Fail(
            Failure::unavailable("x").retry_after(Duration::from_secs(60)),
        )],
    ] {
        fake.on_batch_write(steps);
        let mut results = groups(&client, 2).start().unwrap();
        let short = Duration::from_millis(50);
        while let Ok(Ok(Some(_))) = tokio::time::timeout(short, results.next()).await {}
        assert!(!results.unanswered().is_empty());
        drop(results);
    }
    fake.on_batch_write([answer(&[0, 1], None, Some(7))]);
    let (committed, _, end) = all(groups(&client, 2).start().unwrap()).await;
    assert_eq!((committed, end.is_none()), (vec![0, 1], true));
}

// Partitioned DML.

fn message() -> Message {
    Message::new().columns([] as [(&str, TypeCode); 0])
}

async fn update(client: &Client) -> Result<i64, Error> {
    let settings = RetrySettings::new().initial_delay(Duration::from_millis(1));
    let dml = client.partitioned_dml(UPDATE).retry(settings);
    dml.timeout(Duration::from_secs(20)).execute().await
}

/// The resume tokens of the statement's requests.
fn tokens(fake: &FakeSpanner) -> Vec<String> {
    let requests = fake.take_requests();
    let statements = requests
        .iter()
        .filter(|it| it.method() != "BeginTransaction");
    let token = |it: &Request| String::from_utf8_lossy(it.resume_token()).into_owned();
    statements.map(token).collect()
}

#[tokio::test]
async fn odd_ends_of_partitioned_dml() {
    let protocol = |error: Error| matches!(error.kind(), ErrorKind::Protocol(_));
    let (fake, client) = server().await;
    // No figures; no message at all.
    fake.on_query(UPDATE, [Step::Message(message())]);
    assert!(protocol(update(&client).await.unwrap_err()));
    fake.on_query(UPDATE, [Step::End]);
    update(&client).await.unwrap_err();
    // Rows, which nobody asked for, and figures behind them.
    let rows = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64);
    fake.on_query(UPDATE, [Step::Message(rows.row_count_lower_bound(7))]);
    assert_eq!(update(&client).await.unwrap(), 7);
    // Figures twice: the last ones are those of the whole.
    fake.on_query(
        UPDATE,
        [
            Step::Message(message().row_count_lower_bound(3).resume_token("a")),
            Step::Message(Message::new().row_count_lower_bound(9)),
        ],
    );
    assert_eq!(update(&client).await.unwrap(), 9);
    // Precommit tokens mean nothing here.
    let token = message()
        .precommit_token("token", 3)
        .row_count_lower_bound(4);
    fake.on_query(UPDATE, [Step::Message(token)]);
    assert_eq!(update(&client).await.unwrap(), 4);
    assert!(fake.requests().iter().all(|it| it.method() != "Commit"));
    // A transaction that has no name.
    fake.before_next("BeginTransaction", [Step::Raw(Bytes::new())]);
    let error = update(&client).await.unwrap_err();
    assert!(error.to_string().contains("no transaction"), "{error}");
    fake.before_next(
        "BeginTransaction",
        [Step::Raw(Bytes::from_static(b"\xff\xff"))],
    );
    assert_eq!(update(&client).await.unwrap_err().code(), Code::Internal);
}

/// Figures that came before a break count only with what covers them.
#[tokio::test]
async fn figures_before_a_break() {
    let (fake, client) = server().await;
    // Covered by a token: the server has nothing more to say.
    let said = Step::Message(message().row_count_lower_bound(6).resume_token("end"));
    fake.on_query(
        UPDATE,
        Answer::scripts([vec![said, Step::Disconnect], vec![Step::End]]),
    );
    assert_eq!(update(&client).await.unwrap(), 6);
    assert_eq!(tokens(&fake), ["", "end"]);
    // Not covered: it is run anew, and says it again.
    let said = Step::Message(message().row_count_lower_bound(6));
    let again = Step::Message(message().row_count_lower_bound(8));
    fake.on_query(
        UPDATE,
        Answer::scripts([vec![said, Step::Disconnect], vec![again]]),
    );
    assert_eq!(update(&client).await.unwrap(), 8);
    assert_eq!(tokens(&fake), ["", ""]);
}

#[tokio::test]
async fn tokens_that_change_and_breaks_without_end() {
    let (fake, client) = server().await;
    let mut scripts: Vec<Vec<Step>> = (0..40)
        .map(|n| {
            let token = Message::new().resume_token(format!("t{n}"));
            let token = if n == 0 {
                message().resume_token("t0")
            } else {
                token
            };
            vec![Step::Message(token), Step::Disconnect]
        })
        .collect();
    scripts.push(vec![Step::Message(Message::new().row_count_lower_bound(1))]);
    fake.on_query(UPDATE, Answer::scripts(scripts));
    assert_eq!(update(&client).await.unwrap(), 1);
    let expected = std::iter::once(String::new()).chain((0..40).map(|n| format!("t{n}")));
    assert!(tokens(&fake).into_iter().eq(expected));
}

#[tokio::test]
async fn aborted_or_lost_for_ever() {
    for lost in [
        Failure::aborted("again"),
        Failure::not_found("Transaction not found: 3"),
    ] {
        let (fake, client) = server().await;
        fake.on_query(
            UPDATE,
            [Step::Message(message().resume_token("a")), Step::Fail(lost)],
        );
        let few = RetrySettings::new()
            .initial_delay(Duration::from_millis(1))
            .max_attempts(7);
        let dml = client.partitioned_dml(UPDATE).retry(few);
        dml.execute().await.unwrap_err();
        // Each run is one in a new transaction, from the start.
        assert_eq!(tokens(&fake), [""; 7]);
    }
}

#[tokio::test]
async fn dropped_partitioned_dml_is_not_taken_up() {
    let (fake, client) = server().await;
    for method in ["BeginTransaction", "ExecuteStreamingSql"] {
        let gate = Gate::new();
        fake.before_next(method, [Step::Wait(gate.clone())]);
        let short = Duration::from_millis(60);
        let dropped = tokio::time::timeout(short, update(&client)).await;
        dropped.unwrap_err();
        gate.open();
        let sent = fake.take_requests().len();
        tokio::time::sleep(short).await;
        assert_eq!(fake.take_requests().len(), 0, "{sent} were sent");
    }
    assert_eq!(update(&client).await.unwrap(), 5);
}
