//! Connection tracking (netfilter's conntrack): its table and what it dropped. Firewalls, containers
//! and address translation turn it on; a full table drops the first packet of a connection.

use std::fs;

use ablaze_model::monitor::ConnectionTracking;

/// The table at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tracked {
    count: u64,
    most: u64,
    counters: Counters,
}

/// Of all processors together; absent where the kernel does not print them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counters {
    insert_failed: Option<u64>,
    dropped: Option<u64>,
    dropped_early: Option<u64>,
}

impl Tracked {
    /// `None` where connections are not tracked.
    pub(crate) fn now() -> Option<Self> {
        let number = |name: &str| -> Option<u64> {
            let path = format!("/proc/sys/net/netfilter/nf_conntrack_{name}");
            fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        let table = fs::read_to_string("/proc/net/stat/nf_conntrack").unwrap_or_default();
        Some(Self { count: number("count")?, most: number("max")?, counters: counters(&table) })
    }
}

/// What the table and its counters did from one reading to a later one.
pub(crate) fn between(before: &Tracked, after: &Tracked) -> ConnectionTracking {
    let risen = |field: fn(&Counters) -> Option<u64>| {
        field(&after.counters)?.checked_sub(field(&before.counters)?)
    };
    ConnectionTracking {
        before: before.count,
        after: after.count,
        most: after.most,
        insert_failed: risen(|counters| counters.insert_failed),
        dropped: risen(|counters| counters.dropped),
        dropped_early: risen(|counters| counters.dropped_early),
    }
}

/// A line of names, then one of hexadecimal numbers for each processor
/// (net/netfilter/nf_conntrack_standalone.c).
fn counters(text: &str) -> Counters {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let sum = |name: &str| {
        let column = names.iter().position(|known| *known == name)?;
        let numbers = rows.iter().map(|row| u64::from_str_radix(row.get(column)?, 16).ok());
        let numbers = numbers.collect::<Option<Vec<u64>>>()?;
        numbers.into_iter().reduce(|a, b| a + b)
    };
    Counters {
        insert_failed: sum("insert_failed"),
        dropped: sum("drop"),
        dropped_early: sum("early_drop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
entries  clashres found new insert insert_failed drop early_drop
00000000 00000000 00000000 00000000 00000000 0000000a 00000010 00000000
00000000 00000000 00000000 00000000 00000000 00000001 00000001 00000002
";

    #[test]
    fn counters_are_hexadecimal_and_summed_over_the_processors() {
        let seen = counters(TABLE);
        assert_eq!(
            (seen.insert_failed, seen.dropped, seen.dropped_early),
            (Some(11), Some(17), Some(2))
        );
    }

    #[test]
    fn what_is_not_printed_is_absent() {
        assert_eq!(counters(""), Counters::default());
        assert_eq!(counters("drop\n"), Counters::default());
        assert_eq!(counters("entries drop\n1\n"), Counters::default());
        assert_eq!(counters("entries drop\n1 zz\n"), Counters::default());
    }

    #[test]
    fn drops_before_the_run_are_not_the_run_s() {
        let tracked = |count, text| Tracked { count, most: 1000, counters: counters(text) };
        let none = "drop\n00000010\n";
        let seen = between(&tracked(5, none), &tracked(990, "drop\n00000013\n"));
        assert_eq!((seen.before, seen.after, seen.most), (5, 990, 1000));
        assert_eq!((seen.dropped, seen.insert_failed), (Some(3), None));
    }
}
