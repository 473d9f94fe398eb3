//! Requests in flight when the run ended of which no byte of a final response had come for a second or longer, or for half of a
//! shorter run, and connections that had not opened for as long.

use super::Stopped;

/// Requests that had waited for the first byte of a final response for so long when the run ended ([`Silent::least_ns`]), those of the warm-up
/// among them: they hold a place of the load that is in no figure of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Silent {
    /// All of them.
    pub count: u64,
    /// Of them, those sent in the warm-up: in no other count.
    pub of_warmup: u64,
    /// Of them, those to which an interim response (1xx) came, and nothing of a final one.
    pub interim: u64,
    /// Connections that had been opening for as long, handshakes of TLS and tunnels included: no request was sent on them.
    pub connecting: u64,
    /// The longest that one of them all had waited, since it was sent or began to open.
    pub longest_ns: u64,
}

impl Silent {
    /// Shorter silences are pauses, however short the run was.
    const PAUSE_NS: u64 = 200_000_000;

    /// How long a request has waited that counts at the end of a run of this length: in half of a short run that did not
    /// respond to it, a server had time to.
    pub fn least_ns(run_ns: u64) -> u64 {
        (run_ns / 2).clamp(Self::PAUSE_NS, Stopped::SILENCE_NS)
    }

    /// Counts a request that was sent so long ago, if that is long enough in a run of this length.
    pub fn note(&mut self, waited_ns: u64, of_warmup: bool, run_ns: u64) {
        if waited_ns >= Self::least_ns(run_ns) {
            self.count += 1;
            self.of_warmup += u64::from(of_warmup);
            self.longest_ns = self.longest_ns.max(waited_ns);
        }
    }

    /// The same of one to which only an interim response came.
    pub fn note_interim(&mut self, waited_ns: u64, of_warmup: bool, run_ns: u64) {
        let before = self.count;
        self.note(waited_ns, of_warmup, run_ns);
        self.interim += self.count - before;
    }

    /// Counts a connection that began to open so long ago and does not stand.
    pub fn note_connecting(&mut self, waited_ns: u64, run_ns: u64) {
        if waited_ns >= Self::least_ns(run_ns) {
            self.connecting += 1;
            self.longest_ns = self.longest_ns.max(waited_ns);
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { count, of_warmup, interim, connecting, longest_ns } = other;
        self.interim += interim;
        self.connecting += connecting;
        self.count += count;
        self.of_warmup += of_warmup;
        self.longest_ns = self.longest_ns.max(longest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_short_run_is_long_enough() {
        let counted = |waited_ms: u64, run_ms: u64| {
            let mut silent = Silent::default();
            silent.note(waited_ms * 1_000_000, false, run_ms * 1_000_000);
            silent.count
        };
        assert_eq!((counted(999, 10_000), counted(1_000, 10_000)), (0, 1));
        assert_eq!((counted(499, 1_000), counted(998, 1_000)), (0, 1));
        assert_eq!((counted(199, 200), counted(299, 300)), (0, 1));
        let mut silent = Silent::default();
        silent.note_interim(1_000_000_000, false, 10_000_000_000);
        silent.note_interim(900_000_000, false, 10_000_000_000);
        silent.note(1_000_000_000, false, 10_000_000_000);
        assert_eq!((silent.count, silent.interim), (2, 1));
        let mut silent = Silent::default();
        silent.note_connecting(999_000_000, 10_000_000_000);
        assert_eq!(silent, Silent::default());
        silent.note_connecting(1_500_000_000, 10_000_000_000);
        assert_eq!((silent.count, silent.connecting, silent.longest_ns), (0, 1, 1_500_000_000));
    }
}
