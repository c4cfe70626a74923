//! Which address is spoken to, and whether that may be done without TLS.

use std::ffi::OsStr;
use std::fmt;
use std::net::IpAddr;

use crate::error::Error;

/// The environment variable with the address of an emulator.
pub(crate) const EMULATOR_VARIABLE: &str = "SPANNER_EMULATOR_HOST";

/// The domain of the service that everybody uses.
const UNIVERSE: &str = "googleapis.com";
/// Where TLS is spoken when an `https://` address names no port.
const TLS_PORT: &str = ":443";

/// An address, and how it is spoken to.
///
/// In plain text only the one in `SPANNER_EMULATOR_HOST`, and addresses of this
/// machine: nothing else can be told from a service that holds real data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    authority: String,
    security: Security,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    Tls,
    /// A server or a proxy on this machine.
    Loopback,
    /// In plain text wherever it is, and without credentials.
    Emulator,
}

impl Endpoint {
    /// The address that the program gives, or else the emulator's, or else the
    /// service's in this universe.
    pub(crate) fn resolve(
        explicit: Option<&str>,
        emulator: Option<&OsStr>,
        universe: Option<&str>,
    ) -> Result<Self, Error> {
        if let Some(text) = explicit {
            return Self::from_program(text);
        }
        match emulator.filter(|text| !text.is_empty()) {
            Some(text) => Self::from_variable(text),
            None => Self::of_service(universe.unwrap_or(UNIVERSE)),
        }
    }

    fn from_program(text: &str) -> Result<Self, Error> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme, rest),
            None => ("", text),
        };
        if !matches!(scheme, "" | "http" | "https") {
            return Err(Error::config(format!(
                "the endpoint `{text}` has the scheme `{scheme}`: write `host:port`"
            )));
        }
        let with_port = (scheme == "https").then(|| with_tls_port(rest));
        let (authority, host) = authority(with_port.as_deref().unwrap_or(rest))
            .map_err(|what| Error::config(format!("the endpoint `{text}` {what}")))?;
        let security = match (scheme, is_loopback(host)) {
            ("https", _) | ("", false) => Security::Tls,
            (_, true) => Security::Loopback,
            (_, false) => {
                return Err(Error::config(format!(
                    "the endpoint `{text}` would be spoken to without TLS, and credentials and data \
                     would be sent in plain text: that is done only with addresses of this machine \
                     and with the emulator in {EMULATOR_VARIABLE}; write `https://{authority}`"
                )));
            }
        };
        Ok(Self {
            authority,
            security,
        })
    }

    fn from_variable(text: &OsStr) -> Result<Self, Error> {
        let wrong = |what: &str| {
            let text = text.to_string_lossy();
            Error::config(format!("{EMULATOR_VARIABLE} is `{text}`, which {what}"))
        };
        let text = text.to_str().ok_or_else(|| wrong("is not UTF-8"))?.trim();
        let schemes = ["http://", "https://", "passthrough:///"];
        let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
        let (authority, _) = authority(rest.unwrap_or(text)).map_err(|what| wrong(&what))?;
        Ok(Self {
            authority,
            security: Security::Emulator,
        })
    }

    fn of_service(universe: &str) -> Result<Self, Error> {
        if !is_host_name(universe) {
            return Err(Error::config(format!(
                "the universe domain `{universe}` is no domain: write for example `{UNIVERSE}`"
            )));
        }
        Ok(Self {
            authority: format!("spanner.{universe}{TLS_PORT}"),
            security: Security::Tls,
        })
    }

    /// The address as the transport wants it.
    pub(crate) fn uri(&self) -> String {
        let scheme = if self.is_tls() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.security == Security::Tls
    }

    /// Whether it is the emulator's, which is spoken to in plain text, wherever it
    /// is, and to which no credentials go.
    pub(crate) fn is_emulator(&self) -> bool {
        self.security == Security::Emulator
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.authority)
    }
}

/// `host` as `host:443`; what has a port, or nothing that looks like a host, stays.
fn with_tls_port(text: &str) -> String {
    let text = text.strip_suffix('/').unwrap_or(text);
    let behind_brackets = text.rsplit(']').next().unwrap_or(text);
    match behind_brackets.contains(':') {
        true => text.to_owned(),
        false => format!("{text}{TLS_PORT}"),
    }
}

/// Splits `host:port`, and says what is wrong with it.
fn authority(text: &str) -> Result<(String, &str), String> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (host, port) = text
        .rsplit_once(':')
        .filter(|(host, _)| !host.contains(':') || host.ends_with(']'))
        .ok_or("has no port: write `host:port`, with an IPv6 address in brackets")?;
    let bare = match host.strip_prefix('[') {
        Some(host) => host
            .strip_suffix(']')
            .filter(|host| host.parse::<std::net::Ipv6Addr>().is_ok()),
        None => Some(host).filter(|host| is_host_name(host)),
    };
    let bare = bare.ok_or_else(|| format!("has no valid host: `{host}`"))?;
    match port.parse::<u16>() {
        Ok(number) if number != 0 && port.bytes().all(|byte| byte.is_ascii_digit()) => {}
        _ => return Err(format!("has no valid port: `{port}`")),
    }
    Ok((text.to_owned(), bare))
}

fn is_host_name(host: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !host.is_empty() && host.bytes().all(allowed)
}

