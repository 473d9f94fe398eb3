//! What a run knows of HTTP/2 besides its exchanges: what the server permitted, what it refused, and
//! how long bodies of requests waited for its windows. Counted in the measured window; settings
//! whenever they came.

use ablaze_wire::http2::error::ErrorCode;

use crate::failure::FailureKind;

/// What is known of a run's HTTP/2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http2Facts {
    /// Connections the server ended with GOAWAY.
    pub goaways: u64,
    /// These by the code of the first GOAWAY of each.
    pub goaway_codes: Codes,
    /// The first GOAWAY that carried an error: its code, and what the server said to it.
    pub first_goaway: Option<String>,
    /// What the server said in the last GOAWAY that had debug data.
    pub last_goaway_said: Option<String>,
    /// Streams the server reset, by code; REFUSED_STREAM among them.
    pub resets: Codes,
    /// Requests that failed because the server did not process their repetition either.
    pub refused_again: u64,
    /// What the server permits: of several connections the least of each; `None` if no SETTINGS came.
    pub settings: Option<ServerSettings>,
    /// The fewest streams at once that a server permitted (SETTINGS_MAX_CONCURRENT_STREAMS), where
    /// that is fewer than were asked for.
    pub streams_permitted: Option<u32>,
    /// How bodies of requests waited for the server's windows.
    pub waits: WindowWaits,
    /// What the server did wrong first, or why it reset a stream first, in words.
    pub first_failure: Option<(FailureKind, String)>,
}

/// How often each code of RFC 9113, section 7, came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Codes(pub Vec<(u32, u64)>);

/// Settings of the server that limit what a client may send (RFC 9113, 6.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerSettings {
    /// SETTINGS_MAX_CONCURRENT_STREAMS; `None` without a limit.
    pub streams_max: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    pub stream_window_bytes: u32,
    /// SETTINGS_MAX_FRAME_SIZE.
    pub payload_bytes_max: u32,
    /// SETTINGS_MAX_HEADER_LIST_SIZE, if the server gives one.
    pub header_list_bytes: Option<u32>,
}

/// Waiting of request bodies for the server's windows (RFC 9113, 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowWaits {
    /// Times that a body waited for the window of its stream.
    pub stream_times: u64,
    /// How long, all bodies together, ns.
    pub stream_ns: u128,
    /// Times that bodies waited for the window of their connection.
    pub connection_times: u64,
    /// How long, all bodies together, ns.
    pub connection_ns: u128,
    /// The longest time that bodies of one connection waited without a break, ns.
    pub longest_ns: u64,
}

impl Http2Facts {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self {
            goaways,
            goaway_codes,
            first_goaway,
            last_goaway_said,
            resets,
            refused_again,
            settings,
            streams_permitted,
            waits,
            first_failure,
        } = other;
        self.goaways += goaways;
        self.goaway_codes.merge(&goaway_codes);
        self.first_goaway = self.first_goaway.take().or(first_goaway);
        self.last_goaway_said = last_goaway_said.or(self.last_goaway_said.take());
        self.resets.merge(&resets);
        self.refused_again += refused_again;
        if let Some(theirs) = settings {
            self.add_settings(theirs);
        }
        self.streams_permitted = least(self.streams_permitted, streams_permitted);
        self.waits.merge(&waits);
        self.first_failure = self.first_failure.take().or(first_failure);
    }

    /// A server gave these.
    pub fn add_settings(&mut self, theirs: ServerSettings) {
        self.settings = Some(match self.settings {
            None => theirs,
            Some(mine) => ServerSettings {
                streams_max: least(mine.streams_max, theirs.streams_max),
                stream_window_bytes: mine.stream_window_bytes.min(theirs.stream_window_bytes),
                payload_bytes_max: mine.payload_bytes_max.min(theirs.payload_bytes_max),
                header_list_bytes: least(mine.header_list_bytes, theirs.header_list_bytes),
            },
        });
    }

    /// The measured window opens: what was counted before does not belong to it.
    pub fn open_window(&mut self) {
        *self = Self {
            settings: self.settings,
            streams_permitted: self.streams_permitted,
            first_failure: self.first_failure.take(),
            ..Self::default()
        };
    }
}

