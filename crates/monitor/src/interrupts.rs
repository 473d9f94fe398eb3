//! Whether the kernel counts the time of interrupts as that of the thread which they strike. With
//! CONFIG_IRQ_TIME_ACCOUNTING it takes them out of a thread's time (update_rq_clock_task of kernel/sched/core.c); without it
//! they are a part of it, although /proc/stat has columns for them in both cases. The configuration of a kernel is seldom
//! readable, so it is tried: a thread that sends to itself over loopback handles its own packets in soft interrupts, and if
//! these are taken out, its time falls behind the clock.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::OnceLock;

use ablaze_sys::clock;

/// Sent and received in a trial: about a tenth of a millisecond, in which a thread is seldom interrupted by another.
const DATAGRAMS: usize = 64;
/// One trial without another thread in it is enough.
const TRIALS: usize = 20;
/// A thread's time is at least this share of the clock's if it has the interrupts in it.
const WHOLE: f64 = 0.97;
/// It is at most this share if they are taken out: over loopback they are a fifth of it or more.
const PART: f64 = 0.93;

/// Whether the times of threads have the interrupts in them; `None` where it could not be found out. Tried once, in 3 ms.
pub(crate) fn are_in_threads() -> Option<bool> {
    static KNOWN: OnceLock<Option<bool>> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        socket.connect(socket.local_addr().ok()?).ok()?;
        socket.set_nonblocking(true).ok()?;
        decided((0..TRIALS).map(|_| trial(&socket)))
    })
}

/// The thread's time as a share of the clock's; `None` if nothing could be sent.
fn trial(socket: &UdpSocket) -> Option<f64> {
    let mut into = [0; 64];
    let (began_ns, own_ns) = (clock::monotonic_ns(), clock::thread_ns());
    for _ in 0..DATAGRAMS {
        socket.send(&[0; 64]).ok()?;
        // One that is still under way is received next time.
        let _ = socket.recv(&mut into);
    }
    let length_ns = clock::monotonic_ns() - began_ns;
    (length_ns > 0).then(|| (clock::thread_ns() - own_ns) as f64 / length_ns as f64)
}

/// From the largest share: another thread, or another machine on the same processor, only makes it smaller.
fn decided(trials: impl Iterator<Item = Option<f64>>) -> Option<bool> {
    let mut most = 0.0_f64;
    for share in trials {
        most = most.max(share?);
        if most >= WHOLE {
            return Some(true);
        }
    }
    (most <= PART).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_share_decides() {
        let of = |shares: &[f64]| decided(shares.iter().copied().map(Some));
        assert_eq!(of(&[0.4, 0.99]), Some(true));
        assert_eq!(of(&[0.4, 0.75, 0.72]), Some(false));
        assert_eq!(of(&[0.4, 0.95]), None);
        assert_eq!(decided([Some(0.7), None].into_iter()), None);
    }

    /// The kernel's own configuration, where it can be read.
    #[test]
    fn it_is_what_the_kernel_was_built_with() {
        let zcat = std::process::Command::new("zcat").arg("/proc/config.gz").output();
        let Some(config) = zcat.ok().filter(|output| output.status.success()) else {
            return ablaze_testing::skip::skip("/proc/config.gz cannot be read");
        };
        let config = String::from_utf8_lossy(&config.stdout).into_owned();
        let apart = config.contains("CONFIG_IRQ_TIME_ACCOUNTING=y");
        assert!(are_in_threads().is_none_or(|inside| inside != apart), "apart: {apart}");
    }
}
