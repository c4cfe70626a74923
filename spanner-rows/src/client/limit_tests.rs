//! The server ends a call a moment before the time of the request is over on this side.

use std::time::Duration;

use super::Client;
use super::mutation::Mutation;
use super::partition::PartitionOptions;
use super::test_transport::{Recorder, SESSION, session};
use crate::error::{Code, Error, Status};
use crate::transport::Method;

/// How long the transport of the tests takes for each call.
const ANSWER: Duration = Duration::from_millis(100);

/// Everything but the session fails with this code.
async fn client(code: Code) -> Client {
    let recorder = Recorder::new(move |_, call| match call.method {
        Method::CreateSession => Ok(vec![session(SESSION)]),
        _ => Err(Status::new(code, "ended by the server")),
    });
    let client = recorder.client();
    client.session().await.unwrap();
    client
}

/// Each way of asking, with its time.
async fn ask(client: &Client, what: u32, time: Duration) -> Error {
    let query = client.query("SELECT 1").timeout(time);
    let asked = match what {
        0 => query.rows::<(i64,)>().await.map(drop),
        1 => query
            .partitions(PartitionOptions::default())
            .await
            .map(drop),
        2 => {
            let write = client.write([Mutation::delete("T").all()]);
            write.timeout(time).await.map(drop)
        }
        3 => {
            let run = client.transaction().timeout(time);
            run.run(async |tx| {
                tx.batch_dml([tx.dml("DELETE FROM T WHERE TRUE")]).await?;
                Ok(())
            })
            .await
        }
        4 => {
            let groups = client.batch_write([[Mutation::delete("T").all()]]);
            let mut results = groups.timeout(time).start().unwrap();
            results.next().await.map(drop)
        }
        _ => {
            let dml = client.partitioned_dml("DELETE FROM T WHERE TRUE");
            dml.timeout(time).execute().await.map(drop)
        }
    };
    asked.expect_err("everything fails")
}

#[tokio::test(start_paused = true)]
async fn its_own_words_for_the_end_of_the_time_are_understood() {
    let moment = Duration::from_millis(1);
    for what in 0..6 {
        for code in [Code::Cancelled, Code::DeadlineExceeded, Code::Unavailable] {
            let client = client(code).await;
            let error = ask(&client, what, ANSWER + moment).await;
            assert_eq!(error.code(), Code::DeadlineExceeded, "{what}: {error}");
            assert!(error.to_string().contains("its timeout"), "{what}: {error}");
            let cause = error.grpc_status().unwrap().cause();
            let expected = (code != Code::DeadlineExceeded).then_some(code);
            assert_eq!(cause.map(Status::code), expected, "{what}: {error}");
        }
        // Long before the end it is a failure like others; and whatever is wrong with the
        // request is told at any time.
        let early = client(Code::Cancelled).await;
        let error = ask(&early, what, ANSWER * 3).await;
        assert_eq!(error.code(), Code::Cancelled, "{what}: {error}");
        let wrong = client(Code::InvalidArgument).await;
        let error = ask(&wrong, what, ANSWER + moment).await;
        assert_eq!(error.code(), Code::InvalidArgument, "{what}: {error}");
    }
}
