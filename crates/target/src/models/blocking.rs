//! A thread per connection, which blocks in every call. Per small request on an open connection:
//! one read, one write, and what the kernel needs to stop a thread and start it again.

use std::io;
use std::sync::Arc;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::blocking;
use crate::fibers::stack::check_stack_bytes;
use crate::handler::Handler;
use crate::options::Options;

/// The model. Its workers only accept: with accept mode `single` and several of them, one thread
/// accepts and the workers start the threads of the connections in turn; with `shared`, all of
/// them block in accept on one listener, and the kernel wakes one; with `reuseport`, each has a
/// listener of its own. A batch of connections per event means nothing here.
#[derive(Debug)]
pub struct Blocking;

impl IoModel for Blocking {
    const NAME: &'static str = "blocking";
    const ABOUT: &'static str = "a thread per connection, blocked in each read and write";
    type Shared = ();

    fn refuses(accept: AcceptMode) -> Option<&'static str> {
        match accept {
            AcceptMode::Single | AcceptMode::Shared | AcceptMode::ReusePort => None,
            AcceptMode::Exclusive => Some(
                "EPOLLEXCLUSIVE is a flag of epoll, but these threads block in accept, where \
                 the kernel wakes only one; use shared",
            ),
        }
    }

    fn check(options: &Options) -> Result<(), String> {
        crate::conversation::check(options)?;
        check_stack_bytes(options)
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        blocking::set_up(worker)
    }
}
