//! What can go wrong with the emulator.

use std::fmt;

use crate::{Code, Status};

/// The emulator is not there, does not work, or refused something.
#[derive(Debug)]
pub struct EmulatorError(Kind);

#[derive(Debug)]
enum Kind {
    Absent,
    Failed(String),
    Refused(Box<Status>),
}

impl EmulatorError {
    pub(super) const fn absent() -> Self {
        Self(Kind::Absent)
    }

    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self(Kind::Failed(text.into()))
    }

    pub(super) fn refused(code: i32, message: &str) -> Self {
        let status = Status::new(Code::from_number(code), message);
        Self(Kind::Refused(Box::new(status)))
    }

    /// Whether there is no emulator.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self.0, Kind::Absent)
    }

    /// The emulator's answer, if it refused a call.
    #[must_use]
    pub const fn status(&self) -> Option<&Status> {
        match &self.0 {
            Kind::Refused(status) => Some(status),
            Kind::Absent | Kind::Failed(_) => None,
        }
    }

    pub(super) fn has_code(&self, code: Code) -> bool {
        self.status().is_some_and(|status| status.code() == code)
    }
}

impl From<tonic::Status> for EmulatorError {
    fn from(status: tonic::Status) -> Self {
        Self::refused(status.code().into(), status.message())
    }
}

impl fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Absent => f.write_str(
                "there is no Cloud Spanner emulator: install it with `gcloud components install cloud-spanner-emulator`, put `emulator_main` into a \
                 folder of PATH, or start one and set SPANNER_EMULATOR_HOST to its host:port",
            ),
            Kind::Failed(text) => write!(f, "the Cloud Spanner emulator failed: {text}"),
            Kind::Refused(status) => write!(f, "the Cloud Spanner emulator answered {status}"),
        }
    }
}

impl std::error::Error for EmulatorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Refused(status) => Some(&**status),
            Kind::Absent | Kind::Failed(_) => None,
        }
    }
}
