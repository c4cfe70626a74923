//! Partitions that other clients made.

use bytes::Bytes;

use super::partition::{Kind, Partition};
use super::partition_text::PartitionFormError;
use crate::wire::WireError;
use crate::wire::reader::{Fields, Span};

/// Fields of `ExecuteSqlRequest` and of `ReadRequest`.
const SESSION: u32 = 1;
const TRANSACTION: u32 = 2;
/// `sql`, `table`
const WHAT: u32 = 3;

/// Field `id` of `TransactionSelector`.
const ID: u32 = 2;

impl Kind {
    const fn resume_token(self) -> u32 {
        match self {
            Self::Query => 6,
            Self::Read => 9,
        }
    }

    /// The number in the tag.
    const fn partition_token(self) -> u32 {
        (self.token_tag() >> 3) as u32
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Query => "ExecuteSqlRequest",
            Self::Read => "ReadRequest",
        }
    }
}

impl Partition {
    /// A partition of a query that another client made, from the request by which that
    /// client would read it: a serialised `google.spanner.v1.ExecuteSqlRequest` with
    /// session, transaction id and partition token.
    ///
    /// Of gcloud-spanner it is `partition.reader.request.encode_to_vec()`; for
    /// google-cloud-spanner see `from_official_json` (feature `serde_json`). What else the
    /// request says (parameters, options, Data Boost) is sent as it is. The read timestamp
    /// is not in it: [`read_timestamp`](Self::read_timestamp) is `None`.
    ///
    /// # Errors
    ///
    /// The bytes are no such request, or the request lacks one of those.
    pub fn from_execute_sql_request(request: &[u8]) -> Result<Self, PartitionFormError> {
        from_request(Kind::Query, request)
    }

    /// As [`from_execute_sql_request`](Self::from_execute_sql_request), of a read by key:
    /// a serialised `google.spanner.v1.ReadRequest`.
    ///
    /// # Errors
    ///
    /// The bytes are no such request, or it has no session, no transaction id, or no
    /// partition token.
    pub fn from_read_request(request: &[u8]) -> Result<Self, PartitionFormError> {
        from_request(Kind::Read, request)
    }
}

fn from_request(kind: Kind, request: &[u8]) -> Result<Partition, PartitionFormError> {
    let malformed = |error: WireError| {
        PartitionFormError(format!("it is not a serialised {}: {error}", kind.name()))
    };
    let lacks = |what: &str| PartitionFormError(format!("its {} has no {what}", kind.name()));

    let (mut session, mut selector, mut token) = (None, None, None);
    let mut what = false;
    let mut rest = Vec::with_capacity(request.len());
    let mut fields = Fields::new(request, Span::whole(request));
    while let Some(field) = fields.next().map_err(malformed)? {
        let number = field.tag.field;
        let place = match number {
            SESSION => &mut session,
            TRANSACTION => &mut selector,
            _ if number == kind.partition_token() => &mut token,
            // A part is read from its beginning.
            _ if number == kind.resume_token() => continue,
            _ => {
                what |= number == WHAT;
                let end = field.span.end;
                rest.extend_from_slice(
                    Span {
                        start: field.at,
                        end,
                    }
                    .of(request),
                );
                continue;
            }
        };
        *place = Some(field.message().map_err(malformed)?.of(request));
    }

    let session = session.and_then(|name| std::str::from_utf8(name).ok());
    let session = session.ok_or_else(|| lacks("session"))?;
    let (database, _) = session
        .rsplit_once("/sessions/")
        .filter(|(database, id)| !database.is_empty() && !id.is_empty())
        .ok_or_else(|| lacks("session of a database"))?;
    let selector = selector.ok_or_else(|| lacks("transaction"))?;
    if !is_id(selector).map_err(malformed)? {
        return Err(lacks("transaction that has begun (TransactionSelector.id)"));
    }
    // Without a token it would be all rows, and they would come with each part.
    let token = token.filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| lacks("partition token"))?;
    if !what {
        return Err(lacks(match kind {
            Kind::Query => "statement",
            Kind::Read => "table",
        }));
    }
    Ok(Partition {
        database: database.to_owned(),
        session: session.to_owned(),
        selector: selector.to_vec(),
        read_timestamp: None,
        kind,
        fields: rest.into(),
        token: Bytes::copy_from_slice(token),
    })
}

/// Whether a `TransactionSelector` names a transaction, and does not begin one.
fn is_id(selector: &[u8]) -> Result<bool, WireError> {
    let mut fields = Fields::new(selector, Span::whole(selector));
    let mut id = false;
    while let Some(field) = fields.next()? {
        id = field.tag.field == ID && !field.message()?.of(selector).is_empty();
        if !id {
            return Ok(false);
        }
    }
    Ok(id)
}
