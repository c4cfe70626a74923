//! What the operating system says of this process, and asks of it.

use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads since the process started, in the kernel too.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Keeps this thread, and those it starts, on one core; to be called first.
pub(crate) fn pin(core: usize) -> crate::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)
        .map_err(|error| format!("cannot stay on core {core}: two cores are needed ({error})"))?;
    Ok(())
}

/// Resident memory in KiB.
pub(crate) struct Memory {
    pub(crate) peak: u64,
    pub(crate) now: u64,
}

pub(crate) fn memory() -> crate::Result<Memory> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Ok(Memory {
        peak: field("VmHWM:"),
        now: field("VmRSS:"),
    })
}
