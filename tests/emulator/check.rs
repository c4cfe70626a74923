//! Rows held against statements and tables of a real schema.

use spanner_rows::{Code, ErrorKind, Row, SpannerRow};

use crate::support;

const DDL: [&str; 2] = [
    "CREATE TABLE Counts (Name STRING(MAX), N INT64) PRIMARY KEY (Name)",
    "CREATE INDEX CountsByN ON Counts (N)",
];

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Count {
    name: String,
    n: i64,
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Wrong {
    name: i64,
}

#[tokio::test]
async fn rows_against_a_schema() {
    let Some((database, client)) = support::database(&DDL).await else {
        return;
    };
    let insert = "INSERT INTO Counts (Name, N) VALUES ('a', 1), ('b', 2)";
    database.execute(insert).await.unwrap();

    let sql = "SELECT Name, N FROM Counts WHERE N > @least";
    let checked = client.query(sql).param("least", 0_i64);
    let checked = checked.check::<Count>().await.unwrap();
    assert_eq!(
        checked.row_type().to_string(),
        "STRUCT<Name STRING, N INT64>"
    );
    let error = client.query("SELECT Name FROM Counts").check::<Wrong>();
    let error = error.await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Bind(_)), "{error}");
    let error = client.query("SELECT Nome FROM Counts").check::<Row>();
    assert_eq!(error.await.unwrap_err().code(), Code::InvalidArgument);

    let checked = client.read::<Count>("Counts").check().await.unwrap();
    assert_eq!(checked.row_type().len(), 2);
    let by_n = client.read::<Count>("Counts").index("CountsByN").all();
    by_n.check().await.unwrap();
    let error = client.read::<Wrong>("Counts").check().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Bind(_)), "{error}");
    let error = client.read::<Count>("Count").check().await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}
