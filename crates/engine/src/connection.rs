//! A connection and the exchanges in flight on it: plain data of the worker, small and reused.

use crate::protocol::State;
use crate::worker::SETUP_ATTEMPTS;
use ablaze_model::failure::FailureKind;
use ablaze_net::Receive;

/// One request and its response to come.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exchange {
    /// Number of the request in the run.
    pub number: u64,
    /// When it was due, in open loop; 0 in closed loop.
    pub intended_ns: u64,
    /// When it began: connecting for it, or sending it. 0 until the driver submits.
    pub started_ns: u64,
    /// When its bytes were handed to the kernel. 0 until then.
    pub sent_ns: u64,
    /// When the first byte of its response came; 0 until then.
    pub first_byte_ns: u64,
    /// How long connecting for it took; 0 on a connection that stood already.
    pub connect_ns: u64,
    /// How long the TLS handshake behind that took; 0 where there was none.
    pub tls_ns: u64,
    /// The connection was made for it: of several that waited for one connection, the first.
    pub made_connection: bool,
    /// Which of the Plan's templates it sends.
    pub template: u32,
    /// It was sent once before, on a connection that the server closed before answering.
    pub repeated: bool,
}

impl Exchange {
    /// What its timeout counts from: when it was due in open loop, when it began in closed loop.
    #[inline]
    pub fn timed_from_ns(&self) -> u64 {
        if self.intended_ns > 0 { self.intended_ns } else { self.started_ns }
    }

    /// Gives it the times it has not got yet: it is being sent, or ended before it could be.
    #[inline]
    pub fn stamp(&mut self, at: u64) {
        if self.started_ns == 0 {
            self.started_ns = at;
        }
        if self.sent_ns == 0 {
            self.sent_ns = at;
        }
    }
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// No socket, nothing planned.
    #[default]
    Free,
    /// No socket until its deadline, then it is opened.
    Resting,
    /// Connecting.
    Opening,
    /// Connected.
    Open,
    /// The driver was asked to close it.
    Closing,
}

/// A place for one connection at a time: the worker's part, and the protocol's `state`.
#[derive(Debug, Clone, Copy)]
pub struct Connection<S> {
    /// What it is doing.
    pub stage: Stage,
    /// It holds no place of the load: without a socket, or over and waiting for the server to close.
    pub is_spare: bool,
    /// It is in the open loop's list of connections that stand idle.
    pub listed_idle: bool,
    /// It is in the open loop's list of slots without a socket.
    pub listed_vacant: bool,
    /// What the connection was given up for.
    pub given_up: Option<FailureKind>,
    /// How the driver was last told to receive.
    pub mode: Receive,
    /// Exchanges in flight.
    pub in_flight: u32,
    /// Requests sent on this connection since it was opened.
    pub requests: u64,
    /// Responses completed on it.
    pub responses: u64,
    /// Since when it has had nothing to do, if it has.
    pub idle_since_ns: u64,
    /// How many responses were complete on it then: with another number, it has had something to do since.
    pub idle_after: u64,
    /// Attempts to connect that failed since the last success.
    pub failed_attempts: u32,
    /// Its socket was connected, and the protocol could be spoken.
    pub stood: bool,
    /// Connections in a row that stood and took none of the requests that waited.
    pub ended_in_vain: u32,
    /// The last of them was ended by GOAWAY.
    pub was_sent_away: bool,
    /// How long its TLS handshake took; 0 where there was none.
    pub tls_ns: u64,
    /// When opening it began. 0 until the driver submits.
    pub opening_ns: u64,
    /// When it must have moved on: while resting, closing or held.
    pub deadline_ns: u64,
    /// Left to the server to close: until when.
    pub left_until_ns: u64,
    /// How many bytes the worker had received when it began to listen whether the server serves others meanwhile;
    /// `None` while no request waits.
    pub silent_since_bytes: Option<u64>,
    /// The length of that silence at the next look.
    pub silence_ns: u64,
    /// Which of its origin's addresses it goes to.
    pub address: usize,
    /// Which of the Plan's origins it goes to.
    pub origin: u16,
    /// Which user's requests it carries, where a [`Walk`](crate::walk::Walk) says what is sent.
    pub user: u32,
    /// That user has nothing to send until a time.
    pub pauses: bool,
    /// That user is at a connection to another origin.
    pub is_left: bool,
    /// That user came while it was being closed: what is in flight is sent on the next connection.
    pub is_awaited: bool,
    /// What the protocol keeps of it. One that changes protocols has another state from then on.
    pub state: S,
}

impl<S: State> Connection<S> {
    /// A free place.
    pub fn new(state: S, user: u32, is_spare: bool) -> Self {
        Self {
            stage: Stage::Free,
            is_spare,
            listed_idle: false,
            listed_vacant: false,
            given_up: None,
            mode: Receive::Stream,
            in_flight: 0,
            requests: 0,
            responses: 0,
            idle_since_ns: 0,
            idle_after: 0,
            failed_attempts: 0,
            stood: false,
            ended_in_vain: 0,
            was_sent_away: false,
            tls_ns: 0,
            opening_ns: 0,
            deadline_ns: u64::MAX,
            left_until_ns: 0,
            silent_since_bytes: None,
            silence_ns: 0,
            address: 0,
            origin: 0,
            user,
            pauses: false,
            is_left: false,
            is_awaited: false,
            state,
        }
    }

    /// Before the clock it is not tried again.
    pub fn tried_enough(&mut self) {
        self.failed_attempts = self.failed_attempts.max(SETUP_ATTEMPTS);
    }

    /// It has nothing to do.
    pub fn is_idle_from(&mut self, now_ns: u64) {
        if self.idle_after != self.responses {
            self.idle_after = self.responses;
            self.idle_since_ns = now_ns;
        }
    }

    /// How long it had been idle at a time, behind a response; 0 where its next request left at once.
    pub fn idle_ns(&self, at: u64) -> u64 {
        match self.idle_after == self.responses {
            true => at.saturating_sub(self.idle_since_ns),
            false => 0,
        }
    }

    /// Forgets what belonged to the socket; exchanges in flight, the count of failed attempts, the
    /// place in the load, its user and that in a list stay.
    pub fn socket_gone(&mut self) {
        self.state.socket_gone();
        self.stage = Stage::Free;
        self.given_up = None;
        self.mode = Receive::Stream;
        self.stood = false;
        self.requests = 0;
        self.responses = 0;
        self.idle_after = 0;
        self.tls_ns = 0;
        self.opening_ns = 0;
        self.deadline_ns = u64::MAX;
        self.address = 0;
    }
}
