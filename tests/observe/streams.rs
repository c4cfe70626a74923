//! Queries, reads and partitions.

use std::time::Duration;

use spanner_rows::testing::{Answer, Failure, FakeSpanner, Message, Rows, Step};
use spanner_rows::{Client, PartitionOptions, RetrySettings, TypeCode};

use super::{Observed, SECRET, observed, observed_with};

const SQL: &str = "SELECT n FROM Numbers WHERE text = @text";

fn message(numbers: impl IntoIterator<Item = i64>) -> Message {
    let message = Message::new().columns([("n", TypeCode::Int64)]);
    numbers.into_iter().fold(message, Message::value)
}

/// Messages as steps, and how long they are.
fn sent(messages: &[Message]) -> (Vec<Step>, u64) {
    let bytes = messages.iter().map(|message| message.encode().len() as u64);
    let steps = messages.iter().cloned().map(Step::Message);
    (steps.collect(), bytes.sum())
}

async fn all(client: &Client) -> Result<Vec<(i64,)>, spanner_rows::Error> {
    let query = client.query(SQL).param("text", SECRET);
    let mut rows = query.request_tag("nightly").rows::<(i64,)>().await?;
    rows.try_collect().await
}

#[test]
fn a_query_is_one_span() {
    observed(async |it: &Observed| {
        let (steps, bytes) = sent(&[message([1, 2]), message([3]).resume_token("a")]);
        it.fake.on_query(SQL, Answer::script(steps));
        assert_eq!(all(&it.client).await.unwrap().len(), 3);

        let span = it.log.span("spanner.query");
        assert!(span.is_closed());
        assert_eq!(span.parent, None);
        let request = &it.fake.take_requests()[0];
        let id = request.header("x-goog-spanner-request-id").unwrap();
        let (id, _) = id.rsplit_once('.').unwrap();
        let expected = [
            ("db.namespace", it.fake.database()),
            ("db.operation.name", "query"),
            ("db.response.returned_rows", "3"),
            ("db.system.name", "gcp.spanner"),
            ("otel.kind", "client"),
            ("rpc.method", "ExecuteStreamingSql"),
            ("spanner.attempts", "1"),
            ("spanner.bytes", &bytes.to_string()),
            ("spanner.messages", "2"),
            ("spanner.outcome", "end"),
            ("spanner.request_id", id),
            ("spanner.request_tag", "nightly"),
            ("spanner.resumes", "0"),
        ];
        let fields: Vec<_> = span.fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        assert_eq!(fields, expected);
        assert_eq!(
            it.log.events_in("spanner.query"),
            [
                "DEBUG request sent attempt=1 resumed=false",
                "TRACE first row",
                "DEBUG request over outcome=end rows=3",
            ]
        );
    });
}

#[test]
fn what_was_sent_is_counted() {
    observed(async |it: &Observed| {
        let (steps, bytes) = sent(&[
            message([1, 2]),
            message([3]).resume_token("a"),
            message([4]),
        ]);
        it.fake.on_query(SQL, Answer::script(steps));
        for _ in 0..3 {
            all(&it.client).await.unwrap();
        }
        let counts = &it.counts;
        assert_eq!(counts.get("rows"), 3 * 4);
        assert_eq!(counts.get("messages"), 3 * 3);
        assert_eq!(counts.get("bytes"), 3 * bytes);
        assert_eq!(counts.get("requests{operation=query,outcome=end}"), 3);
        assert_eq!(counts.all("retries"), []);
        assert_eq!(counts.get("resumes"), 0);
        let durations = counts.times("duration{operation=query,outcome=end}");
        assert_eq!(durations.len(), 3);
        assert_eq!(counts.times("time_to_first_row{operation=query}").len(), 3);
    });
}

