//! The limit on open descriptors.

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

#[cfg(test)]
mod tests {
    use super::*;

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
