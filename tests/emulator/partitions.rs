//! A table read in parts is the table, each row once.

use std::sync::{Arc, Mutex};

use spanner_rows::{Error, PartitionOptions, RowStream, SpannerRow};

use crate::support;

const DDL: &str = "CREATE TABLE Numbers (N INT64 NOT NULL, Name STRING(MAX)) PRIMARY KEY (N)";
const INSERT: &str = "INSERT INTO Numbers (N, Name) SELECT n, CONCAT('name ', CAST(n AS STRING)) FROM UNNEST(GENERATE_ARRAY(1, 2000)) AS n";

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Number<'row> {
    n: i64,
    name: &'row str,
}

#[tokio::test]
async fn the_union_of_the_parts_is_the_table() {
    let Some((database, client)) = support::database(&[DDL]).await else {
        return;
    };
    database.execute(INSERT).await.unwrap();
    let options = PartitionOptions::new().max_partitions(10);
    let snapshot = client.read_only().begin().await.unwrap();
    let query = snapshot
        .query("SELECT N, Name FROM Numbers WHERE N > @least")
        .param("least", 500_i64);
    let of_query = query.partitions(options).await.unwrap();
    let of_read = snapshot
        .read::<Number<'_>>("Numbers")
        .all()
        .partitions(options)
        .await
        .unwrap();
    // What is written later is in no part.
    database
        .execute("DELETE FROM Numbers WHERE N < 1500")
        .await
        .unwrap();

    for (partitions, first) in [(of_query, 501), (of_read, 1)] {
        assert!(!partitions.is_empty());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = seen.clone();
        let read = client.read_partitions(partitions.clone()).parallelism(3);
        read.for_each(move |_, mut rows: RowStream<Number<'static>>| {
            let all = all.clone();
            async move {
                while let Some(row) = rows.next().await? {
                    assert_eq!(row.name, format!("name {}", row.n));
                    all.lock().unwrap().push(row.n);
                }
                Ok::<_, Error>(())
            }
        })
        .await
        .unwrap();
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort_unstable();
        assert_eq!(seen, (first..=2000).collect::<Vec<_>>());

        // As another machine would: by text, in one stream.
        let sent: Vec<_> = partitions.iter().map(ToString::to_string).collect();
        let back = sent.iter().map(|text| text.parse().unwrap());
        let mut batches = client.read_partitions(back).batches::<Number<'_>>();
        let mut count = 0;
        while let Some(batch) = batches.next().await.unwrap() {
            count += batch.len() as i64;
        }
        assert_eq!(count, 2001 - first);
    }

    let query = client
        .query("SELECT COUNT(*) FROM Numbers")
        .partitions(options);
    let error = query.await.unwrap_err();
    assert!(error.to_string().contains("partition"), "{error}");
}
