//! Options that findings advise, as whoever described the load spells them: a command line of ours, ab's, gurl's, or a
//! program that uses the library. A finding names an [`Opt`], never the word.

use ablaze_model::Run;
use ablaze_model::plan::data::Data;
use ablaze_model::spec::FrontEnd;

/// What a finding can advise to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opt {
    /// How many connections there are.
    Connections,
    /// The length of the run.
    Duration,
    /// The client's threads.
    Threads,
    /// Load before the measured time.
    Warmup,
    /// The longest that a request may take.
    Timeout,
    /// Statuses that are meant.
    Expect,
    /// Requests per second.
    Rate,
    /// Streams of HTTP/2 on each connection.
    Streams,
    /// A connection for each request.
    NoKeepAlive,
    /// When a connection is closed from here.
    RequestsPerConnection,
    /// HTTP/1.1 instead of what was spoken.
    Http11,
    /// Connections are opened over time.
    Ramp,
    /// Requests are not sent again.
    NoRepeat,
    /// Addresses that connections come from.
    LocalAddress,
    /// A field of the head.
    Header,
    /// The I/O backend `epoll`.
    Epoll,
    /// One thread.
    OneThread,
    /// The longest head of a response.
    MaxHead,
}

/// The option as it is spelled for this run.
pub(crate) fn spelled(run: &Run, option: Opt) -> &'static str {
    // Each user has a connection, and the two options cannot be used together.
    if option == Opt::Connections && run.plan.journey.is_some() && run.front_end() == FrontEnd::Load
    {
        return "--users";
    }
    option.of(run.front_end())
}

/// What a run is limited by that ends with a number: of journeys, or of those of each user, where it walks them.
pub(crate) fn number_asked(run: &Run) -> &'static str {
    // No more are asked for than there are rows.
    let rows = run.plan.requests.data.as_ref().and_then(Data::requests_max);
    if rows.is_some() && rows == run.plan.limits.requests {
        return "rows that are each used once (--feed-order unique)";
    }
    match run.plan.journey.as_ref().map(|journey| journey.users.iterations) {
        None => "a number of requests",
        Some(None) => "a number of journeys",
        Some(Some(_)) => "a number of iterations (--iterations)",
    }
}

impl Opt {
    fn of(self, front_end: FrontEnd) -> &'static str {
        match front_end {
            FrontEnd::Library => self.setter(),
            FrontEnd::Gurl => self.of_gurl(),
            FrontEnd::Wrk => self.of_wrk(),
            FrontEnd::Hey => self.of_hey().unwrap_or(self.word()),
            FrontEnd::Vegeta => self.of_vegeta().unwrap_or(self.word()),
            FrontEnd::Oha => self.of_oha().unwrap_or(self.word()),
            FrontEnd::H2load => self.of_h2load().unwrap_or(self.word()),
            // Beside ab's letters `ablaze ab` takes the words.
            FrontEnd::Ab => self.of_ab().unwrap_or(self.word()),
            _ => self.word(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Connections => "--connections",
            Self::Duration => "--duration",
            Self::Threads => "--threads",
            Self::Warmup => "--warmup",
            Self::Timeout => "--timeout",
            Self::Expect => "--expect",
            Self::Rate => "--rate",
            Self::Streams => "--streams",
            Self::NoKeepAlive => "--no-keepalive",
            Self::RequestsPerConnection => "--requests-per-connection",
            Self::Http11 => "--http 1.1",
            Self::Ramp => "--ramp",
            Self::NoRepeat => "--no-repeat",
            Self::LocalAddress => "--local-address",
            Self::Header => "--header",
            Self::Epoll => "--io epoll",
            Self::OneThread => "--threads 1",
            Self::MaxHead => "--max-head",
        }
    }

