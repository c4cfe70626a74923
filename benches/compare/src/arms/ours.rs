//! This crate, in its ways of handing rows out.

use std::future::poll_fn;
use std::pin::pin;

use futures_core::Stream as _;
use spanner_rows::Client;

use super::{Arm, Compared};
use crate::Result;
use crate::client::Counter;
use crate::server::DATABASE;
use crate::shapes::Shape;
use crate::shapes::rows::Pair;

pub(crate) async fn client(address: &str) -> Result<Client> {
    Ok(Client::builder(DATABASE)
        .endpoint(address)
        .connect()
        .await?)
}

macro_rules! arms {
    ($($(#[$doc:meta])* $arm:ident $name:literal: |$shape:ident, $client:ident, $sql:ident, $sink:ident| $query:block)+) => {$(
        $(#[$doc])*
        pub(crate) struct $arm(Client);

        impl Arm for $arm {
            const NAME: &'static str = $name;

            async fn connect(address: &str) -> Result<Self> {
                Ok(Self(client(address).await?))
            }

            async fn query<$shape: Compared>(&mut self, $sql: &str, $sink: &mut Counter) -> Result<()> {
                let $client = &self.0;
                $query
                Ok(())
            }
        }
    )+};
}

arms! {
    /// Rows that borrow from the message, lent one by one.
    BorrowedNext "ours, borrowed next": |S, client, sql, sink| {
        let mut rows = client.query(sql).rows::<<S as Shape>::Row>().await?;
        while let Some(row) = rows.next().await? {
            sink.row(&row);
        }
    }

    /// An owned row that is set anew for every row.
    OwnedNext "ours, owned next": |S, client, sql, sink| {
        let mut rows = client.query(sql).rows::<<<S as Shape>::Row as Pair>::Owned>().await?;
        while let Some(row) = rows.next().await? {
            sink.row(&row);
        }
    }

    /// Borrowed rows, all of a message at once.
    Batch "ours, borrowed batch": |S, client, sql, sink| {
        let mut rows = client.query(sql).rows::<<S as Shape>::Row>().await?;
        while let Some(batch) = rows.next_batch().await? {
            for row in &batch {
                sink.row(&row?);
            }
        }
    }

    /// Owned rows, each with memory of its own.
    Fresh "ours, owned fresh": |S, client, sql, sink| {
        let rows = client.query(sql).rows::<<<S as Shape>::Row as Pair>::Owned>().await?;
        let mut rows = pin!(rows.into_stream());
        while let Some(row) = poll_fn(|cx| rows.as_mut().poll_next(cx)).await {
            sink.row(&row?);
        }
    }
}
