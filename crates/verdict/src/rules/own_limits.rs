//! Failed requests of which the client's own words, as printed, name a limit of its machine: the target had no part in
//! these.

use crate::printed::{Report, Tool};
use crate::words::{counted, grouped, percent};

/// What the client's machine had none left of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A descriptor of the process (EMFILE).
    Descriptor,
    /// An open file of the whole machine (ENFILE).
    File,
    /// A local address and port for the connection (EADDRNOTAVAIL): which of the two, the words do not say.
    Address,
    /// A local port that no other socket has (EADDRINUSE of connect(), which Windows says where none is left).
    Port,
    /// Memory of the kernel for a socket or what it sends (ENOBUFS).
    Buffer,
}

impl Limit {
    const ALL: [Self; 5] = [Self::Descriptor, Self::File, Self::Address, Self::Port, Self::Buffer];

    /// The one that these words name, in which systems and languages differ: `Too many open files (os error 24)`.
    pub fn of(words: &str) -> Option<Self> {
        let words = words.to_lowercase();
        SAID.iter().find(|(said, _)| words.contains(said)).map(|(_, limit)| *limit)
    }
}

/// What Linux, macOS and Windows say, in that order; of long words the beginning, as no more of them is kept.
const SAID: [(&str, Limit); 10] = [
    ("too many open files in system", Limit::File),
    ("too many open files", Limit::Descriptor),
    ("too many open sockets", Limit::Descriptor),
    ("cannot assign requested address", Limit::Address),
    ("can't assign requested address", Limit::Address),
    ("requested address is not valid in its context", Limit::Address),
    ("address already in use", Limit::Port),
    ("only one usage of each socket address", Limit::Port),
    ("no buffer space available", Limit::Buffer),
    ("could not be performed because the system lacked suff", Limit::Buffer),
];

/// Requests of a report that failed by one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// How many, where that is printed.
    pub count: Option<u64>,
    /// What the client says of them.
    words: String,
}

/// Those that failed by this limit.
pub fn failed_by(report: &Report, limit: Limit) -> Option<Failed> {
    let of_it = report.errors.iter().filter(|(words, _)| Limit::of(words) == Some(limit));
    let words = of_it.clone().map(|(words, _)| words.clone()).next()?;
    let mut counts = of_it.map(|(_, count)| *count);
    let count = counts.try_fold(0, |sum: u64, count| Some(sum.saturating_add(count?)));
    // siege may say more than once why a request failed.
    let count = count.map(|count| count.min(report.failed.unwrap_or(count)));
    Some(Failed { count, words })
}

/// Whether any did.
pub fn is_met(report: &Report) -> bool {
    Limit::ALL.into_iter().any(|limit| failed_by(report, limit).is_some())
}

/// How many failed by a limit that the words prove, as far as that is printed.
pub fn proven(report: &Report) -> u64 {
    let proven = Limit::ALL.into_iter().filter(|limit| is_proven(report, *limit));
    proven.filter_map(|limit| failed_by(report, limit)?.count).fold(0, u64::saturating_add)
}

/// Descriptors are the client's whatever happened. That connect() has no address may be due to the destination, as long
/// as nothing was ever connected to it.
pub fn is_proven(report: &Report, limit: Limit) -> bool {
    limit != Limit::Address || requests(report) > report.failed
}

/// All requests that ended, those without a response too.
pub fn requests(report: &Report) -> Option<u64> {
    let complete = report.complete?;
    Some(match has_failed_among_complete(report) {
        true => complete,
        false => complete.saturating_add(report.failed.unwrap_or(0)),
    })
}

/// Whether the complete requests of this tool have its failed ones among them.
pub fn has_failed_among_complete(report: &Report) -> bool {
    report.tool.is_ab_like() || matches!(report.tool, Tool::Hey | Tool::Oha | Tool::Vegeta)
}

impl Failed {
    /// The share of all requests, where it is known.
    pub fn share(&self, report: &Report) -> Option<f64> {
        let all = requests(report).filter(|all| *all > 0)?;
        Some(self.count? as f64 / all as f64)
    }

    /// How many of how many, with the client's words.
    pub fn evidence(&self, report: &Report) -> String {
        let all = requests(report).unwrap_or(0);
        match (self.count, self.share(report)) {
            (Some(count), Some(share)) => format!(
                "{} of {} ({}) failed with `{}`.",
                grouped(count),
                counted(all, "request"),
                percent(share),
                self.words
            ),
            _ => format!(
                "Requests failed with `{}`; how many of the {} that failed, {} does not print.",
                self.words,
                grouped(report.failed.unwrap_or(0)),
                report.tool.name()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_systems_and_languages_are_known() {
        for (words, limit) in [
            ("too many open files", Some(Limit::Descriptor)),
            ("Too many open files (os error 24)", Some(Limit::Descriptor)),
            ("Too many open files in system", Some(Limit::File)),
            ("cannot assign requested address", Some(Limit::Address)),
            ("Can't assign requested address", Some(Limit::Address)),
            ("Too many open sockets. (os error 10024)", Some(Limit::Descriptor)),
            ("The requested address is not valid in its context.", Some(Limit::Address)),
            // WSAEADDRINUSE and EADDRINUSE, of connect().
            (
                "Only one usage of each socket address (protocol/network address/port) is normall",
                Some(Limit::Port),
            ),
            ("address already in use", Some(Limit::Port)),
            ("Address already in use (os error 98)", Some(Limit::Port)),
            // ENOBUFS and WSAENOBUFS.
            ("no buffer space available", Some(Limit::Buffer)),
            (
                "An operation on a socket could not be performed because the system lacked suffic",
                Some(Limit::Buffer),
            ),
            ("connection refused", None),
            ("no such host", None),
            ("Temporary failure in name resolution", None),
        ] {
            assert_eq!(Limit::of(words), limit, "{words}");
        }
    }
}
