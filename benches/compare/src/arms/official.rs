//! `google-cloud-spanner`, the official client.

use google_cloud_spanner::client::{DatabaseClient, Spanner};
use google_cloud_spanner::error::ConvertError;
use google_cloud_spanner::statement::Statement;
use google_cloud_spanner::types::Type;
use google_cloud_spanner::value::{FromValue, Value};

use super::{Arm, Compared, Text};
use crate::Result;
use crate::client::Counter;
use crate::server::DATABASE;

pub(crate) struct Official {
    client: DatabaseClient,
}

impl Arm for Official {
    const NAME: &'static str = "google-cloud-spanner";

    /// `SPANNER_EMULATOR_HOST` names the server, the only way to one without TLS and credentials.
    async fn connect(_: &str) -> Result<Self> {
        let spanner = Spanner::builder().build().await?;
        let client = spanner.database_client(DATABASE).build().await?;
        Ok(Self { client })
    }

    async fn query<S: Compared>(&mut self, sql: &str, sink: &mut Counter) -> Result<()> {
        let transaction = self.client.single_use().build();
        let mut rows = transaction
            .execute_query(Statement::builder(sql).build())
            .await?;
        while let Some(row) = rows.next_as::<S::Official>().await.transpose()? {
            sink.row(&row);
        }
        Ok(())
    }
}

impl<T> FromValue for Text<T> {
    fn from_value(value: &Value, ty: &Type) -> std::result::Result<Self, ConvertError> {
        String::from_value(value, ty).map(Self::from)
    }

    fn from_owned_value(value: Value, ty: &Type) -> std::result::Result<Self, ConvertError> {
        String::from_owned_value(value, ty).map(Self::from)
    }
}
