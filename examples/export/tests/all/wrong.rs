//! What goes wrong is said, with the cure.

use std::fs;

use export::manifest;
use export::options::all_of;
use export::source::{Source, TABLE};
use spanner_rows::Client;
use spanner_rows::testing::{Failure, Step};

use crate::support::{Folder, export, run};

#[tokio::test(flavor = "multi_thread")]
async fn parts_that_nobody_reads_any_more() {
    let source = Source::fake(100).await.unwrap();
    let fake = source.fake_server().unwrap();
    let folder = Folder::new();
    let export = export(&folder);
    let old = Failure::failed_precondition("Read timestamp is older than the earliest version");
    fake.before_next("ExecuteStreamingSql", [Step::Fail(old)]);
    let error = run(&export, &source.client).await.unwrap_err().to_string();
    for words in ["older than", "version_retention_period", "`--restart`"] {
        assert!(error.contains(words), "{error}");
    }
    // The session of the parts is gone.
    fake.forget_sessions();
    let error = run(&export, &source.client).await.unwrap_err().to_string();
    assert!(error.contains("`--restart`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_export_in_the_same_folder() {
    let source = Source::fake(100).await.unwrap();
    let folder = Folder::new();
    let first = export(&folder);
    run(&first, &source.client).await.unwrap();

    let mut other = first.clone();
    other.sql = all_of("Others");
    let error = run(&other, &source.client).await.unwrap_err().to_string();
    assert!(
        error.contains("another query") && error.contains(TABLE),
        "{error}"
    );
    let mut other = first.clone();
    other.data_boost = true;
    let error = run(&other, &source.client).await.unwrap_err().to_string();
    assert!(error.contains("another `--data-boost`"), "{error}");

    let taken = manifest::Folder::open(folder.path()).unwrap();
    let error = run(&first, &source.client).await.unwrap_err().to_string();
    assert!(error.contains("another export writes"), "{error}");
    drop(taken);

    let path = folder.path().join("manifest.json");
    let later = fs::read_to_string(&path)
        .unwrap()
        .replace("\"version\": 1", "\"version\": 2");
    fs::write(&path, later).unwrap();
    let error = run(&first, &source.client).await.unwrap_err().to_string();
    assert!(
        error.contains("version 2") && error.contains("`--restart`"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_not_there() {
    let source = Source::fake(1).await.unwrap();
    let folder = Folder::new();
    let mut export = export(&folder);
    export.sql = all_of("Nothing");
    let error = run(&export, &source.client).await.unwrap_err().to_string();
    assert!(error.contains("Nothing"), "{error}");
}

/// A part may be empty: its file has the columns all the same.
#[tokio::test(flavor = "multi_thread")]
async fn fewer_rows_than_parts() {
    let source = Source::fake(3).await.unwrap();
    let folder = Folder::new();
    let report = run(&export(&folder), &source.client).await.unwrap();
    assert_eq!((report.rows(), report.parts.len()), (3, 8));
    let client: &Client = &source.client;
    export::verify::verify(client, &report.manifest, folder.path(), &report.parts)
        .await
        .unwrap();
}
