//! What coordinator and workers say, a line of JSON each. A worker speaks only when it was spoken to: until its
//! assignment it says nothing, so that nothing is lost before somebody listens. Lines of a later version may have more
//! fields; a kind of line that is not known is an error, which names both versions.

mod files;
mod row;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use ablaze_model::fleet::WorkerMachine;
use ablaze_model::spec::LoadSpec;
use serde::{Deserialize, Serialize};

pub use files::Files;
pub use row::Row;

/// Version of the lines. Both sides must have the same.
pub const VERSION: u32 = 1;

/// What the coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum ToWorker {
    /// What to do: the first line.
    #[serde(skip_deserializing)]
    Assignment(Box<Assignment>),
    /// Asks for the worker's clock.
    Ping {
        /// Comes back with the answer.
        number: u32,
    },
    /// Begin at this moment.
    Start {
        /// By the worker's own monotonic clock, ns.
        at_ns: u64,
    },
    /// There is somebody. Said every second.
    Alive,
    /// End the run, and tell what was measured.
    Stop,
    /// The Run has arrived, or is not wanted; nothing else is.
    Received,
}

/// A worker's share of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// [`VERSION`].
    pub version: u32,
    /// The program's version: both sides must be the same program.
    pub program: String,
    /// What tells this run from all others: 32 hexadecimal digits.
    pub id: String,
    /// What the worker is called in reports.
    pub name: String,
    /// Its number, from 0. Its Run waits under `ID-INDEX` where it cannot be handed over.
    pub index: u32,
    /// How many workers there are.
    pub of: u32,
    /// The whole load; the worker takes its part of it.
    pub load: LoadSpec,
    /// The bytes of the files that the load names, by SHA-256, in base64.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    pub files: Files,
    /// The texts of its secrets, by name. They are kept nowhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// The client's certificates with their keys, by name. They are kept nowhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub identities: BTreeMap<String, Identity>,
}

/// A client's certificate with its private key, as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The certificate and those between it and its root, DER in base64.
    pub chain: Vec<String>,
    /// Its private key, DER in base64.
    pub key: String,
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub enum FromWorker {
    /// Its connections stand, its users are prepared, its server is warm: it waits for [`ToWorker::Start`].
    #[serde(skip_deserializing)]
    Ready(WorkerMachine),
    /// Its clock.
    Pong {
        /// That of the ping.
        number: u32,
        /// Its monotonic clock, ns.
        at_ns: u64,
    },
    /// The clock of its run has started.
    Started {
        /// By its monotonic clock, ns.
        at_ns: u64,
    },
    /// What happened in a piece of the run.
    #[serde(skip_deserializing)]
    Row(Row),
    /// What its last second shows. Said about once a second.
    Now {
        /// How busy its threads are on average, from 0 to 1, where that can be seen.
        busy: Option<f64>,
        /// What limits it, where that can be told: a key of [`ablaze_model::finding::Limit`].
        limit: Option<String>,
    },
    /// Something was found in what its run has come to so far, or holds no more. At the end the Run says more.
    Found(Found),
    /// It is there. Said every second in which it says nothing else.
    Alive,
    /// The run is over: the whole of it, as `-o run.json` saves it.
    Run {
        /// The file.
        document: String,
        /// A signal, or its own limit, ended the run before its time.
        #[serde(default)]
        cut_short: bool,
    },
    /// It cannot do what it was asked for.
    Failed {
        /// Why, and what to do.
        why: String,
    },
    /// Its last line.
    Bye,
}

/// Something that a worker found while its run lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The diagnosis, as reports call it: `D20`. A foreign string.
    pub id: String,
    /// What it goes by. A foreign string.
    pub evidence: String,
    /// Whether it holds still.
    pub holds: bool,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// How it begins, at most [`Unreadable::SHOWN`] characters. A foreign string.
    pub beginning: String,
    /// What is wrong with it.
    pub why: String,
}

impl Unreadable {
    /// Characters of a line that are kept.
    pub const SHOWN: usize = 120;
}

/// A message as its line, without the newline.
pub fn to_line(message: &impl Serialize) -> String {
    serde_json::to_string(message)
        .expect("strings as keys and no type that could fail to serialize")
}

/// Writes a message as its line, with the newline.
///
/// # Errors
/// When it cannot be written.
pub fn write_line(message: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, message)?;
    to.write_all(b"\n")
}

/// A message that can be read from its line.
pub trait Message: Sized {
    /// The message of a line.
    ///
    /// # Errors
    /// When it is none.
    fn of_json(line: &str) -> serde_json::Result<Self>;
}

/// The tag of a line. What the larger messages are made of is read from the line again: a derived enum with a tag is read by
/// way of a copy, with code of its own for each type in it.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    say: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow)]
    tell: Cow<'a, str>,
}

impl Message for ToWorker {
    fn of_json(line: &str) -> serde_json::Result<Self> {
        match &*serde_json::from_str::<Said<'_>>(line)?.say {
            "assignment" => serde_json::from_str(line).map(Self::Assignment),
            _ => serde_json::from_str(line),
        }
    }
}

impl Message for FromWorker {
    fn of_json(line: &str) -> serde_json::Result<Self> {
        match &*serde_json::from_str::<Told<'_>>(line)?.tell {
            "ready" => serde_json::from_str(line).map(Self::Ready),
            "row" => serde_json::from_str(line).map(Self::Row),
            _ => serde_json::from_str(line),
        }
    }
}

/// The message of a line.
///
/// # Errors
/// When it is none.
pub fn of_line<M: Message>(line: &str) -> Result<M, Unreadable> {
    M::of_json(line).map_err(|error| Unreadable {
        beginning: line.chars().take(Unreadable::SHOWN).collect(),
        why: error.to_string(),
    })
}
