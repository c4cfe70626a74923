//! Where a query or a read runs.

use std::borrow::Cow;

use super::Client;
use super::read_only::ReadOnlyTransaction;
use super::request::ReadCall;
use super::settings::{CallSettings, Defaults};
use super::transaction::Transaction;
use crate::error::Error;
use crate::observe::Subject;
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;

/// In a transaction of its own, or in one that it shares.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    Client(Client),
    ReadOnly(ReadOnlyTransaction),
    ReadWrite(Transaction),
}

impl Origin {
    pub(super) fn client(&self) -> &Client {
        match self {
            Self::Client(client) => client,
            Self::ReadOnly(transaction) => transaction.snapshot.client(),
            Self::ReadWrite(transaction) => transaction.client(),
        }
    }

    /// What a request has that does not say otherwise.
    pub(super) fn defaults(&self) -> Cow<'_, Defaults> {
        match self {
            Self::ReadWrite(transaction) => transaction.defaults(),
            _ => Cow::Borrowed(self.client().defaults()),
        }
    }

    /// The content of `TransactionSelector`; empty where the transaction has it.
    pub(super) fn selector(&self, settings: &CallSettings) -> Result<Cow<'static, [u8]>, Error> {
        match self {
            Self::Client(_) => settings.single_use(),
            _ if settings.bound.is_some() => Err(Error::config(
                "a query or read has a timestamp bound, and runs in a transaction, whose bound is that of all: give it to the transaction, or leave the transaction",
            )),
            Self::ReadOnly(_) | Self::ReadWrite(_) => Ok(Cow::Borrowed(&[])),
        }
    }

    /// Sends the request and waits for the first message of its result.
    pub(super) async fn send<T: SpannerRow>(
        &self,
        call: ReadCall,
        settings: &CallSettings,
        subject: Subject<'_>,
    ) -> Result<RowStream<T>, Error> {
        match self {
            Self::Client(client) => client.send(call, settings, subject).await,
            // On the heap: a future of the usual case is not to have the size of this one.
            Self::ReadOnly(transaction) => {
                Box::pin(transaction.snapshot.send(call, settings, subject)).await
            }
            Self::ReadWrite(transaction) => {
                Box::pin(transaction.send(call, settings, subject)).await
            }
        }
    }
}

impl From<Client> for Origin {
    fn from(client: Client) -> Self {
        Self::Client(client)
    }
}

impl From<ReadOnlyTransaction> for Origin {
    fn from(transaction: ReadOnlyTransaction) -> Self {
        Self::ReadOnly(transaction)
    }
}

impl From<Transaction> for Origin {
    fn from(transaction: Transaction) -> Self {
        Self::ReadWrite(transaction)
    }
}
