//! What comes before the rows: `google.spanner.v1.ResultSetMetadata`.

use bytes::Bytes;

use super::error::WireError;
use super::reader::{Fields, Span};
use super::row_type::{Field, RowType, parse_row_type};
use crate::types::timestamp::Timestamp;

/// What the server says of a result besides its rows
/// (`google.spanner.v1.ResultSetMetadata`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultMetadata {
    row_type: RowType,
    /// Whether the message said anything about columns, if only that there are none.
    has_row_type: bool,
    undeclared_parameters: RowType,
    transaction_id: Bytes,
    read_timestamp: Option<Timestamp>,
    precommit: Option<PrecommitToken>,
}

impl ResultMetadata {
    /// The columns, in the order of the values (`row_type`); none for DML without
    /// THEN RETURN.
    #[must_use]
    pub const fn row_type(&self) -> &RowType {
        &self.row_type
    }

    /// Whether the server said what the columns are, if only that there are none.
    pub(crate) const fn has_row_type(&self) -> bool {
        self.has_row_type
    }

    /// The parameters that the statement names and the request gave no type
    /// (`undeclared_parameters`); known in query mode PLAN only.
    #[must_use]
    pub const fn undeclared_parameters(&self) -> &RowType {
        &self.undeclared_parameters
    }

    /// The point in time that the rows show (`transaction.read_timestamp`);
    /// `None` unless the request asked for it.
    #[must_use]
    pub const fn read_timestamp(&self) -> Option<Timestamp> {
        self.read_timestamp
    }

    /// The transaction that the request began (`transaction.id`); empty for a
    /// single-use one.
    pub(crate) const fn transaction_id(&self) -> &Bytes {
        &self.transaction_id
    }

    /// The token that came with the transaction (`transaction.precommit_token`).
    pub(crate) const fn precommit(&self) -> Option<&PrecommitToken> {
        self.precommit.as_ref()
    }
}

/// Metadata that is being read. However often its fields come, they are copied once.
#[derive(Default)]
pub(super) struct MetadataParts {
    row_type: Vec<Field>,
    undeclared_parameters: Vec<Field>,
    rest: ResultMetadata,
}

impl MetadataParts {
    /// Adds the content of one `ResultSetMetadata`. A field that comes twice is
    /// joined as protobuf says: lists go on, scalars are replaced.
    pub(super) fn read(&mut self, wire: &[u8], span: Span) -> Result<(), WireError> {
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                1 => {
                    parse_row_type(wire, field.message()?, &mut self.row_type)?;
                    self.rest.has_row_type = true;
                }
                2 => self.rest.read_transaction(wire, field.message()?)?,
                3 => parse_row_type(wire, field.message()?, &mut self.undeclared_parameters)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of columns so far.
    pub(super) fn columns(&self) -> usize {
        self.row_type.len()
    }

    pub(super) fn finish(self) -> ResultMetadata {
        ResultMetadata {
            row_type: RowType::new(self.row_type),
            undeclared_parameters: RowType::new(self.undeclared_parameters),
            ..self.rest
        }
    }
}

impl ResultMetadata {
    /// What a `google.spanner.v1.PartialResultSet` says of its transaction, without a look
    /// at anything else in it.
    #[cfg(feature = "client")]
    pub(crate) fn of_transaction_in(message: &[u8]) -> Result<Self, WireError> {
        let mut found = Self::default();
        let mut fields = Fields::new(message, Span::whole(message));
        while let Some(field) = fields.next()? {
            if field.tag.field != 1 {
                continue;
            }
            let mut metadata = Fields::new(message, field.message()?);
            while let Some(field) = metadata.next()? {
                if field.tag.field == 2 {
                    found.read_transaction(message, field.message()?)?;
                }
            }
        }
        Ok(found)
    }

    /// The same from a `google.spanner.v1.Transaction`.
    #[cfg(feature = "client")]
    pub(crate) fn of_transaction(message: &[u8]) -> Result<Self, WireError> {
        let mut found = Self::default();
        found.read_transaction(message, Span::whole(message))?;
        Ok(found)
    }

    /// `google.spanner.v1.Transaction`.
    fn read_transaction(&mut self, wire: &[u8], span: Span) -> Result<(), WireError> {
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                // Copied, because it outlives the message.
                1 => self.transaction_id = Bytes::copy_from_slice(field.message()?.of(wire)),
                2 => self.read_timestamp = timestamp(wire, field.message()?)?,
                3 => PrecommitToken::read(&mut self.precommit, wire, field.message()?)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// `google.protobuf.Timestamp`; `None` outside of the years 1 to 9999.
fn timestamp(wire: &[u8], span: Span) -> Result<Option<Timestamp>, WireError> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut fields = Fields::new(wire, span);
    while let Some(field) = fields.next()? {
        match field.tag.field {
            1 => seconds = field.integer()? as i64,
            2 => nanoseconds = field.integer()? as u32,
            _ => {}
        }
    }
    Ok(Timestamp::new(seconds, nanoseconds))
}

/// A token that the commit of the transaction must carry
/// (`google.spanner.v1.MultiplexedSessionPrecommitToken`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrecommitToken {
    pub(crate) token: Bytes,
    pub(crate) seq_num: i32,
}

impl PrecommitToken {
    /// What the commit carries (`precommit_token`).
    #[must_use]
    pub const fn token(&self) -> &Bytes {
        &self.token
    }

    /// Of all tokens that arrive, the one with the highest number counts (`seq_num`).
    #[must_use]
    pub const fn seq_num(&self) -> i32 {
        self.seq_num
    }

    /// Adds the content of one message to what is known of the token.
    pub(crate) fn read(known: &mut Option<Self>, wire: &[u8], span: Span) -> Result<(), WireError> {
        let known = known.get_or_insert_default();
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                // Copied, because it outlives the message.
                1 => known.token = Bytes::copy_from_slice(field.message()?.of(wire)),
                2 => known.seq_num = field.integer()? as i32,
                _ => {}
            }
        }
        Ok(())
    }
}
