//! Ports for servers that cannot be asked which they took.
//!
//! A port that the kernel chose is any other program's again as soon as it is let go: a connection of a test beside
//! takes it before the server has it. These are below the range that the kernel chooses from.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ephemeral ports of Linux (32768, see ip_local_port_range in ip(7)).
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// A port of the loopback addresses that nobody listens on and that no other call in this process returns for the next
/// ten thousand calls. Processes begin in different places.
pub fn free() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // Test programs have numbers close together.
    let begin = std::process::id().wrapping_mul(97);
    (0..COUNT)
        .map(|_| {
            let number = u32::from(GIVEN.fetch_add(1, Ordering::Relaxed));
            FIRST + (begin.wrapping_add(number) % u32::from(COUNT)) as u16
        })
        .find(|port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok())
        .expect("one of ten thousand ports is free")
}
