//! One connection on the ring: its socket, its protocol state, and which requests for it are
//! under way.

use super::operations::File;
use super::outgoing::Outgoing;
use crate::protocol::{Next, Protocol};

/// A socket and its state.
#[derive(Debug)]
pub struct Connection {
    /// The socket.
    pub file: File,
    /// What was received and answered.
    pub protocol: Protocol,
    /// What follows when nothing is being sent.
    pub stage: Stage,
    /// The send under way: one at a time, so that order is kept.
    pub sending: Sending,
    /// Number of the last silent send.
    pub silent: u64,
    /// What is being sent.
    pub outgoing: Option<Box<Outgoing>>,
    /// The receive under way.
    pub receiving: Receiving,
    /// That receive was asked to stop.
    pub stopping: bool,
    /// Space in the socket is watched for: from the first time it was full.
    pub writable_watched: bool,
    /// Bytes that came while they could not be used.
    pub held: Vec<u8>,
    /// The client has closed its sending side.
    pub at_end: bool,
    /// The socket held more when the last bytes were received.
    pub more_there: bool,
    /// What came last was answered: the next request may be waited for with a receive that stays.
    /// Such a receive never tells of a reset that came together with bytes (seen on Linux 6.18:
    /// its poll has fired, and the kernel does not look again). Who sends a response learns of it
    /// by that; while a request is incomplete, each receive is a new one, which looks.
    pub answered: bool,
    /// When [`Next::ReadFor`] ends; 0 if no timer is set for it.
    pub alarm_ns: u64,
    /// For the read timeout.
    pub waited: u64,
}

/// What a connection does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// As the protocol said.
    Next(Next),
    /// A response waits for its time.
    Waiting,
    /// Our side is closed; what comes is dropped.
    Lingering,
    /// It is closed as soon as the kernel is done with what is being sent.
    Ending,
}

/// The send under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// None.
    Nothing,
    /// One that completes silently, or fails.
    Now,
    /// The same, with the close linked behind it.
    NowAndClose,
    /// None: the socket is full, and room is waited for.
    Waiting,
    /// None; a descriptor is made, to close the sending side with.
    Installing,
}

/// The receive under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receiving {
    /// None.
    Nothing,
    /// One that ends with its first bytes.
    Once,
    /// One that goes on.
    Many,
}

impl Connection {
    /// Around a socket that was just accepted.
    pub fn new(file: File, protocol: Protocol) -> Self {
        Self {
            file,
            protocol,
            stage: Stage::Next(Next::Read),
            sending: Sending::Nothing,
            silent: 0,
            outgoing: None,
            receiving: Receiving::Nothing,
            stopping: false,
            writable_watched: false,
            held: Vec::new(),
            at_end: false,
            more_there: false,
            answered: false,
            alarm_ns: 0,
            waited: 0,
        }
    }

    /// Whether bytes that come can be used at once.
    #[inline]
    pub fn can_use_bytes(&self) -> bool {
        matches!(self.stage, Stage::Next(Next::Read | Next::ReadFor(_)))
            && self.sending == Sending::Nothing
            && self.held.is_empty()
    }

    /// Whether it only waits for a request, and a receive is under way for that.
    #[inline]
    pub fn is_receiving_on(&self) -> bool {
        self.can_use_bytes() && self.receiving != Receiving::Nothing && !self.at_end
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.can_use_bytes() && self.protocol.is_idle()
    }
}
