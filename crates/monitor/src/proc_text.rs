//! Reading the kernel's text files: small, forgiving parsers that the other modules share.

use std::fs;

use ablaze_model::printable::printable;

/// A file's content without the white space around it; `None` when it is not there or empty.
pub(crate) fn line_of(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// What a process or thread calls itself, in the `comm` of its folder: it may be anything, also a command to a
/// terminal.
pub(crate) fn name_in(folder: &str) -> Option<String> {
    let bytes = fs::read(format!("{folder}/comm")).ok()?;
    let name = String::from_utf8_lossy(&bytes);
    let name = printable(name.strip_suffix('\n').unwrap_or(&name)).into_owned();
    (!name.is_empty()).then_some(name)
}

/// The number behind `name` in lines of `name number` or `name: number`.
pub(crate) fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        let rest = rest.strip_prefix(':').or_else(|| {
            // `nr_throttled 3`, but not `nr_throttled_more 3`.
            rest.starts_with(char::is_whitespace).then_some(rest)
        })?;
        rest.split_whitespace().next()?.parse().ok()
    })
}

/// A duration in clock ticks, as /proc gives CPU times, in ns.
pub(crate) fn ticks_ns(ticks: u64) -> u64 {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    ticks.saturating_mul(1_000_000_000 / per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let text = "nr_periods 10\nnr_throttled_more 7\nnr_throttled 3\nVmRSS:\t 40 kB\n";
        assert_eq!(number_after(text, "nr_throttled"), Some(3));
        assert_eq!(number_after(text, "VmRSS"), Some(40));
        assert_eq!(number_after(text, "nr_period"), None);
        assert_eq!(number_after("nr_periods many", "nr_periods"), None);
        assert_eq!(number_after("", "x"), None);
    }

    #[test]
    fn files_that_are_not_there_are_none() {
        assert_eq!(line_of("/proc/no such file"), None);
        assert!(line_of("/proc/sys/kernel/ostype").is_some());
    }
}
