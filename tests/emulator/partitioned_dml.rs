//! Partitioned DML on a real server.

use spanner_rows::{Client, Code, ErrorKind, Mutation};

use crate::support;

const DDL: [&str; 1] = ["CREATE TABLE Numbers (Id INT64, N INT64) PRIMARY KEY (Id)"];

async fn counts(client: &Client) -> (i64, i64) {
    let query = client.query("SELECT COUNT(*), COUNTIF(N = 7) FROM Numbers");
    query.one().await.unwrap()
}

#[tokio::test]
async fn partitioned_dml() {
    let Some((_database, client)) = support::database(&DDL).await else {
        return;
    };
    let insert = Mutation::insert("Numbers").columns(["Id", "N"]);
    let rows = (0..2000_i64).map(|id| (id, 0_i64));
    client.write([insert.values(rows)]).await.unwrap();

    let update = client.partitioned_dml("UPDATE Numbers SET N = @n WHERE Id < @id");
    let update = update.param("n", 7_i64).param("id", 1500_i64);
    let update = update.exclude_from_change_streams(true).request_tag("t");
    // Again is the same.
    for _ in 0..2 {
        assert_eq!(update.clone().execute().await.unwrap(), 1500);
        assert_eq!(counts(&client).await, (2000, 1500));
    }
    let delete = client.partitioned_dml("DELETE FROM Numbers WHERE N = 0");
    assert_eq!(delete.execute().await.unwrap(), 500);
    assert_eq!(counts(&client).await, (1500, 1500));
    let none = client.partitioned_dml("DELETE FROM Numbers WHERE N = 0");
    assert_eq!(none.execute().await.unwrap(), 0);

    let refused = [
        "INSERT INTO Numbers (Id, N) VALUES (9999, 1)",
        "UPDATE Nowhere SET N = 1 WHERE TRUE",
    ];
    for sql in refused {
        let error = client.partitioned_dml(sql).execute().await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Status { .. }),
            "{sql}: {error:?}"
        );
        assert!(
            matches!(error.code(), Code::InvalidArgument | Code::Unimplemented),
            "{sql}: {error}"
        );
    }
    assert_eq!(counts(&client).await, (1500, 1500));
}