    fn of_ab(self) -> Option<&'static str> {
        match self {
            Self::Connections => Some("-c"),
            Self::Duration => Some("-t"),
            Self::Timeout => Some("-s"),
            Self::Header => Some("-H"),
            // ab speaks HTTP/1.0.
            Self::Http11 => Some("`ablaze load --http 1.1`"),
            _ => None,
        }
    }

    /// gurl has few options: of the others it is said whose they are.
    fn of_gurl(self) -> &'static str {
        match self {
            Self::Connections => "-ac",
            Self::Duration => "-duration",
            Self::Threads => "-cpus",
            Self::OneThread => "-cpus 1",
            Self::Timeout => "-connect-timeout",
            Self::Rate => "-rate",
            Self::Header => "-H",
            Self::Warmup => "`ablaze load --warmup`",
            Self::Expect => "`ablaze load --expect`",
            Self::Streams => "`ablaze load --streams`",
            Self::NoKeepAlive => "`ablaze load --no-keepalive`",
            Self::RequestsPerConnection => "`ablaze load --requests-per-connection`",
            Self::Http11 => "`ablaze load --http 1.1`",
            Self::Ramp => "`ablaze load --ramp`",
            Self::NoRepeat => "`ablaze load --no-repeat`",
            Self::LocalAddress => "`ablaze load --local-address`",
            Self::Epoll => "`ablaze load --io epoll`",
            Self::MaxHead => "`ablaze load --max-head`",
        }
    }

    /// What wrk has no option for is said with whose it is.
    fn of_wrk(self) -> &'static str {
        match self {
            Self::Connections => "-c",
            Self::Duration => "-d",
            Self::Threads => "-t",
            Self::OneThread => "-t 1",
            Self::Header => "-H",
            Self::Streams | Self::Http11 => self.of_gurl(),
            _ => self.word(),
        }
    }

    /// Beside hey's letters `ablaze hey` takes the words.
    fn of_hey(self) -> Option<&'static str> {
        match self {
            Self::Connections => Some("-c"),
            Self::Duration => Some("-z"),
            Self::Threads => Some("-cpus"),
            Self::OneThread => Some("-cpus 1"),
            Self::Timeout => Some("-t"),
            Self::Header => Some("-H"),
            Self::Rate => Some("-q"),
            Self::NoKeepAlive => Some("-disable-keepalive"),
            _ => None,
        }
    }

    /// Beside oha's options `ablaze oha` takes the words.
    fn of_oha(self) -> Option<&'static str> {
        match self {
            Self::Connections => Some("-c"),
            Self::Duration => Some("-z"),
            Self::Timeout => Some("-t"),
            Self::Header => Some("-H"),
            Self::Rate => Some("-q"),
            Self::Streams => Some("-p"),
            Self::NoKeepAlive => Some("--disable-keepalive"),
            Self::Http11 => Some("--http-version 1.1"),
            _ => None,
        }
    }

    /// Beside vegeta's options `ablaze vegeta attack` takes the words.
    fn of_vegeta(self) -> Option<&'static str> {
        match self {
            Self::Connections => Some("-max-workers"),
            Self::Duration => Some("-duration"),
            Self::Timeout => Some("-timeout"),
            Self::Header => Some("-header"),
            Self::Rate => Some("-rate"),
            Self::NoKeepAlive => Some("-keepalive=false"),
            _ => None,
        }
    }

    /// Beside h2load's options `ablaze h2load` takes the words.
    fn of_h2load(self) -> Option<&'static str> {
        match self {
            Self::Connections => Some("-c"),
            Self::Duration => Some("-D"),
            Self::Threads => Some("-t"),
            Self::OneThread => Some("-t 1"),
            Self::Timeout => Some("-N"),
            Self::Header => Some("-H"),
            Self::Streams => Some("-m"),
            Self::Rate => Some("--rps"),
            Self::Warmup => Some("--warm-up-time"),
            Self::Http11 => Some("--h1"),
            _ => None,
        }
    }

    fn setter(self) -> &'static str {
        match self {
            Self::Connections => "connections()",
            Self::Duration => "duration()",
            Self::Threads => "threads()",
            Self::Warmup => "warmup()",
            Self::Timeout => "timeout()",
            Self::Expect => "expect()",
            Self::Rate => "rate_per_s()",
            Self::Streams => "in_flight_per_connection()",
            Self::NoKeepAlive => "keep_alive(false)",
            Self::RequestsPerConnection => "`connections.requests_per_connection` of the LoadSpec",
            Self::Http11 => "http(HttpVersion::Http11)",
            Self::Ramp => "`connections.ramp_ns` of the LoadSpec",
            Self::NoRepeat => "`connections.repeat: false` of the LoadSpec",
            Self::LocalAddress => "`connections.local_addresses` of the LoadSpec",
            Self::Header => "header()",
            Self::Epoll => "`workers.io: IoChoice::Epoll` of the LoadSpec",
            Self::OneThread => "threads(1)",
            Self::MaxHead => "`limits.max_head_bytes` of the LoadSpec",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn each_front_end_is_told_its_own_options() {
        let mut run = sample::run();
        assert_eq!(spelled(&run, Opt::Timeout), "--timeout", "nothing is known: the words");
        sample::asked(&mut run, &[]);
        let mut of = |front_end, option| {
            run.asked.as_mut().unwrap().front_end = front_end;
            spelled(&run, option)
        };
        assert_eq!(of(FrontEnd::Ab, Opt::Timeout), "-s");
        assert_eq!(of(FrontEnd::Ab, Opt::Duration), "-t");
        assert_eq!(of(FrontEnd::Ab, Opt::Expect), "--expect");
        assert_eq!(of(FrontEnd::Gurl, Opt::Connections), "-ac");
        assert_eq!(of(FrontEnd::Gurl, Opt::Expect), "`ablaze load --expect`");
        assert_eq!(of(FrontEnd::Library, Opt::Rate), "rate_per_s()");
        assert_eq!(of(FrontEnd::Load, Opt::Http11), "--http 1.1");
    }
}
