//! Responses at an exact time, and the record of it: the truth that a client's latencies are held
//! against.

use std::io::{self, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;

/// When a request was read and answered, CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Right after the read that completed the request returned.
    pub read_ns: u64,
    /// Right before the write of the response.
    pub written_ns: u64,
}

impl Stamp {
    /// What the server took.
    pub fn service_ns(&self) -> u64 {
        self.written_ns - self.read_ns
    }
}

/// The end of the wait is watched actively: a sleeping thread is woken up to some tens of
/// microseconds late, more on a busy machine.
const WATCHED: Duration = Duration::from_micros(300);

/// Writes `response` at `delay` after `read_ns`, and says when.
///
/// # Errors
/// When the client is gone.
pub fn response_at(
    stream: &mut TcpStream,
    read_ns: u64,
    delay: Duration,
    response: &[u8],
) -> io::Result<Stamp> {
    let due_ns = read_ns.saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
    let left = Duration::from_nanos(due_ns.saturating_sub(monotonic_ns()));
    if left > WATCHED {
        thread::sleep(left - WATCHED);
    }
    let written_ns = loop {
        let now_ns = monotonic_ns();
        if now_ns >= due_ns {
            break now_ns;
        }
        std::hint::spin_loop();
    };
    stream.write_all(response)?;
    Ok(Stamp { read_ns, written_ns })
}
