//! TLS: what is trusted, who we are, and what refused certificates mean.

use std::fmt;
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::error::{Code, Error};

/// What the client's connections want of TLS.
#[derive(Clone, Default)]
pub(crate) struct TlsSettings {
    /// Certificates in PEM form that are trusted; when there are none, the
    /// platform's are.
    pub(crate) roots: Vec<Vec<u8>>,
    pub(crate) identity: Option<ClientIdentity>,
    /// The name that the server's certificate must be for; by default the host
    /// of the address.
    pub(crate) server_name: Option<String>,
}

/// What the client shows when the server wants to know who it is, in PEM form.
#[derive(Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) chain: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl TlsSettings {
    pub(crate) const fn are_default(&self) -> bool {
        self.roots.is_empty() && self.identity.is_none() && self.server_name.is_none()
    }

    /// The settings as tonic wants them. It takes PEM text without certificates
    /// for no certificates, so that is looked for here.
    pub(super) fn config(&self, handshake_limit: Duration) -> Result<ClientTlsConfig, Error> {
        let mut config = ClientTlsConfig::new().timeout(handshake_limit);
        config = match self.roots.is_empty() {
            true => config.with_native_roots(),
            false => {
                for pem in &self.roots {
                    check_pem(pem, "root certificates", &["CERTIFICATE"])?;
                }
                config.ca_certificates(self.roots.iter().map(Certificate::from_pem))
            }
        };
        if let Some(ClientIdentity { chain, key }) = &self.identity {
            check_pem(chain, "client certificate", &["CERTIFICATE"])?;
            let kinds = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];
            check_pem(key, "key of the client certificate", &kinds)?;
            config = config.identity(Identity::from_pem(chain, key));
        }
        if let Some(name) = &self.server_name {
            config = config.domain_name(name);
        }
        Ok(config)
    }
}

/// Says what is set, not the content: a key must not be seen.
impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSettings")
            .field("roots", &self.roots.len())
            .field("identity", &self.identity.is_some())
            .field("server_name", &self.server_name)
            .finish()
    }
}

fn check_pem(pem: &[u8], what: &str, labels: &[&str]) -> Result<(), Error> {
    let text = String::from_utf8_lossy(pem);
    let has = |label: &&str| text.contains(&format!("-----BEGIN {label}-----"));
    if labels.iter().any(has) {
        return Ok(());
    }
    Err(Error::config(format!(
        "the {what} must be PEM text with a block `-----BEGIN {}-----`, there is none in what was given",
        labels[0]
    )))
}

/// What a failure of the connection means, and what helps, when it says that one
/// side does not accept the other, which another attempt would not change.
///
/// Failures behind the handshake, where a server says that it wants a client
/// certificate (TLS 1.3), come through HTTP/2 as text only.
pub(super) fn refusal(failure: &str) -> Option<(Code, &'static str)> {
    if let Some((_, problem)) = failure.split_once("invalid peer certificate: ") {
        return Some((Code::FailedPrecondition, certificate_problem(problem)));
    }
    if let Some((_, alert)) = failure.split_once("received fatal alert: ") {
        return alert_meaning(alert);
    }
    let meaning = if failure.contains("HTTP/2 was not negotiated") {
        "the server does not offer HTTP/2 over TLS (ALPN `h2`), which gRPC needs"
    } else if failure.contains("InvalidContentType") {
        "the server answers, but not in TLS: check the port of the endpoint, or whether the server \
         is one for plain text"
    } else {
        return None;
    };
    Some((Code::FailedPrecondition, meaning))
}

fn certificate_problem(problem: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| problem.contains(word));
    // A bad signature: there is a root of that name, but with another key.
    if says(&["UnknownIssuer", "BadSignature"]) {
        "the server's certificate comes from none of the trusted roots: if it is the right server, \
         give its root with `ClientBuilder::root_certificates`"
    } else if says(&["not valid for name", "NotValidForName"]) {
        "the server's certificate is for another name: if it is the right server, give the name with \
         `ClientBuilder::server_name`"
    } else if says(&["not valid yet", "NotValidYet"]) {
        "the server's certificate is not valid yet: check the clock of this machine"
    } else if says(&["certificate expired", "Expired"]) {
        "the server's certificate has expired: it must be renewed, or the clock of this machine is wrong"
    } else {
        "the server's certificate is not accepted"
    }
}

