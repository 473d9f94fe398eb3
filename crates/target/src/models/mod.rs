//! The I/O models: each says how a worker waits, reads and writes, in a file of its own, and
//! nothing of HTTP. A new one is one new file and one line in the list below.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::accepting::{AcceptMode, Intake};
use crate::counters::Counters;
use crate::handler::Handler;
use crate::options::Options;
use crate::server::Stop;
use crate::service::Service;

/// An I/O model: how a worker waits, reads and writes.
pub trait IoModel {
    /// Its name on the command line.
    const NAME: &'static str;
    /// What it does per request, in a line.
    const ABOUT: &'static str;
    /// It is a baseline, not a real HTTP server: it need not answer as the others do.
    const EXEMPT: bool = false;
    /// It makes the calls that wait, and those that prepare waiting, by itself. If a runtime does,
    /// `waits`, `events` and the `epoll_` counters stay at 0.
    const WAITS_ITSELF: bool = true;
    /// A thread for datagrams can be beside its workers. The others are as those systems are that they are modelled on.
    const SPEAKS_HTTP3: bool = false;
    /// What all workers of one server share.
    type Shared: Send + Sync + 'static;

    /// Why connections cannot come to it this way; nothing if they can.
    fn refuses(accept: AcceptMode) -> Option<&'static str>;

    /// What else is impossible, on this machine or with these options.
    ///
    /// # Errors
    /// One sentence with the reason and the fix.
    fn check(_options: &Options) -> Result<(), String> {
        Ok(())
    }

    /// Whether the workers accept for each other, so that no thread has to with
    /// [`AcceptMode::Single`]: each worker is given the listener.
    fn accepts_itself(_options: &Options) -> bool {
        false
    }

    /// Makes what the workers share; called once, before they start.
    ///
    /// # Errors
    /// Those of the kernel.
    fn share(options: &Options) -> io::Result<Self::Shared>;

    /// Sets a worker up, on its own thread, and returns what that thread then runs until it is
    /// told to stop.
    ///
    /// # Errors
    /// When the kernel refuses a descriptor or memory: the server does not start.
    fn set_up<H: Handler>(worker: Worker<H>, shared: Arc<Self::Shared>) -> io::Result<Run>;
}

/// What a worker's thread runs, once it is set up.
pub type Run = Box<dyn FnOnce() -> io::Result<()>>;

/// What a worker is given.
#[derive(Debug)]
pub struct Worker<H> {
    /// Its number, from 0.
    pub number: usize,
    /// Where its connections come from.
    pub intake: Intake,
    /// What it serves.
    pub service: Arc<Service<H>>,
    /// The options of the server.
    pub options: Arc<Options>,
    /// The counters of this worker.
    pub counters: Arc<Counters>,
    /// How it is told to stop.
    pub stop: Arc<Stop>,
}

macro_rules! models {
    ($($module:ident::$variant:ident $doc:literal,)*) => {
        $(mod $module;)*

        /// The I/O models by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Model {
            $(#[doc = $doc] $variant,)*
        }

        impl Model {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$module::$variant>::NAME,)* }
            }

            /// What it does per request, in a line.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => <$module::$variant>::ABOUT,)* }
            }

            /// Whether it is a baseline, not a real HTTP server.
            pub fn is_exempt(self) -> bool {
                match self { $(Self::$variant => <$module::$variant>::EXEMPT,)* }
            }

            /// Whether `waits`, `events` and the `epoll_` counters say what it does: a runtime
            /// that waits by itself does not tell.
            pub fn waits_itself(self) -> bool {
                match self { $(Self::$variant => <$module::$variant>::WAITS_ITSELF,)* }
            }

            /// Whether it can serve HTTP/3, too.
            pub fn speaks_http3(self) -> bool {
                match self { $(Self::$variant => <$module::$variant>::SPEAKS_HTTP3,)* }
            }

            /// Why connections cannot come to it this way; nothing if they can.
            pub fn refuses(self, accept: AcceptMode) -> Option<&'static str> {
                match self { $(Self::$variant => <$module::$variant>::refuses(accept),)* }
            }

            /// Whether the workers accept for each other; see [`IoModel::accepts_itself`].
            pub(crate) fn accepts_itself(self, options: &Options) -> bool {
                match self { $(Self::$variant => <$module::$variant>::accepts_itself(options),)* }
            }

            fn check_alone(self, options: &Options) -> Result<(), String> {
                match self { $(Self::$variant => <$module::$variant>::check(options),)* }
            }

            /// Starts all workers on threads of their own.
            pub(crate) fn start<H: Handler>(
                self,
                workers: Vec<Worker<H>>,
                options: &Options,
            ) -> io::Result<Vec<crate::server::Thread>> {
                match self {
                    $(Self::$variant => crate::server::start_workers::<$module::$variant, H>(workers, options),)*
                }
            }
        }
    };
}

models! {
    epoll_lt::EpollLt "One event loop per thread over epoll, level-triggered.",
    epoll_et::EpollEt "One event loop per thread over epoll, edge-triggered.",
    poll::Poll "One event loop per thread over poll(2).",
    raw::Raw "A baseline that sends one fixed response to everything; no HTTP server.",
    blocking::Blocking "A thread per connection, blocked in each read and write.",
    fiber_ucontext::FiberUcontext "A fiber per connection over swapcontext of glibc.",
    fiber_asm::FiberAsm "A fiber per connection over a switch in assembly.",
    uring::Uring "io_uring with multishot accept and receive.",
    asynchronous::Async "async/await on tokio, a task per connection.",
}

impl Model {
    /// The model of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|model| model.name() == name)
    }

    /// Whether this model can serve with these options.
    ///
    /// # Errors
    /// One sentence with the reason and the fix.
    pub fn check(self, options: &Options) -> Result<(), String> {
        if let Some(why) = self.refuses(options.accept) {
            return Err(format!("{self} does not support accept mode {}: {why}", options.accept));
        }
        self.check_alone(options)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}