impl Codes {
    /// So many codes are told apart: RFC 9113 knows 14, but a server may send any of four billion.
    const KEPT: usize = 32;

    /// Stands for the codes beyond those.
    pub const OTHERS: u32 = u32::MAX;

    /// So many more of this code.
    pub fn add(&mut self, code: u32, times: u64) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == code) {
            *known += times;
        } else if self.0.len() < Self::KEPT || code == Self::OTHERS {
            self.0.push((code, times));
        } else {
            self.add(Self::OTHERS, times);
        }
    }

    /// By their names in RFC 9113: `NO_ERROR`.
    pub fn named(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.0.iter().map(|&(code, times)| (Self::name(code), times))
    }

    /// The name of a code in RFC 9113.
    pub fn name(code: u32) -> String {
        match code {
            Self::OTHERS => "other codes".to_owned(),
            code => ErrorCode(code).to_string(),
        }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, times)| times).sum()
    }

    /// Those of one code.
    pub fn of(&self, code: u32) -> u64 {
        self.0.iter().filter(|(known, _)| *known == code).map(|(_, times)| times).sum()
    }

    fn merge(&mut self, other: &Self) {
        for &(code, times) in &other.0 {
            self.add(code, times);
        }
    }
}

impl WindowWaits {
    /// Times that sending stopped, for whichever window.
    pub fn times(&self) -> u64 {
        self.stream_times + self.connection_times
    }

    /// How long bodies waited, all together, ns.
    pub fn total_ns(&self) -> u128 {
        self.stream_ns + self.connection_ns
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let Self { stream_times, stream_ns, connection_times, connection_ns, longest_ns } = *other;
        self.stream_times += stream_times;
        self.stream_ns += stream_ns;
        self.connection_times += connection_times;
        self.connection_ns += connection_ns;
        self.longest_ns = self.longest_ns.max(longest_ns);
    }
}

fn least(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_codes_takes_the_space_of_some() {
        let mut codes = Codes::default();
        (0..100_000).for_each(|code| codes.add(code, 1));
        codes.add(7, 1);
        let mut merged = codes.clone();
        merged.merge(&codes);
        for (codes, times) in [(&codes, 1), (&merged, 2)] {
            assert_eq!(codes.total(), times * 100_001);
            assert_eq!(codes.of(7), times * 2);
            assert!(codes.0.len() <= Codes::KEPT + 1, "{}", codes.0.len());
            let others = codes.named().find(|(name, _)| name == "other codes").unwrap();
            assert_eq!(others.1, times * (100_000 - Codes::KEPT as u64));
        }
    }

    #[test]
    fn workers_are_added_up_and_limits_are_the_least() {
        let settings = |streams_max, stream_window_bytes, header_list_bytes| ServerSettings {
            streams_max,
            stream_window_bytes,
            payload_bytes_max: 16_384,
            header_list_bytes,
        };
        let mut one = Http2Facts {
            goaways: 2,
            goaway_codes: Codes(vec![(0, 1), (11, 1)]),
            last_goaway_said: Some("calm".into()),
            settings: Some(settings(None, 65_535, Some(100))),
            waits: WindowWaits { stream_ns: 5, longest_ns: 3, ..WindowWaits::default() },
            ..Http2Facts::default()
        };
        one.merge(Http2Facts {
            goaways: 1,
            goaway_codes: Codes(vec![(11, 1)]),
            settings: Some(settings(Some(7), 70_000, None)),
            streams_permitted: Some(7),
            waits: WindowWaits { stream_ns: 6, longest_ns: 2, ..WindowWaits::default() },
            ..Http2Facts::default()
        });
        assert_eq!((one.goaways, one.goaway_codes.of(11), one.goaway_codes.total()), (3, 2, 3));
        assert_eq!(one.last_goaway_said.as_deref(), Some("calm"));
        assert_eq!(one.settings, Some(settings(Some(7), 65_535, Some(100))));
        assert_eq!((one.waits.stream_ns, one.waits.longest_ns), (11, 3));
        one.open_window();
        assert_eq!(
            (one.goaways, one.waits, one.streams_permitted),
            (0, WindowWaits::default(), Some(7))
        );
    }
}
