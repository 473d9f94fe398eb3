//! Under which conditions a server answers: how long it takes, what goes wrong, how it reads and
//! writes. All of it is independent of the I/O model.
//!
//! Here are the words for it; [`circumstances`] is what a running server makes of them, with
//! [`draws`] for what chance decides, [`service_places`] for requests that queue, and [`work`].

pub mod circumstances;
pub mod draws;
pub mod service_places;
pub mod work;

use std::time::Duration;

pub use work::burn_cpu;

/// How long responses wait before they leave.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Delay {
    /// Always as long.
    Constant(Duration),
    /// Every length from the first to the second equally often.
    Uniform(Duration, Duration),
    /// Exponentially distributed with this mean: what comes of many independent causes.
    Exponential(Duration),
    /// Mostly the first; the second for this share (0 to 1) of the responses.
    Bimodal(Duration, Duration, f64),
    /// Nothing is answered for the first duration at the start of every period of the second.
    Stall(Duration, Duration),
}

impl Default for Delay {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

impl From<Duration> for Delay {
    fn from(constant: Duration) -> Self {
        Self::Constant(constant)
    }
}

/// What goes wrong with a response, for a share of the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A reset instead of the response.
    ResetBefore,
    /// Half of the response, then a reset.
    ResetDuring,
    /// The whole response, then a reset.
    ResetAfter,
    /// The connection is closed without a response.
    CloseUnanswered,
    /// Half of the body is missing, then the connection is closed.
    ShortBody,
    /// Content-Length promises fewer bytes than follow.
    WrongLength,
    /// Bytes that are not HTTP.
    Garbage,
    /// The response comes a few bytes at a time.
    Trickle,
}

/// A fault and how often it strikes, as a share from 0 to 1 of the responses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaultShare {
    /// What goes wrong.
    pub fault: Fault,
    /// How often.
    pub share: f64,
}

/// What kind of server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseKind {
    /// An HTTP server.
    #[default]
    Http,
    /// What comes is sent back, whatever it is.
    Echo,
    /// Nothing is ever answered.
    None,
}

/// How many connections are accepted per event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AcceptBatch {
    /// One: the next wait tells of the next.
    One,
    /// All that wait.
    #[default]
    Drain,
}

/// How a response is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteMode {
    /// Head and body in one call as far as possible.
    #[default]
    Whole,
    /// The head in one call, the body in others.
    Split,
}

/// What is done with every accepted connection that serving it does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PerAccept {
    /// Nothing.
    #[default]
    Nothing,
    /// What sylar's TcpServer does: two socket options, both names looked up, and a timer for the
    /// read timeout set and taken back around each read.
    Sylar,
}

/// Socket options of listeners, which accepted connections inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// `SO_SNDBUF`, bytes as asked for (the kernel doubles them); none leaves autotuning on.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF`, as above.
    pub receive_buffer_bytes: Option<u32>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { send_buffer_bytes: None, receive_buffer_bytes: None, no_delay: true }
    }
}

/// How fibers are kept and scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiberOptions {
    /// Size of a stack, without its guard page.
    pub stack_bytes: usize,
    /// Stacks kept for reuse, per worker.
    pub stack_pool: usize,
    /// Who runs a fiber.
    pub scheduler: Scheduler,
    /// How a fiber waits for its socket.
    pub arm: Arm,
}

impl Default for FiberOptions {
    fn default() -> Self {
        Self {
            stack_bytes: 64 * 1024,
            stack_pool: 1024,
            scheduler: Scheduler::PerThread,
            arm: Arm::Persistent,
        }
    }
}

/// Who runs a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheduler {
    /// The worker that accepted it, always: an epoll and a queue per worker.
    #[default]
    PerThread,
    /// Any worker: one queue and one epoll for all, as sylar has it.
    Shared,
}

/// How a fiber waits for its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arm {
    /// Registered once, edge-triggered: no epoll_ctl per wait.
    #[default]
    Persistent,
    /// Registered for each wait and taken out behind it: two epoll_ctl per wait.
    PerWait,
}

/// A response for a path, from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The path; `*` stands for any characters, `?` for one.
    pub path: String,
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}
