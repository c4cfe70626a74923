//! How connections to the server are kept and how much may come ahead on them.

use std::time::Duration;

use super::endpoint::Endpoint;
use super::tls::TlsSettings;
use crate::error::Error;

/// What HTTP/2 allows (RFC 9113, sections 6.5.2 and 6.9.1).
const FRAME_SIZES: std::ops::RangeInclusive<u32> = 1 << 14..=(1 << 24) - 1;
const WINDOWS: std::ops::RangeInclusive<u32> = (1 << 16) - 1..=i32::MAX as u32;

/// How many connections a client may have at most: more is a mistake.
const CHANNELS: std::ops::RangeInclusive<usize> = 1..=256;
/// As other Spanner clients have it: 400 calls at once.
const DEFAULT_CHANNELS: usize = 4;

/// Settings of the connections of a client.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSettings {
    /// How many connections there are; what is good for the endpoint when not said.
    pub(crate) channels: Option<usize>,
    /// How many calls a connection takes before the next one takes any.
    pub(crate) streams_per_channel: usize,
    pub(crate) tls: TlsSettings,
    /// How long making a connection may take.
    pub(crate) connect_timeout: Duration,
    /// How often the server is asked for a sign of life. A connection that answers
    /// none for the time-out is given up, so that a reader of a silent stream
    /// learns that its peer is gone.
    pub(crate) keep_alive_interval: Duration,
    pub(crate) keep_alive_timeout: Duration,
    /// The largest HTTP/2 frame that the server may send. A message of usual size,
    /// about 32 KiB, then comes in one frame and need not be put together, which
    /// saves two thirds of the allocations and a fifth of the system time; more
    /// gains nothing.
    pub(crate) frame_size: u32,
    /// What the server may send ahead on one stream.
    pub(crate) stream_window: u32,
    /// What it may send ahead on all streams together: as much as HTTP/2 can say.
    /// With less, a few streams that nobody reads for a while would hold up all
    /// others on the connection, for good if they wait for each other.
    pub(crate) connection_window: u32,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            channels: None,
            streams_per_channel: 1,
            tls: TlsSettings::default(),
            connect_timeout: Duration::from_secs(10),
            keep_alive_interval: Duration::from_secs(120),
            keep_alive_timeout: Duration::from_secs(20),
            frame_size: 64 << 10,
            stream_window: 2 << 20,
            connection_window: i32::MAX as u32,
        }
    }
}

impl ConnectionSettings {
    /// How many connections to make to this endpoint.
    pub(super) fn channels_to(&self, endpoint: &Endpoint) -> usize {
        // The limit on calls at once is one of the service's front ends.
        let usual = if endpoint.is_tls() {
            DEFAULT_CHANNELS
        } else {
            1
        };
        self.channels.unwrap_or(usual)
    }

    /// Refuses what the protocol does not allow.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(channels) = self.channels.filter(|count| !CHANNELS.contains(count)) {
            let (least, most) = CHANNELS.into_inner();
            return Err(Error::config(format!(
                "the client is to have {channels} channels, it can have {least} to {most}"
            )));
        }
        if self.streams_per_channel == 0 {
            return Err(Error::config(
                "no channel may take any stream: a channel takes at least one",
            ));
        }
        let sizes = [
            ("frame size", self.frame_size, FRAME_SIZES),
            ("stream window", self.stream_window, WINDOWS),
            ("connection window", self.connection_window, WINDOWS),
        ];
        for (what, size, allowed) in sizes {
            if !allowed.contains(&size) {
                let (least, most) = allowed.into_inner();
                return Err(Error::config(format!(
                    "the {what} is {size} bytes, HTTP/2 allows {least} to {most}"
                )));
            }
        }
        let times = [
            ("connect timeout", self.connect_timeout),
            ("keep-alive interval", self.keep_alive_interval),
            ("keep-alive timeout", self.keep_alive_timeout),
        ];
        match times.into_iter().find(|(_, time)| time.is_zero()) {
            Some((what, _)) => Err(Error::config(format!(
                "the {what} is zero: it must be a time that can pass"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut ConnectionSettings)) -> String {
        let mut settings = ConnectionSettings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_and_the_bounds_are_allowed() {
        ConnectionSettings::default().check().unwrap();
        for frame_size in [16_384, 16_777_215] {
            for window in [65_535, 2_147_483_647] {
                let settings = ConnectionSettings {
                    frame_size,
                    stream_window: window,
                    connection_window: window,
                    ..ConnectionSettings::default()
                };
                settings.check().unwrap();
            }
        }
    }

    #[test]
    fn what_http_2_does_not_allow_is_refused_by_name() {
        for size in [0, 16_383, 16_777_216] {
            assert_eq!(
                refused(|settings| settings.frame_size = size),
                format!("the frame size is {size} bytes, HTTP/2 allows 16384 to 16777215")
            );
        }
        for size in [0, 65_534, 1 << 31] {
            let allowed = "HTTP/2 allows 65535 to 2147483647";
            assert_eq!(
                refused(|settings| settings.stream_window = size),
                format!("the stream window is {size} bytes, {allowed}")
            );
            assert_eq!(
                refused(|settings| settings.connection_window = size),
                format!("the connection window is {size} bytes, {allowed}")
            );
        }
        for channels in [0, 257] {
            assert_eq!(
                refused(|settings| settings.channels = Some(channels)),
                format!("the client is to have {channels} channels, it can have 1 to 256")
            );
        }
        let zero = |text: &str| text.contains("is zero");
        assert!(zero(&refused(
            |settings| settings.connect_timeout = Duration::ZERO
        )));
        assert!(zero(&refused(
            |settings| settings.keep_alive_interval = Duration::ZERO
        )));
        assert!(zero(&refused(
            |settings| settings.keep_alive_timeout = Duration::ZERO
        )));
    }
}
