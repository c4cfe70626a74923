//! What was interrupted goes on: the same parts, the same timestamp, no row twice.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use export::export::Progress;
use export::manifest::Manifest;
use export::source::{Source, TABLE};
use export::verify::verify;
use spanner_rows::Mutation;
use spanner_rows::testing::{Emulator, Failure, Request, Step};

use crate::support::{Folder, export, run};

/// Partitions that were read since the last call.
fn parts_read(source: &Source) -> usize {
    let requests = source.fake_server().unwrap().take_requests();
    let part = |request: &&Request| {
        request.method() == "ExecuteStreamingSql" && !request.partition_token().is_empty()
    };
    requests.iter().filter(part).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_where_it_failed() {
    let source = Source::fake(2_000).await.unwrap();
    let fake = source.fake_server().unwrap();
    let folder = Folder::new();
    let mut export = export(&folder);
    export.parallel = 1;
    // Two parts come, then the service says no.
    for _ in 0..2 {
        fake.before_next("ExecuteStreamingSql", []);
    }
    fake.before_next(
        "ExecuteStreamingSql",
        [Step::Fail(Failure::permission_denied("not now"))],
    );
    let error = run(&export, &source.client).await.unwrap_err().to_string();
    assert!(
        error.contains("not now") && error.contains("goes on from there"),
        "{error}"
    );
    parts_read(&source);

    // A crash while a line was written, and one while a file was.
    let mut done = std::fs::OpenOptions::new()
        .append(true)
        .open(folder.path().join("done.jsonl"))
        .unwrap();
    done.write_all(b"{\"part\":5,\"ro").unwrap();
    std::fs::write(folder.path().join("part-00006.parquet.tmp"), "half").unwrap();
    // And a file that somebody took away.
    std::fs::remove_file(folder.path().join(Manifest::file_name(0))).unwrap();

    let report = run(&export, &source.client).await.unwrap();
    assert_eq!((report.taken_over, report.rows()), (1, 2_000));
    assert_eq!(parts_read(&source), 7);
    let sum = verify(
        &source.client,
        &report.manifest,
        folder.path(),
        &report.parts,
    );
    assert_eq!(sum.await.unwrap().rows, 2_000);
    assert!(
        !folder.files().iter().any(|name| name.ends_with(".tmp")),
        "{:?}",
        folder.files()
    );

    // Done is done.
    let again = run(&export, &source.client).await.unwrap();
    assert_eq!((again.taken_over, again.rows()), (8, 2_000));
    assert_eq!(
        again.manifest.read_timestamp,
        report.manifest.read_timestamp
    );
    assert_eq!(parts_read(&source), 0);

    // Anew means all of it, at another timestamp.
    export.restart = true;
    let anew = run(&export, &source.client).await.unwrap();
    assert_eq!((anew.taken_over, anew.rows()), (0, 2_000));
    assert_ne!(anew.manifest.read_timestamp, report.manifest.read_timestamp);
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_where_it_was_cancelled_on_the_emulator() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let source = Source::emulator(&emulator, 600).await.unwrap();
    let folder = Folder::new();
    let mut export = export(&folder);
    export.parallel = 1;
    let progress = Arc::new(Progress::default());
    let running = {
        let (export, client, progress) = (export.clone(), source.client.clone(), progress.clone());
        tokio::spawn(async move { export.run(&client, progress).await.map(|_| ()) })
    };
    while progress.rows.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.abort();
    let _ = running.await;
    // What is written in between is not in the rest.
    source
        .client
        .write([Mutation::delete(TABLE).range(300_i64..)])
        .await
        .unwrap();

    // A part that was being written when it was cancelled may hold the folder still.
    let report = loop {
        match run(&export, &source.client).await {
            Err(error) if error.to_string().contains("another export") => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            ended => break ended.unwrap(),
        }
    };
    assert_eq!(report.rows(), 600);
    let sum = verify(
        &source.client,
        &report.manifest,
        folder.path(),
        &report.parts,
    );
    assert_eq!(sum.await.unwrap().rows, 600);
}

/// Kills the program when it is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program(source: &Source, folder: &Folder) -> Command {
    let fake = source.fake_server().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_export"));
    program
        .env("SPANNER_DATABASE", fake.database())
        .env("SPANNER_EMULATOR_HOST", fake.address().to_string())
        .args([
            "--table",
            TABLE,
            "--partitions",
            "6",
            "--parallel",
            "2",
            "--verify",
            "--out",
        ])
        .arg(folder.path());
    program
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_where_it_was_killed() {
    let source = Source::fake(3_000).await.unwrap();
    let fake = source.fake_server().unwrap();
    let folder = Folder::new();
    // Some parts come, and the rest never.
    for _ in 0..3 {
        fake.before_next("ExecuteStreamingSql", []);
    }
    for _ in 0..2 {
        fake.before_next("ExecuteStreamingSql", [Step::Hang]);
    }
    let mut running = Program(
        program(&source, &folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let journal = folder.path().join("done.jsonl");
    let parts = || std::fs::read_to_string(&journal).map_or(0, |text| text.matches("part").count());
    while parts() < 3 {
        assert!(
            running.0.try_wait().unwrap().is_none(),
            "it ended by itself"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    parts_read(&source);

    let mut again = program(&source, &folder);
    let ended = tokio::task::spawn_blocking(move || again.output().unwrap())
        .await
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert!(ended.status.success(), "{out}{err}");
    assert!(out.contains("3,000 rows in 6 files"), "{out}");
    assert!(out.contains("3 of the files were complete"), "{out}");
    assert!(
        out.contains("verified: the files have the 3,000 rows"),
        "{out}"
    );
    assert_eq!(parts_read(&source), 3);
}
