//! Partitions as bytes and text, for other machines.
//!
//! The bytes are a message of protocol buffers, so that fields can be added:
//!
//! | field | content |
//! |---|---|
//! | 1 | the version of the form |
//! | 2, 3 | the names of the database and the session |
//! | 4 | the transaction, a `google.spanner.v1.TransactionSelector` |
//! | 5 | 1 for a query, 2 for a read |
//! | 6 | the fields of `ExecuteSqlRequest` or `ReadRequest` |
//! | 7 | `Partition.partition_token` |
//! | 8 | the read timestamp as text |
//!
//! The text is the base64 of the bytes, for URLs and without padding.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use prost::Message;

use super::partition::{Kind, Partition};

const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Message)]
struct Form {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(string, tag = "2")]
    database: String,
    #[prost(string, tag = "3")]
    session: String,
    #[prost(bytes = "vec", tag = "4")]
    selector: Vec<u8>,
    #[prost(uint32, tag = "5")]
    kind: u32,
    #[prost(bytes = "bytes", tag = "6")]
    fields: Bytes,
    #[prost(bytes = "bytes", tag = "7")]
    token: Bytes,
    #[prost(string, tag = "8")]
    read_timestamp: String,
}

impl Partition {
    /// The partition as bytes, in a form that has a version.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let timestamp = self.read_timestamp.map(|time| time.to_string());
        let form = Form {
            version: VERSION,
            database: self.database.clone(),
            session: self.session.clone(),
            selector: self.selector.clone(),
            kind: match self.kind {
                Kind::Query => 1,
                Kind::Read => 2,
            },
            fields: self.fields.clone(),
            token: self.token.clone(),
            read_timestamp: timestamp.unwrap_or_default(),
        };
        form.encode_to_vec()
    }

    /// The partition of which these are the bytes.
    ///
    /// Take them from where you trust: they say which query is sent.
    ///
    /// # Errors
    ///
    /// The bytes are not those of a partition, or of one of a later version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PartitionFormError> {
        let wrong = |what: &str| PartitionFormError(what.to_owned());
        let form = Form::decode(bytes).map_err(|error| PartitionFormError(error.to_string()))?;
        if form.version != VERSION {
            return Err(PartitionFormError(format!(
                "it has the version {}, and this is version {VERSION}",
                form.version
            )));
        }
        let rest = form.session.strip_prefix(&form.database);
        if form.database.is_empty() || rest.is_none_or(|rest| !rest.starts_with("/sessions/")) {
            return Err(wrong("its session is none of its database"));
        }
        if form.selector.is_empty() || form.token.is_empty() {
            return Err(wrong("it has no transaction, or no token"));
        }
        let read_timestamp = match form.read_timestamp.as_str() {
            "" => None,
            text => Some(
                text.parse()
                    .map_err(|_| wrong("its read timestamp is none"))?,
            ),
        };
        Ok(Self {
            kind: match form.kind {
                1 => Kind::Query,
                2 => Kind::Read,
                _ => return Err(wrong("it is neither of a query nor of a read")),
            },
            database: form.database,
            session: form.session,
            selector: form.selector,
            read_timestamp,
            fields: form.fields,
            token: form.token,
        })
    }
}

/// As text that can stand in a URL, a header, or a line of a file.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64_simd::URL_SAFE_NO_PAD.encode_to_string(self.to_bytes()))
    }
}

impl FromStr for Partition {
    type Err = PartitionFormError;

    fn from_str(text: &str) -> Result<Self, PartitionFormError> {
        let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text.as_bytes());
        let bytes = bytes.map_err(|_| PartitionFormError("it is not base64".to_owned()))?;
        Self::from_bytes(&bytes)
    }
}

/// Text or bytes that are not a [`Partition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionFormError(pub(super) String);

impl fmt::Display for PartitionFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a partition: {}", self.0)
    }
}

impl std::error::Error for PartitionFormError {}

/// Text where the format is for people to read, else bytes.
#[cfg(feature = "serde")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl serde::Serialize for Partition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

#[cfg(feature = "serde")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de> serde::Deserialize<'de> for Partition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Partition;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a partition of a result")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Partition, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Partition, E> {
                Partition::from_bytes(bytes).map_err(E::custom)
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Visitor)
        } else {
            deserializer.deserialize_bytes(Visitor)
        }
    }
}
