//! Batch write: what is sent, what comes of each group, and which groups are sent again.

use std::time::{Duration, Instant};

use spanner_rows::testing::{Answer, Failure, FakeSpanner, Gate, Request, Step};
use spanner_rows::{
    BatchWrite, BatchWriteStream, Client, Code, Error, ErrorKind, Mutation, OwnedValue, Priority,
    RetrySettings,
};

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    fake.take_requests();
    (fake, client)
}

fn one(id: i64) -> [Mutation; 1] {
    [Mutation::insert_or_update("T").set("Id", id)]
}

fn groups(client: &Client, count: i64) -> BatchWrite {
    client.batch_write((0..count).map(one))
}

/// The results in short, and how it ended.
async fn all(mut results: BatchWriteStream) -> (Vec<String>, Option<Error>) {
    let mut told = Vec::new();
    loop {
        match results.next().await {
            Ok(Some(result)) => told.push(match result.outcome {
                Ok(timestamp) => {
                    assert!(timestamp.seconds() > 1_600_000_000);
                    format!("{}", result.group)
                }
                Err(error) => format!("{}: {error}", result.group),
            }),
            Ok(None) => return (told, None),
            Err(error) => {
                assert!(results.next().await.unwrap().is_none(), "it has ended");
                return (told, Some(error));
            }
        }
    }
}

/// The ids in the groups of each request, with the last number of the request's id.
fn sent(requests: &[Request]) -> Vec<String> {
    let sent = requests.iter().map(|request| {
        let id = request.header("x-goog-spanner-request-id").unwrap();
        let attempt = id.rsplit('.').next().unwrap();
        let groups =
            request
                .mutation_groups()
                .into_iter()
                .map(|group| match &group[0].rows[0][0] {
                    OwnedValue::String(id) => id.clone(),
                    other => panic!("{other:?}"),
                });
        let groups = groups.collect::<Vec<_>>().join(" ");
        format!("{} {groups}, {attempt}", request.method())
    });
    sent.collect()
}

fn gone() -> Step {
    Step::Fail(Failure::unavailable("gone"))
}

