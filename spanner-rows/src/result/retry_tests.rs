use std::sync::Arc;
use std::time::Duration;

use super::{Budget, RetrySettings, retryable};
use crate::error::{Code, Status};

fn is_retryable(code: Code, message: &str) -> bool {
    retryable(&Status::new(code, message))
}

const ALL: std::ops::Range<i32> = 1..17;

#[test]
fn unavailable_is_retried_and_other_codes_are_not() {
    for code in ALL.map(Code::from_number) {
        let expected = code == Code::Unavailable;
        assert_eq!(is_retryable(code, "Generic."), expected, "{code}");
    }
}

#[test]
fn broken_connections_are_known_by_text() {
    let texts = [
        "stream terminated by RST_STREAM with error code: INTERNAL_ERROR",
        "Received Rst Stream",
        "Received unexpected EOS on DATA frame from server",
        "HTTP/2 error code: INTERNAL_ERROR",
        "Connection closed with unknown cause",
        "Authentication backend internal server error. Please retry.",
        "protocol error: received message with missing grpc-status trailer",
        "missing grpc-status trailer",
        "Unexpected EOF decoding stream.",
    ];
    for text in texts {
        assert!(is_retryable(Code::Internal, text), "{text}");
        assert!(is_retryable(Code::Unknown, text), "{text}");
        for code in [Code::Aborted, Code::OutOfRange, Code::Cancelled] {
            assert!(!is_retryable(code, text), "{code} {text}");
        }
    }
}

#[test]
fn broken_connections_are_known_by_their_source() {
    let broken = || Arc::new(std::io::Error::other("connection reset"));
    for code in ALL.map(Code::from_number) {
        let status = Status::new(code, "h2 protocol error").with_transport(broken());
        // A deadline is the caller's own, whatever lies behind it.
        let expected = code != Code::DeadlineExceeded;
        assert_eq!(retryable(&status), expected, "{code}");
    }
}

#[test]
fn an_exhausted_resource_is_retried_only_when_the_server_says_when() {
    let status = |delay| Status::new(Code::ResourceExhausted, "").with_retry_delay(delay);
    assert!(!retryable(&status(None)));
    assert!(retryable(&status(Some(Duration::from_millis(1)))));
    assert!(retryable(&status(Some(Duration::ZERO))));
    let aborted = Status::new(Code::Aborted, "").with_retry_delay(Some(Duration::ZERO));
    assert!(
        !retryable(&aborted),
        "its transaction runs again as a whole"
    );
}

const LONGEST: u64 = u64::MAX;
const HALF: u64 = 1 << 63;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The waits of failures that follow one another at once.
fn delays(settings: &RetrySettings, random: u64, count: usize) -> Vec<Duration> {
    let mut budget = Budget::default();
    let mut now = Duration::from_secs(1_000);
    (0..count)
        .map_while(|_| {
            let delay = budget.spend(settings, None, now, random)?;
            now += delay;
            Some(delay)
        })
        .collect()
}

fn rounded(delays: &[Duration]) -> Vec<u128> {
    let micros = |delay: &Duration| (delay.as_nanos() + 500) / 1_000;
    delays.iter().map(micros).collect()
}

#[test]
fn waits_grow_up_to_a_limit() {
    let settings = RetrySettings::new()
        .initial_delay(millis(20))
        .multiplier(2.0)
        .max_delay(millis(100));
    assert_eq!(
        rounded(&delays(&settings, LONGEST, 5)),
        [20_000, 40_000, 80_000, 100_000, 100_000]
    );
    assert_eq!(
        rounded(&delays(&settings, HALF, 5)),
        [10_000, 20_000, 40_000, 50_000, 50_000]
    );
    assert_eq!(delays(&settings, 0, 3), [Duration::ZERO; 3]);
}

#[test]
fn the_defaults_are_as_documented() {
    let delays = delays(&RetrySettings::default(), LONGEST, 200);
    assert_eq!(rounded(&delays[..3]), [20_000, 30_000, 45_000]);
    let max = delays.iter().max().unwrap();
    assert_eq!(rounded(&[*max]), [32_000_000]);
    let total: Duration = delays.iter().sum();
    assert!(total <= Duration::from_secs(600));
    assert!(total > Duration::from_secs(560), "{total:?}");
    assert_eq!(RetrySettings::new().idle(), Duration::from_secs(1_800));
    assert!(RetrySettings::new().may_hold(128 << 20, usize::MAX));
    assert!(!RetrySettings::new().may_hold((128 << 20) + 1, 1));
}

