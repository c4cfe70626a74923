//! Spans, events and counters (features `tracing` and `metrics`): a subscriber and a recorder
//! that keep everything, and what they are told of requests to a fake Spanner.
//!
//! | file | what |
//! |---|---|
//! | `log` | the subscriber |
//! | `counts` | the recorder |
//! | `streams` | queries, reads and partitions |
//! | `writes` | transactions, commits, batch write, partitioned DML |
//! | `sessions` | sessions, headers of the program, columns that are not read |

mod counts;
mod log;
mod sessions;
mod streams;
mod writes;

use std::time::Duration;

use spanner_rows::testing::FakeSpanner;
use spanner_rows::{Client, ClientBuilder, RetrySettings};

use counts::Counts;
use log::Log;

/// What no span, event or label may ever have in it.
const SECRET: &str = "s3cr3t-value";

/// A client of a fake Spanner, and all that is told of it.
struct Observed {
    fake: FakeSpanner,
    client: Client,
    log: Log,
    counts: Counts,
}

/// Runs a test on one thread, which is the one that is observed.
fn observed(test: impl AsyncFnOnce(&Observed)) {
    observed_with(
        |client| client,
        async |it: &Observed| {
            test(it).await;
            let spans = it.log.spans();
            let mut ours = spans.iter().filter(|it| it.name.starts_with("spanner."));
            assert!(ours.all(|span| span.entered == 0), "{spans:?}");
        },
    );
}

fn observed_with(
    settings: impl FnOnce(ClientBuilder) -> ClientBuilder,
    test: impl AsyncFnOnce(&Observed),
) {
    let (log, counts) = (Log::default(), Counts::default());
    let recorder = counts.clone();
    let _recorder = metrics::set_default_local_recorder(&recorder);
    let _subscriber = tracing::subscriber::set_default(log.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let fake = FakeSpanner::start().await;
        let quickly = RetrySettings::default().initial_delay(Duration::from_millis(1));
        let client = Client::builder(fake.database())
            .endpoint(fake.endpoint())
            .retry(quickly);
        let client = settings(client).connect().await.expect("all are taken");
        fake.take_requests();
        let observed = Observed {
            fake,
            client,
            log,
            counts,
        };
        test(&observed).await;
        let everything = format!("{:?} {:?}", observed.log, observed.counts);
        assert!(!everything.contains(SECRET), "{everything}");
    });
}