#[tokio::test]
async fn fields_and_headers() {
    let (fake, client) = server().await;
    let first = [
        Mutation::insert("Singers")
            .set("SingerId", 1_i64)
            .set("Name", "Marc"),
        Mutation::delete("Albums").all(),
    ];
    let second = [
        Mutation::delete("Albums").key(7_i64),
        Mutation::insert("Albums").columns(["Id"]),
    ];
    let write = client
        .batch_write([first, second])
        .priority(Priority::Low)
        .transaction_tag("load")
        .exclude_from_change_streams(true)
        .timeout(Duration::from_secs(50));
    let results = write.start().unwrap();
    assert_eq!(fake.requests().len(), 0, "nothing is sent yet");
    assert_eq!(all(results).await.0, ["0", "1"]);

    let requests = fake.take_requests();
    let [request] = &requests[..] else {
        panic!("{requests:?}");
    };
    let sent = request.mutation_groups();
    let kinds = sent.iter().map(|group| {
        let kinds = group
            .iter()
            .map(|it| format!("{} {}", it.operation, it.table));
        kinds.collect::<Vec<_>>()
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            vec!["insert Singers", "delete Albums"],
            vec!["delete Albums"]
        ]
    );
    assert_eq!(sent[0][0].columns, ["SingerId", "Name"]);
    let text = |text: &str| OwnedValue::String(text.to_owned());
    assert_eq!(sent[0][0].rows, [[text("1"), text("Marc")]]);
    assert!(sent[0][1].all_keys);
    assert_eq!(sent[1][0].keys, [[text("7")]]);
    assert!(request.excluded_from_change_streams());
    assert_eq!(request.priority(), Some(Priority::Low));
    assert_eq!(request.transaction_tag(), "load");
    let header = |name| request.header(name).unwrap_or_default();
    assert_eq!(header("x-goog-spanner-route-to-leader"), "true");
    assert_eq!(header("google-cloud-resource-prefix"), fake.database());
    let params = header("x-goog-request-params");
    assert!(params.starts_with("session=projects%2Ffake"), "{params}");
    assert!(header("grpc-timeout").ends_with('m'));

    // Nothing that was not asked for.
    all(groups(&client, 1).start().unwrap()).await;
    let requests = fake.take_requests();
    assert!(!requests[0].excluded_from_change_streams());
    assert_eq!(requests[0].priority(), None);
    assert_eq!(requests[0].transaction_tag(), "");
    assert_eq!(requests[0].header("grpc-timeout"), None);

    // No groups, no call.
    assert_eq!(all(groups(&client, 0).start().unwrap()).await.0.len(), 0);
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn each_group_has_its_result() {
    let (fake, client) = server().await;
    let exists = Failure::already_exists("Row [3] in table T already exists");
    fake.on_batch_write([
        Step::committed([4, 0]),
        Step::not_committed([1, 3], exists),
        Step::committed([2]),
    ]);
    let mut results = groups(&client, 5).start().unwrap();
    assert_eq!(results.unanswered(), [0, 1, 2, 3, 4]);
    let first = results.next().await.unwrap().unwrap();
    assert_eq!(first.group, 4);
    let mut seen = vec![(4, None)];
    while let Some(result) = results.next().await.unwrap() {
        let error = result.outcome.err();
        if let Some(error) = &error {
            let ErrorKind::Status { status, .. } = error.kind() else {
                panic!("{error:?}");
            };
            assert!(status.message().contains("Row [3] in table T"));
            assert!(status.request_id().unwrap().ends_with(".1"));
        }
        seen.push((result.group, error.map(|error| error.code())));
    }
    let exists = Some(Code::AlreadyExists);
    assert_eq!(
        seen,
        [(4, None), (0, None), (1, exists), (3, exists), (2, None)]
    );
    assert_eq!(results.unanswered(), [0; 0]);
    assert_eq!(sent(&fake.requests()), ["BatchWrite 0 1 2 3 4, 1"]);
}

#[tokio::test]
async fn only_groups_without_an_answer_are_sent_again() {
    let (fake, client) = server().await;
    let aborted = Failure::aborted("others first");
    let ends = [
        gone(),
        Step::Reset(2),
        Step::Disconnect,
        Step::EndWithoutStatus,
    ];
    for end in ends {
        fake.on_batch_write(Answer::scripts([
            vec![end.clone()],
            vec![
                Step::committed([1]),
                Step::not_committed([4], aborted.clone()),
                end.clone(),
            ],
            // Of the groups 0, 2, 3.
            vec![Step::committed([2]), end.clone()],
            vec![Step::committed([1]), Step::committed([0])],
        ]));
        let (told, error) = all(groups(&client, 5).start().unwrap()).await;
        assert!(error.is_none(), "{end:?}: {error:?}");
        assert_eq!(
            told,
            ["1", "4: ABORTED: others first", "3", "2", "0"],
            "{end:?}"
        );
        assert_eq!(
            sent(&fake.take_requests()),
            [
                "BatchWrite 0 1 2 3 4, 1",
                "BatchWrite 0 1 2 3 4, 2",
                "BatchWrite 0 2 3, 3",
                "BatchWrite 0 2, 4"
            ],
            "{end:?}"
        );
    }

    // What comes behind the last answer means nothing.
    for end in [gone(), Step::Fail(Failure::internal("odd"))] {
        fake.on_batch_write([Step::committed([0, 1]), end]);
        let (told, error) = all(groups(&client, 2).start().unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(told, ["0", "1"]);
        assert_eq!(fake.take_requests().len(), 1);
    }
}

#[tokio::test]
async fn nothing_is_sent_again_unless_it_may_be() {
    let (fake, client) = server().await;
    fake.on_batch_write([Step::committed([1]), gone()]);
    let write = groups(&client, 3).retry(RetrySettings::never());
    let mut results = write.start().unwrap();
    assert_eq!(results.next().await.unwrap().unwrap().group, 1);
    let error = results.next().await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert_eq!(results.unanswered(), [0, 2]);
    assert!(results.next().await.unwrap().is_none());
    assert_eq!(fake.take_requests().len(), 1);

    for failure in [
        Failure::invalid_argument("no such table"),
        Failure::resource_exhausted("too much"),
        Failure::aborted("the whole of it"),
    ] {
        fake.on_batch_write([Step::Fail(failure)]);
        let (told, error) = all(groups(&client, 2).start().unwrap()).await;
        assert_eq!((told.len(), error.is_some()), (0, true));
        assert_eq!(fake.take_requests().len(), 1);
    }

    fake.on_batch_write([Step::Fail(Failure::unimplemented("BatchWrite"))]);
    let (_, error) = all(groups(&client, 2).start().unwrap()).await;
    let text = error.unwrap().to_string();
    assert!(text.contains("by `Client::write`"), "{text}");
}

/// What a budget is for: progress renews it, and no progress uses it up.
#[tokio::test]
async fn the_budget_counts_from_the_last_progress() {
    let (fake, client) = server().await;
    let few = RetrySettings::new().max_attempts(2);
    let scripts = (0..6).map(|_| [Step::committed([0]), gone()]);
    fake.on_batch_write(Answer::scripts(scripts));
    let write = groups(&client, 6).retry(few.clone());
    let (told, error) = all(write.start().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(told, ["0", "1", "2", "3", "4", "5"]);

    fake.take_requests();
    fake.on_batch_write([gone()]);
    let (_, error) = all(groups(&client, 6).retry(few).start().unwrap()).await;
    assert_eq!(
        error.unwrap().to_string(),
        "UNAVAILABLE: gone (after 2 attempts)"
    );
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn a_lost_session_is_replaced_once() {
    let (fake, client) = server().await;
    fake.forget_sessions();
    let (told, error) = all(groups(&client, 2).start().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(told, ["0", "1"]);
    let requests = fake.take_requests();
    let methods: Vec<_> = requests.iter().map(Request::method).collect();
    assert_eq!(methods, ["BatchWrite", "CreateSession", "BatchWrite"]);

    let lost = Failure::session_not_found(requests[2].session());
    fake.on_batch_write([Step::Fail(lost)]);
    let (_, error) = all(groups(&client, 2).start().unwrap()).await;
    assert_eq!(error.unwrap().code(), Code::NotFound);
}

#[tokio::test]
async fn answers_that_cannot_be() {
    let (fake, client) = server().await;
    let cases = [
        (vec![Step::committed([0])], "nothing of 1 of the groups"),
        (vec![Step::committed([0, 2])], "group 2, and 2 were sent"),
        (vec![Step::committed([-1])], "group -1"),
        (
            vec![Step::Raw(bytes::Bytes::from_static(b"\xff"))],
            "cannot be read",
        ),
    ];
    for (script, expected) in cases {
        fake.on_batch_write(script);
        let (_, error) = all(groups(&client, 2).start().unwrap()).await;
        let error = error.unwrap();
        assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    // Said twice: the first counts.
    let twice = Step::not_committed([0], Failure::aborted("late"));
    fake.on_batch_write([Step::committed([0]), twice, Step::committed([1])]);
    assert_eq!(all(groups(&client, 2).start().unwrap()).await.0, ["0", "1"]);
}

#[tokio::test]
async fn groups_that_make_no_sense() {
    let (fake, client) = server().await;
    let nothing = || Mutation::insert("T").columns(["Id"]).values([] as [i64; 0]);
    let refused = |write: BatchWrite| write.start().unwrap_err().to_string();
    let text = refused(client.batch_write([vec![one(1)[0].clone()], vec![]]));
    assert_eq!(
        text,
        "the group 1 of a batch write changes nothing: leave it out"
    );
    let text = refused(client.batch_write([[nothing()]]));
    assert!(text.starts_with("the group 0"), "{text}");
    let text = refused(client.batch_write([[Mutation::delete("T")]]));
    assert!(text.contains("does not say which rows"), "{text}");
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn time_limits_and_dropped_futures() {
    let (fake, client) = server().await;
    let gate = Gate::new();
    fake.on_batch_write([
        Step::committed([0]),
        Step::Wait(gate.clone()),
        Step::committed([1]),
    ]);
    // A future that is dropped loses nothing.
    let mut results = groups(&client, 2).start().unwrap();
    for _ in 0..5 {
        let short = tokio::time::timeout(Duration::from_millis(3), results.next()).await;
        if let Ok(result) = short {
            assert_eq!(result.unwrap().unwrap().group, 0);
        }
    }
    gate.reached().await;
    gate.open();
    let mut last = None;
    while let Some(result) = results.next().await.unwrap() {
        last = Some(result.group);
    }
    assert_eq!(last, Some(1));
    assert_eq!(fake.requests().len(), 1);

    let limit = Duration::from_millis(120);
    let writes = [
        groups(&client, 2).timeout(limit),
        groups(&client, 2).retry(RetrySettings::new().idle_limit(limit)),
    ];
    for (write, expected) in writes.into_iter().zip(["longer than 120ms", "idle limit"]) {
        fake.on_batch_write([Step::committed([0]), Step::Hang]);
        let started = Instant::now();
        let (told, error) = all(write.start().unwrap()).await;
        let error = error.unwrap();
        assert_eq!((error.code(), told.len()), (Code::DeadlineExceeded, 1));
        assert!(error.to_string().contains(expected), "{error}");
        assert!(started.elapsed() < limit * 20);
    }
}

/// Each answer is a sign of life.
#[tokio::test]
async fn an_answer_in_time_is_enough() {
    let (fake, client) = server().await;
    let (wait, limit) = (Duration::from_millis(200), Duration::from_millis(500));
    let steps = (0..4).flat_map(|group| [Step::Delay(wait), Step::committed([group])]);
    fake.on_batch_write(steps.collect::<Vec<_>>());
    let write = groups(&client, 4).retry(RetrySettings::new().idle_limit(limit));
    let (told, error) = all(write.start().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(told.len(), 4);
}

/// It is a stream of the `futures` crates, too.
#[tokio::test]
async fn as_a_stream() {
    use futures_core::Stream;
    let (_fake, client) = server().await;
    let mut results = std::pin::pin!(groups(&client, 3).start().unwrap());
    let mut seen = Vec::new();
    while let Some(result) = std::future::poll_fn(|cx| results.as_mut().poll_next(cx)).await {
        seen.push(result.unwrap().group);
    }
    assert_eq!(seen, [0, 1, 2]);
}