#[test]
fn texts_are_told_when_asked_for() {
    let failure = || Failure::invalid_argument("the words of the server");
    let words = |it: &Observed| format!("{:?}", it.log).contains("the words of the server");
    observed(async |it: &Observed| {
        it.fake.on_query(SQL, failure());
        all(&it.client).await.unwrap_err();
        assert_eq!(it.log.span("spanner.query").get("db.query.text"), "");
        assert!(!words(it));
    });
    observed_with(
        |client| client.trace_texts(true),
        async |it: &Observed| {
            it.fake.on_query(SQL, failure());
            all(&it.client).await.unwrap_err();
            assert_eq!(it.log.span("spanner.query").get("db.query.text"), SQL);
            assert!(words(it));
        },
    );
}

#[test]
fn a_read_names_its_table() {
    observed(async |it: &Observed| {
        it.fake.on_read("Numbers", Rows::new(["n"], [(1_i64,)]));
        let read = it.client.read::<(i64,)>("Numbers").columns(["n"]);
        read.key(SECRET).one().await.unwrap();
        let span = it.log.span("spanner.read");
        assert_eq!(span.get("db.collection.name"), "Numbers");
        assert_eq!(span.get("rpc.method"), "StreamingRead");
        assert_eq!(span.get("spanner.outcome"), "end");
        assert_eq!(it.counts.get("requests{operation=read,outcome=end}"), 1);
    });
}

#[test]
fn the_span_of_the_program_is_the_parent() {
    observed(async |it: &Observed| {
        it.fake.on_query(SQL, message([1]));
        let program = tracing::info_span!("of_the_program");
        let work = tracing::Instrument::instrument(all(&it.client), program);
        work.await.unwrap();
        assert_eq!(it.log.span("spanner.query").parent, Some("of_the_program"));
    });
}

#[test]
fn a_stream_ends_at_its_end_and_not_at_the_return_of_the_call() {
    observed(async |it: &Observed| {
        let wait = Duration::from_millis(60);
        let steps = [
            Step::Message(message([1]).resume_token("a")),
            Step::Delay(wait),
            Step::Message(message([2]).resume_token("b")),
        ];
        it.fake.on_query(SQL, steps);
        let query = it.client.query(SQL).param("text", SECRET);
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        rows.next().await.unwrap();
        assert!(!it.log.span("spanner.query").is_closed());
        assert_eq!(
            it.counts.times("time_to_first_row{operation=query}").len(),
            1
        );
        assert_eq!(it.counts.all("requests{operation=query"), []);
        while rows.next().await.unwrap().is_some() {}
        assert_eq!(it.log.span("spanner.query").get("spanner.outcome"), "end");

        let first = it.counts.times("time_to_first_row{operation=query}")[0];
        let all = it.counts.times("duration{operation=query,outcome=end}")[0];
        let wait = wait.as_secs_f64();
        assert!(all >= wait && all < wait + 5.0, "{all} s");
        assert!(first < all - wait / 2.0, "{first} s of {all} s");
    });
}

#[test]
fn a_stream_that_is_dropped_says_so() {
    observed(async |it: &Observed| {
        it.fake.on_query(
            SQL,
            [Step::Message(message([1]).resume_token("a")), Step::Hang],
        );
        let query = it.client.query(SQL).param("text", SECRET);
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        rows.next().await.unwrap();
        drop(rows);
        let span = it.log.span("spanner.query");
        assert!(span.is_closed());
        assert_eq!(span.get("spanner.outcome"), "dropped");
        assert_eq!(span.get("db.response.returned_rows"), "1");
        assert_eq!(span.get("error.type"), "");
        assert_eq!(
            it.counts.get("requests{operation=query,outcome=dropped}"),
            1
        );
        let times = it.counts.times("duration{operation=query,outcome=dropped}");
        assert_eq!(times.len(), 1);
    });
}

#[test]
fn what_is_held_back_is_shown_and_given_back() {
    observed(async |it: &Observed| {
        let first = [Step::Message(message([1, 2])), Step::Hang];
        it.fake.on_query(SQL, first);
        let query = it.client.query(SQL).param("text", SECRET);
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_millis(20), rows.next());
        assert!(waiting.await.is_err(), "no token came");
        let held = it.counts.get("held_bytes");
        assert!(held >= message([1, 2]).encode().len() as u64, "{held}");
        assert_eq!(it.counts.get("rows"), 0, "none is released");
        drop(rows);
        assert_eq!(it.counts.get("held_bytes"), 0);
        assert_eq!(it.counts.most("held_bytes"), held);
    });
}