fn is_loopback(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn explicit(text: &str) -> Result<String, String> {
        // The program's own word counts, whatever the environment says.
        resolve(Some(text), Some("ignored:1"))
    }

    fn variable(text: &str) -> Result<String, String> {
        resolve(None, Some(text))
    }

    fn resolve(explicit: Option<&str>, emulator: Option<&str>) -> Result<String, String> {
        match Endpoint::resolve(explicit, emulator.map(OsStr::new), None) {
            Ok(endpoint) => Ok(endpoint.uri()),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Config(_)));
                Err(error.to_string())
            }
        }
    }

    #[test]
    fn the_machine_itself_is_spoken_to_in_plain_text() {
        for text in [
            "127.0.0.1:9010",
            "127.8.9.10:1",
            "localhost:65535",
            "LocalHost:80",
            "[::1]:9010",
            "[::ffff:127.0.0.1]:9010",
        ] {
            assert_eq!(explicit(text), Ok(format!("http://{text}")));
            assert_eq!(
                explicit(&format!("http://{text}/")),
                Ok(format!("http://{text}"))
            );
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "http://spanner.googleapis.com:443",
            "http://10.0.0.1:9010",
            "http://128.0.0.1:9010",
            "http://[::2]:9010",
            "http://localhost.example.com:80",
            "http://127.0.0.1.example.com:80",
        ] {
            let error = explicit(text).unwrap_err();
            assert!(error.contains("without TLS"), "{error}");
        }
    }

    #[test]
    fn everything_else_is_spoken_to_over_tls() {
        for (text, uri) in [
            (
                "spanner.me-central2.rep.googleapis.com:443",
                "https://spanner.me-central2.rep.googleapis.com:443",
            ),
            ("10.0.0.1:9010", "https://10.0.0.1:9010"),
            ("[2001:db8::1]:443", "https://[2001:db8::1]:443"),
            ("https://localhost:9010", "https://localhost:9010"),
            ("https://spanner.internal/", "https://spanner.internal:443"),
            ("https://[2001:db8::1]", "https://[2001:db8::1]:443"),
        ] {
            assert_eq!(explicit(text).as_deref(), Ok(uri));
            assert!(Endpoint::resolve(Some(text), None, None).unwrap().is_tls());
        }
    }

    #[test]
    fn without_an_address_it_is_the_service_of_the_universe() {
        let service = "https://spanner.googleapis.com:443";
        assert_eq!(resolve(None, None).as_deref(), Ok(service));
        assert_eq!(resolve(None, Some("")).as_deref(), Ok(service));
        let of = |universe| Endpoint::resolve(None, None, Some(universe));
        let other = of("example-cloud.com").unwrap();
        assert_eq!(other.uri(), "https://spanner.example-cloud.com:443");
        assert!(other.is_tls());
        for wrong in ["", "example.com/path", "a b", "user@example.com"] {
            let error = of(wrong).unwrap_err().to_string();
            assert!(error.contains("is no domain"), "{error}");
        }
    }

    #[test]
    fn an_address_goes_before_the_universe() {
        let emulator = Some(OsStr::new("localhost:9010"));
        let given = Endpoint::resolve(Some("localhost:1"), emulator, Some("example.com"));
        assert_eq!(given.unwrap().to_string(), "localhost:1");
        let variable = Endpoint::resolve(None, emulator, Some("example.com"));
        assert_eq!(variable.unwrap().to_string(), "localhost:9010");
    }

    #[test]
    fn only_the_variable_means_an_emulator() {
        for text in ["localhost:9010", "10.0.0.1:9010"] {
            let endpoint = Endpoint::resolve(None, Some(OsStr::new(text)), None).unwrap();
            assert!(endpoint.is_emulator() && !endpoint.is_tls());
        }
        let endpoint = Endpoint::resolve(Some("localhost:9010"), None, None).unwrap();
        assert!(!endpoint.is_emulator() && !endpoint.is_tls());
    }

    #[test]
    fn malformed_addresses_are_named() {
        for (text, what) in [
            ("localhost", "no port"),
            ("::1:80", "no port"),
            ("[::1]", "no port"),
            ("", "no port"),
            ("localhost:", "no valid port"),
            ("localhost:0", "no valid port"),
            ("localhost:+80", "no valid port"),
            ("localhost:65536", "no valid port"),
            ("localhost:80/path", "no valid port"),
            (":80", "no valid host"),
            ("[nonsense]:80", "no valid host"),
            ("user@localhost:80", "no valid host"),
            ("a b:80", "no valid host"),
            ("dns:///localhost:80", "scheme `dns`"),
            ("https://", "no valid host"),
            ("https://::1", "no port"),
            ("https://localhost:0", "no valid port"),
        ] {
            let error = explicit(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn the_variable_may_name_any_host() {
        for (text, uri) in [
            ("localhost:9010", "http://localhost:9010"),
            ("http://localhost:9010", "http://localhost:9010"),
            (
                "https://spanner-emulator:9010/",
                "http://spanner-emulator:9010",
            ),
            ("passthrough:///10.0.0.1:9010", "http://10.0.0.1:9010"),
            (" [::2]:9010 ", "http://[::2]:9010"),
        ] {
            assert_eq!(variable(text).as_deref(), Ok(uri));
        }
        let error = variable("localhost").unwrap_err();
        assert!(
            error.contains("SPANNER_EMULATOR_HOST is `localhost`"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_variable_may_be_no_text() {
        use std::os::unix::ffi::OsStrExt as _;
        let error = Endpoint::resolve(None, Some(OsStr::from_bytes(b"\xff")), None).unwrap_err();
        assert!(error.to_string().contains("not UTF-8"));
    }
}
