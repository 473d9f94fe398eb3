//! Limits that a run can meet: open descriptors and local ports.

use std::ops::RangeInclusive;

use rustix::process::{Resource, getrlimit, setrlimit};

/// How many descriptors this process may have open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit {
    /// The limit in force; `None` for no limit.
    pub soft: Option<u64>,
    /// How far this process may raise it by itself; `None` for no limit.
    pub hard: Option<u64>,
}

/// The limit on open descriptors.
pub fn descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    DescriptorLimit { soft: limit.current, hard: limit.maximum }
}

/// Raises the soft limit to at least `wanted` descriptors, as far as the hard limit permits, and
/// returns the limit then in force. Never lowers it.
pub fn raise_descriptor_limit(wanted: u64) -> DescriptorLimit {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|soft| soft < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |hard| hard.min(wanted)));
        // A refusal shows in the limit returned.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    descriptor_limit()
}

/// The ports the kernel gives to connections that ask for none; for IPv6, too.
pub fn ephemeral_ports() -> Option<RangeInclusive<u16>> {
    ports_in(&std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
}

fn ports_in(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.trim().split_once(char::is_whitespace)?;
    Some(first.parse().ok()?..=last.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ephemeral_ports_are_a_range() {
        assert_eq!(ports_in("32768\t60999\n"), Some(32_768..=60_999));
        assert_eq!(ports_in("many"), None);
        assert!(ephemeral_ports().is_none_or(|ports| !ports.is_empty()));
    }

    #[test]
    fn the_limit_is_raised_within_the_hard_limit_and_never_lowered() {
        let before = descriptor_limit();
        assert_eq!(raise_descriptor_limit(1), before);
        let (Some(soft), hard) = (before.soft, before.hard) else { return };
        if hard.is_none_or(|hard| hard > soft) {
            assert_eq!(raise_descriptor_limit(soft + 1).soft, Some(soft + 1));
        }
        if let Some(hard) = hard {
            assert_eq!(raise_descriptor_limit(hard.saturating_add(1)).soft, Some(hard));
        }
    }
}
