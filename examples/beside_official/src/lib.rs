//! The official client (google-cloud-spanner) and this one in one program: the same
//! credentials, the same state of the database, and partitions of the one read by the other.
//!
//! A program that has the official client already need not move all at once: what reads
//! much, or often, is moved first, and the rest stays where it is.
#![forbid(unsafe_code)]

use std::time::Duration;

use google_cloud_auth::credentials::Credentials;
use google_cloud_spanner::client::{DatabaseClient, Spanner};
use google_cloud_spanner::model::PartitionOptions;
use google_cloud_spanner::mutation::Mutation;
use google_cloud_spanner::statement::Statement;
use spanner_rows::{Client, Partition, SpannerRow, Timestamp, TimestampBound};

/// What goes wrong is for people to read.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the examples read.
pub const COUNT: &str = "SELECT COUNT(*) AS n FROM Singers";
pub const SINGERS: &str = "SELECT SingerId, FirstName FROM Singers WHERE SingerId >= @least";

pub const DDL: &str =
    "CREATE TABLE Singers (SingerId INT64 NOT NULL, FirstName STRING(MAX)) PRIMARY KEY (SingerId)";

/// Text borrows from the received message: the official client has no such rows.
#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
pub struct Singer<'row> {
    pub singer_id: i64,
    pub first_name: Option<&'row str>,
}

/// Both clients of one database.
#[derive(Debug)]
pub struct Both {
    pub official: DatabaseClient,
    pub ours: Client,
}

impl Both {
    /// One object gives the tokens of both: for your own database it is
    /// `google_cloud_auth::credentials::Builder::default().build()?`, and there is no
    /// `endpoint`; for the emulator `credentials::anonymous::Builder::new().build()`.
    pub async fn connect(
        database: &str,
        endpoint: Option<&str>,
        credentials: Credentials,
    ) -> Result<Self, Failure> {
        // Without its default features the official client takes the TLS of the program.
        // It fails when there is one already, which is then as good.
        let _ = rustls::crypto::ring::default_provider().install_default();

        let mut official = Spanner::builder().with_credentials(credentials.clone());
        let mut ours = Client::builder(database).credentials(credentials);
        if let Some(endpoint) = endpoint {
            official = official.with_endpoint(endpoint);
            ours = ours.endpoint(endpoint);
        }
        let official = official.build().await?;
        Ok(Self {
            official: official.database_client(database).build().await?,
            ours: ours.connect().await?,
        })
    }

    /// Counts with the official client, and lists with this one what was counted: both
    /// see the database as it was at the same point in time.
    pub async fn same_state(&self) -> Result<(i64, Vec<i64>), Failure> {
        let transaction = self.official.read_only_transaction().build().await?;
        let mut counted = transaction.execute_query(COUNT).await?;
        let row = counted.next().await.ok_or("COUNT has a row")??;
        let count: i64 = row.get("n")?;

        // Known once the first statement of the transaction has been answered.
        let time = transaction.read_timestamp().ok_or("it has been read")?;
        let time = Timestamp::new(time.seconds(), u32::try_from(time.nanos())?);
        let bound = TimestampBound::ReadTimestamp(time.ok_or("the years 1 to 9999")?);
        let mut rows = self
            .ours
            .query(SINGERS)
            .param("least", 0_i64)
            .timestamp_bound(bound)
            .rows::<Singer>()
            .await?;
        let mut ids = Vec::new();
        while let Some(singer) = rows.next().await? {
            ids.push(singer.singer_id);
        }
        Ok((count, ids))
    }

    /// Writes with the official client, and reads with this one what was written, from any
    /// replica that has come so far.
    pub async fn reads_what_was_written(
        &self,
        id: i64,
        name: &str,
    ) -> Result<Option<String>, Failure> {
        let singer = Mutation::new_insert_or_update_builder("Singers")
            .set("SingerId")
            .to(id)
            .set("FirstName")
            .to(name)
            .build();
        let writer = self.official.write_only_transaction().build();
        let committed = writer.write([singer]).await?;
        let time = committed.commit_timestamp.ok_or("it was committed")?;
        let time = Timestamp::new(time.seconds(), u32::try_from(time.nanos())?);
        let time = time.ok_or("the years 1 to 9999")?;

        let read = self.ours.read::<Singer>("Singers").key(id);
        let read = read.timestamp_bound(TimestampBound::MinReadTimestamp(time));
        let mut rows = read.timeout(Duration::from_secs(30)).rows().await?;
        let found = rows.optional_batch().await?;
        match found {
            None => Ok(None),
            Some(batch) => Ok(batch.row(0)?.first_name.map(str::to_owned)),
        }
    }

    /// Partitions that the official client makes and serialises, as a coordinator would
    /// that is not to be changed.
    pub async fn official_partitions(
        &self,
        least: i64,
        count: i64,
    ) -> Result<Vec<String>, Failure> {
        let transaction = self.official.batch_read_only_transaction().build().await?;
        let statement = Statement::builder(SINGERS)
            .add_param("least", least)
            .build();
        let options = PartitionOptions::default().set_max_partitions(count);
        let partitions = transaction.partition_query(statement, options).await?;
        let texts = partitions.iter().map(serde_json::to_string);
        Ok(texts.collect::<Result<_, _>>()?)
    }

    /// Reads them, as a worker would.
    pub async fn read_official_partitions(&self, texts: &[String]) -> Result<Vec<i64>, Failure> {
        let partitions = texts.iter().map(|text| Partition::from_official_json(text));
        let partitions = partitions.collect::<Result<Vec<_>, _>>()?;
        let mut batches = self.ours.read_partitions(partitions).batches::<Singer>();
        let mut ids = Vec::new();
        while let Some(batch) = batches.next().await? {
            for singer in &batch {
                ids.push(singer?.singer_id);
            }
        }
        Ok(ids)
    }
}