#[test]
fn a_resume_is_an_event_and_is_counted() {
    observed(async |it: &Observed| {
        let scripts = [
            vec![
                Step::Message(message([1]).resume_token("a")),
                Step::Message(message([2])),
                Step::Fail(Failure::unavailable(SECRET)),
            ],
            vec![Step::Message(message([2, 3]))],
        ];
        it.fake.on_query(SQL, Answer::scripts(scripts));
        assert_eq!(all(&it.client).await.unwrap(), [(1,), (2,), (3,)]);
        assert_eq!(
            it.log.events_in("spanner.query"),
            [
                "DEBUG request sent attempt=1 resumed=false",
                "TRACE first row",
                "DEBUG attempt failed, another one follows attempt=1 cause=unavailable code=UNAVAILABLE resumed=true",
                "DEBUG request sent attempt=2 resumed=true",
                "DEBUG request over outcome=end rows=3",
            ]
        );
        let span = it.log.span("spanner.query");
        assert_eq!(span.get("spanner.attempts"), "2");
        assert_eq!(span.get("spanner.resumes"), "1");
        assert_eq!(span.get("spanner.messages"), "3");
        assert_eq!(it.counts.get("resumes"), 1);
        assert_eq!(it.counts.get("retries{cause=unavailable}"), 1);
        assert_eq!(it.counts.get("rows"), 3, "what was dropped does not count");
        assert_eq!(it.counts.get("messages"), 3);
        assert_eq!(it.counts.get("held_bytes"), 0);
    });
}

#[test]
fn retries_are_counted_by_cause() {
    let wait = Duration::from_millis(1);
    let causes = [
        ("unavailable", Step::Fail(Failure::unavailable("later"))),
        ("connection", Step::Disconnect),
        (
            "connection",
            Step::Fail(Failure::internal("stream terminated by RST_STREAM")),
        ),
        (
            "resource_exhausted",
            Step::Fail(Failure::resource_exhausted("busy").retry_after(wait)),
        ),
    ];
    for (cause, step) in causes {
        observed(async |it: &Observed| {
            let rows = Rows::new(["n"], [(1_i64,)]).interrupt(1, 0, step.clone());
            it.fake.on_query(SQL, rows);
            all(&it.client).await.unwrap();
            let counted = it.counts.all("retries");
            assert_eq!(counted, [(format!("retries{{cause={cause}}}"), 1)]);
            assert_eq!(it.counts.get("resumes"), 0, "there was no token");
            assert_eq!(it.log.span("spanner.query").get("spanner.attempts"), "2");
        });
    }
}

/// The level of the event about the error, and the fields of the span.
async fn failing(it: &Observed, answer: impl Into<Answer>) -> (String, Vec<String>) {
    it.fake.on_query(SQL, answer);
    let error = all(&it.client).await.unwrap_err();
    let span = it.log.span("spanner.query");
    assert_eq!(span.get("spanner.outcome"), "error");
    assert_eq!(span.get("otel.status_code"), "ERROR");
    assert_eq!(
        span.get("db.response.status_code"),
        error.code().to_string()
    );
    assert_eq!(it.counts.get("requests{operation=query,outcome=error}"), 1);
    let events = it.log.events_in("spanner.query");
    let failed = events.iter().find(|event| event.contains("request failed"));
    let id = error.request_id().map(str::to_owned);
    let told = it.log.events().into_iter();
    let mut told = told.filter_map(|event| event.fields.get("request_id").cloned());
    assert_eq!(told.next(), id);
    (failed.unwrap().clone(), events)
}