#[test]
fn odd_settings_do_no_harm() {
    for multiplier in [f64::NAN, 0.0, -5.0, f64::NEG_INFINITY] {
        let settings = RetrySettings::new().multiplier(multiplier);
        assert_eq!(rounded(&delays(&settings, LONGEST, 2)), [20_000, 20_000]);
    }
    let settings = RetrySettings::new()
        .multiplier(f64::INFINITY)
        .max_delay(millis(50));
    assert_eq!(rounded(&delays(&settings, LONGEST, 2)), [20_000, 50_000]);
    let settings = RetrySettings::new()
        .initial_delay(Duration::MAX)
        .max_delay(Duration::MAX)
        .give_up_after(Duration::MAX);
    assert_eq!(delays(&settings, LONGEST, 3).len(), 3, "centuries each");
    let none = RetrySettings::new().initial_delay(Duration::ZERO);
    assert_eq!(delays(&none, LONGEST, 50), [Duration::ZERO; 50]);
}

#[test]
fn a_wait_that_the_server_asks_for_replaces_ours() {
    let settings = RetrySettings::new();
    for random in [0, LONGEST] {
        let asked = Some(millis(7_000));
        let delay = Budget::default().spend(&settings, asked, Duration::ZERO, random);
        assert_eq!(delay, asked);
    }
    // Asking for none is no reason to hurry.
    let delay = Budget::default().spend(&settings, Some(Duration::ZERO), Duration::ZERO, HALF);
    assert_eq!(delay, Some(millis(10)));
}

#[test]
fn the_budget_is_time_since_the_first_failure_without_progress() {
    let settings = RetrySettings::new()
        .initial_delay(Duration::ZERO)
        .give_up_after(Duration::from_secs(60));
    let mut budget = Budget::default();
    let spend = |budget: &mut Budget, seconds| {
        budget
            .spend(&settings, None, Duration::from_secs(seconds), 0)
            .is_some()
    };
    // However late the first failure is.
    assert!(spend(&mut budget, 10_000));
    assert!(spend(&mut budget, 10_060));
    assert!(!spend(&mut budget, 10_061));
    budget.progress();
    assert!(spend(&mut budget, 10_062));
    assert!(spend(&mut budget, 10_122));
    assert!(!spend(&mut budget, 10_123));
}

#[test]
fn a_wait_beyond_the_budget_is_not_waited_for() {
    let settings = RetrySettings::new().give_up_after(Duration::from_secs(60));
    let spend = |asked| Budget::default().spend(&settings, Some(asked), Duration::ZERO, 0);
    assert!(spend(Duration::from_secs(60)).is_some());
    assert!(spend(Duration::from_secs(61)).is_none());
}

#[test]
fn no_attempt_is_made_behind_the_time_for_the_whole_request() {
    let settings = RetrySettings::new()
        .initial_delay(Duration::ZERO)
        .timeout(Duration::from_secs(60));
    let mut budget = Budget::default();
    let mut spend = |asked, seconds| {
        let asked = (asked > 0).then(|| Duration::from_secs(asked));
        let delay = budget.spend(&settings, asked, Duration::from_secs(seconds), 0);
        // Progress earns no more time.
        budget.progress();
        delay.is_some()
    };
    assert!(spend(0, 1));
    assert!(spend(58, 1));
    assert!(!spend(59, 1), "there would be no time left for the answer");
    assert!(spend(0, 59));
    assert!(!spend(0, 60));
}

#[test]
fn attempts_are_counted_since_the_last_progress() {
    let settings = RetrySettings::new().max_attempts(3);
    let mut budget = Budget::default();
    let spend = |budget: &mut Budget| budget.spend(&settings, None, Duration::ZERO, 0).is_some();
    assert!(spend(&mut budget));
    assert!(spend(&mut budget));
    budget.progress();
    assert!(spend(&mut budget));
    assert!(spend(&mut budget));
    assert!(!spend(&mut budget));
    let never = RetrySettings::never();
    assert!(delays(&never, 0, 1).is_empty());
}