/// Alerts (RFC 8446, section 6.2) that the next attempt would meet again.
fn alert_meaning(alert: &str) -> Option<(Code, &'static str)> {
    let name = alert
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    Some(match name {
        "CertificateRequired" => (
            Code::Unauthenticated,
            "the server wants a client certificate: give one with `ClientBuilder::client_certificate`",
        ),
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateRevoked"
        | "CertificateExpired"
        | "CertificateUnknown"
        | "UnknownCA"
        | "DecryptError" => (
            Code::Unauthenticated,
            "the server does not accept the client certificate \
             (`ClientBuilder::client_certificate`): it may have expired, or come from another root",
        ),
        "AccessDenied" => (
            Code::PermissionDenied,
            "the server knows the client certificate and does not let it in",
        ),
        "UnrecognisedName" => (
            Code::FailedPrecondition,
            "the server does not know the name that it is called by: check the endpoint and \
             `ClientBuilder::server_name`",
        ),
        "HandshakeFailure"
        | "ProtocolVersion"
        | "InsufficientSecurity"
        | "NoApplicationProtocol" => (
            Code::FailedPrecondition,
            "the server refuses TLS as this client speaks it (1.2 or 1.3, HTTP/2); one that speaks \
             only 1.2 says so, too, when it misses a client certificate \
             (`ClientBuilder::client_certificate`)",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(change: impl FnOnce(&mut TlsSettings)) -> Result<ClientTlsConfig, String> {
        let mut settings = TlsSettings::default();
        change(&mut settings);
        let config = settings.config(Duration::from_secs(1));
        config.map_err(|error| error.to_string())
    }

    #[test]
    fn text_that_is_no_pem_is_refused_without_showing_it() {
        let secret = b"not-to-be-seen".to_vec();
        let certificate = b"-----BEGIN CERTIFICATE-----".to_vec();
        let identity = |chain: &Vec<u8>, key: &Vec<u8>| {
            let (chain, key) = (chain.clone(), key.clone());
            Some(ClientIdentity { chain, key })
        };
        for (result, what) in [
            (
                config(|settings| settings.roots = vec![certificate.clone(), secret.clone()]),
                "the root certificates must",
            ),
            (
                config(|settings| settings.identity = identity(&secret, &secret)),
                "the client certificate must",
            ),
            (
                config(|settings| settings.identity = identity(&certificate, &secret)),
                "the key of the client certificate must",
            ),
        ] {
            let error = result.unwrap_err();
            assert!(error.starts_with(what), "{error}");
            assert!(!error.contains("not-to-be-seen"), "{error}");
        }
    }

    #[test]
    fn passing_failures_are_no_refusals() {
        for text in [
            "transport error: connection refused",
            "tls handshake eof",
            "received fatal alert: InternalError",
            "received fatal alert: UserCanceled",
            "received fatal alert: BadRecordMac",
        ] {
            assert!(refusal(text).is_none(), "{text}");
        }
    }

    #[test]
    fn refusals_say_who_refuses_whom() {
        for (text, code, meaning) in [
            (
                "x: invalid peer certificate: Expired",
                Code::FailedPrecondition,
                "has expired",
            ),
            (
                "x: invalid peer certificate: certificate not valid yet: verification time 1 (UNIX)",
                Code::FailedPrecondition,
                "the clock",
            ),
            (
                "x: invalid peer certificate: Revoked",
                Code::FailedPrecondition,
                "not accepted",
            ),
            (
                "received fatal alert: CertificateExpired",
                Code::Unauthenticated,
                "the client certificate",
            ),
            (
                "received fatal alert: AccessDenied: more",
                Code::PermissionDenied,
                "let it in",
            ),
            (
                "received fatal alert: ProtocolVersion",
                Code::FailedPrecondition,
                "1.2 or 1.3",
            ),
        ] {
            let (found, says) = refusal(text).unwrap();
            assert_eq!(found, code, "{text}");
            assert!(says.contains(meaning), "{text}: {says}");
        }
    }
}
