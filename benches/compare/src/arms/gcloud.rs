//! `gcloud-spanner`, the community's client.

use gcloud_spanner::client::{Client, ClientConfig};
use gcloud_spanner::row::{Error, Row, TryFromValue};
use gcloud_spanner::statement::Statement;

use super::{Arm, Compared, Text};
use crate::Result;
use crate::client::Counter;
use crate::server::DATABASE;

pub(crate) struct Gcloud {
    client: Client,
}

impl Arm for Gcloud {
    const NAME: &'static str = "gcloud-spanner";

    /// `SPANNER_EMULATOR_HOST` names the server.
    async fn connect(_: &str) -> Result<Self> {
        let client = Client::new(DATABASE, ClientConfig::default()).await?;
        Ok(Self { client })
    }

    async fn query<S: Compared>(&mut self, sql: &str, sink: &mut Counter) -> Result<()> {
        let mut transaction = self.client.single().await?;
        let mut rows = transaction.query(Statement::new(sql)).await?;
        while let Some(row) = rows.next().await? {
            sink.row(&S::Gcloud::from_gcloud(&row)?);
        }
        Ok(())
    }
}

/// Rows by position; the client leaves that to its users.
pub(crate) trait FromGcloud: Sized {
    fn from_gcloud(row: &Row) -> std::result::Result<Self, Error>;
}

macro_rules! from_gcloud {
    ($($ty:ident $index:tt)+) => {
        impl<$($ty: TryFromValue),+> FromGcloud for ($($ty,)+) {
            fn from_gcloud(row: &Row) -> std::result::Result<Self, Error> {
                Ok(($(row.column::<$ty>($index)?,)+))
            }
        }
    };
}

from_gcloud! { A 0 B 1 }
from_gcloud! { A 0 B 1 C 2 }
from_gcloud! { A 0 B 1 C 2 D 3 }
from_gcloud! { A 0 B 1 C 2 D 3 E 4 }
from_gcloud! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }
from_gcloud! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 }
from_gcloud! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 }

impl<T> TryFromValue for Text<T> {
    fn try_from(
        value: &prost_types::Value,
        field: &gcloud_googleapis::spanner::v1::struct_type::Field,
    ) -> std::result::Result<Self, Error> {
        <String as TryFromValue>::try_from(value, field).map(Self::from)
    }
}
