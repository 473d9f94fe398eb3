//! The values that options of a built-in server have: words of which one is taken, shares, delays, threads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An option that takes one of a few words. It is saved, shown and read by that word.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word for it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

words! {
    /// How connections come to the workers.
    AcceptMode {
        /// One thread accepts and hands them out in turn.
        Single = "single",
        /// One listener in the epoll of every worker.
        Shared = "shared",
        /// The same with EPOLLEXCLUSIVE.
        Exclusive = "exclusive",
        /// A listener per worker.
        ReusePort = "reuseport",
    }
}

words! {
    /// Who runs a fiber.
    Scheduler {
        /// The worker that accepted its connection.
        PerThread = "per-thread",
        /// Any worker.
        Shared = "shared",
    }
}

words! {
    /// How a fiber waits for its socket.
    Arm {
        /// Registered once.
        Persistent = "persistent",
        /// Registered for each wait.
        PerWait = "per-wait",
    }
}

words! {
    /// What kind of server it is.
    ResponseKind {
        /// An HTTP server.
        Http = "http",
        /// It sends back what comes.
        Echo = "echo",
        /// It never responds.
        None = "none",
    }
}

words! {
    /// How a response is written.
    WriteMode {
        /// Head and body in one call.
        Whole = "whole",
        /// Head and body in two.
        Split = "split",
    }
}

words! {
    /// How many connections are accepted per event.
    AcceptBatch {
        /// One.
        One = "one",
        /// All that wait.
        Drain = "drain",
    }
}

words! {
    /// What is done with an accepted connection that serving it does not need.
    PerAccept {
        /// Nothing.
        Nothing = "nothing",
        /// What sylar's TcpServer does.
        Sylar = "sylar",
    }
}

words! {
    /// What goes wrong with a response.
    Fault {
        /// A reset instead of the response.
        ResetBefore = "reset-before",
        /// Half of the response, then a reset.
        ResetDuring = "reset-during",
        /// The whole response, then a reset.
        ResetAfter = "reset-after",
        /// The connection is closed without a response.
        CloseUnanswered = "close-unanswered",
        /// Half of the body is missing, then the connection is closed.
        ShortBody = "short-body",
        /// Content-Length promises fewer bytes than follow.
        WrongLength = "wrong-length",
        /// Bytes that are not HTTP.
        Garbage = "garbage",
        /// The response comes a few bytes at a time.
        Trickle = "trickle",
    }
}

/// Worker threads. Saved as a number, or as `"all"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One per CPU of the machine that starts the server.
    All,
    /// This number.
    Exactly(u32),
}

impl Threads {
    /// How many these are on a machine with this many CPUs.
    pub fn count(self, cpus: u32) -> u32 {
        match self {
            Self::All => cpus,
            Self::Exactly(threads) => threads,
        }
    }
}

impl Serialize for Threads {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => to.serialize_str("all"),
            Self::Exactly(threads) => to.serialize_u32(*threads),
        }
    }
}

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Saved {
            Number(u32),
            Word(String),
        }
        match Saved::deserialize(from)? {
            Saved::Number(threads) => Ok(Self::Exactly(threads)),
            Saved::Word(word) if word == "all" => Ok(Self::All),
            Saved::Word(word) => {
                Err(de::Error::custom(format!("`{word}`: expected a number of threads, or all")))
            }
        }
    }
}

/// A share of the responses, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Share(f64);

impl Share {
    /// This share; `None` when it is not from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// As a number from 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// It is never NaN.
impl Eq for Share {}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        Self::new(share).ok_or_else(|| format!("{share} is not a share from 0 to 1"))
    }
}

/// How long responses wait before they leave. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// Always as long.
    Constant(u64),
    /// Every length from the first to the second equally often.
    Uniform(u64, u64),
    /// Exponentially distributed with this mean.
    Exponential(u64),
    /// Mostly the first; the second for this share of the responses.
    Bimodal(u64, u64, Share),
    /// No responses for the first time at the start of every period of the second.
    Stall(u64, u64),
}

/// An application beside the paths that every built-in server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum App {
    /// A shop, with these errors.
    Shop {
        /// 404 instead of an item: a share of the responses about one.
        not_found: Option<Share>,
        /// 500: a share of all of its responses.
        failing: Option<Share>,
    },
}

/// A fault, and the share of the responses that it strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultShare {
    /// What goes wrong.
    pub fault: Fault,
    /// How often.
    pub share: Share,
}