#[test]
fn errors_are_as_loud_as_they_deserve() {
    let cases = [
        (
            Answer::from(Failure::invalid_argument(SECRET)),
            "WARN request failed code=INVALID_ARGUMENT error.type=status",
        ),
        (
            Failure::internal(SECRET).into(),
            "ERROR request failed code=INTERNAL error.type=status",
        ),
        (
            Failure::cancelled(SECRET).into(),
            "DEBUG request failed code=CANCELLED error.type=status",
        ),
        (
            Rows::new(["n"], [(SECRET,)]).into(),
            "WARN request failed code=FAILED_PRECONDITION error.type=bind",
        ),
        (
            Answer::script([Step::Raw(vec![0xff_u8, 0xff].into())]),
            "ERROR request failed code=INTERNAL error.type=wire",
        ),
    ];
    for (answer, expected) in cases {
        observed(async |it: &Observed| {
            let (told, _) = failing(it, answer.clone()).await;
            assert_eq!(told, expected);
        });
    }
}

#[test]
fn what_is_given_up_after_retries_is_a_warning() {
    let twice = |client: spanner_rows::ClientBuilder| {
        let retry = RetrySettings::default().initial_delay(Duration::from_millis(1));
        client.retry(retry.max_attempts(2))
    };
    observed_with(twice, async |it: &Observed| {
        let (told, events) = failing(it, Failure::unavailable(SECRET)).await;
        assert_eq!(
            told,
            "WARN request failed code=UNAVAILABLE error.type=status"
        );
        let again = events.iter().filter(|event| event.contains("another one"));
        assert!(again.clone().all(|event| event.starts_with("DEBUG")));
        assert_eq!(again.count(), 1);
        assert_eq!(it.log.span("spanner.query").get("spanner.attempts"), "2");
    });
}

#[test]
fn an_error_of_one_row_does_not_end_the_stream() {
    observed(async |it: &Observed| {
        let message = Message::new()
            .columns([("n", TypeCode::Int64)])
            .value("no number")
            .value(2_i64);
        it.fake.on_query(SQL, message);
        let query = it.client.query(SQL).param("text", SECRET);
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        assert!(rows.next().await.unwrap_err().is_row_error());
        assert!(rows.next().await.unwrap().is_some());
        assert!(rows.next().await.unwrap().is_none());
        assert_eq!(it.log.span("spanner.query").get("spanner.outcome"), "end");
        assert_eq!(it.counts.get("rows"), 2);
    });
}

#[test]
fn partitions_and_each_of_their_reads_are_requests() {
    observed(async |it: &Observed| {
        let rows = Rows::new(["n"], (0..10_i64).map(|n| (n,)));
        it.fake.on_query(SQL, rows);
        let query = it.client.query(SQL).param("text", SECRET);
        let options = PartitionOptions::new().max_partitions(2);
        let partitions = query.partitions(options).await.unwrap();
        assert_eq!(partitions.len(), 2);
        for partition in &partitions {
            let read = it.client.read_partition(partition).rows::<(i64,)>();
            let mut rows = read.await.unwrap();
            rows.for_each(|_| {}).await.unwrap();
        }
        for operation in ["begin", "partition_query"] {
            let name = format!("spanner.{operation}");
            assert_eq!(it.log.span(&name).get("spanner.outcome"), "end");
            let counted = format!("requests{{operation={operation},outcome=end}}");
            assert_eq!(it.counts.get(&counted), 1);
        }
        let reads = "requests{operation=read_partition,outcome=end}";
        assert_eq!(it.counts.get(reads), 2);
        assert_eq!(it.counts.get("rows"), 10);
    });
}

#[test]
fn every_number_is_explained() {
    observed(async |it: &Observed| {
        let scripts = [
            vec![
                Step::Message(message([1]).resume_token("a")),
                Step::Message(message([2])),
                Step::Fail(Failure::unavailable("later")),
            ],
            vec![],
        ];
        it.fake.on_query(SQL, Answer::scripts(scripts));
        all(&it.client).await.unwrap();
        let (used, described) = it.counts.names();
        assert_eq!(used, described);
    });
}

#[test]
fn a_client_works_when_nobody_listens() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake = FakeSpanner::start().await;
        fake.on_query(SQL, message([1]));
        let client = Client::builder(fake.database()).endpoint(fake.endpoint());
        let client = client.connect().await.unwrap();
        assert_eq!(all(&client).await.unwrap(), [(1,)]);
    });
}
