//! A fiber per connection: straight-line code on a stack of its own, left where it would block
//! and entered again when it can go on.
//!
//! By layers, from below: [`stack`] is memory; [`switch`] how a stack is left and entered, in two
//! ways, [`assembly`] and [`ucontext`]; [`wait`] what fibers and their scheduler say to each
//! other; [`registry`] who can run and who waits for what; [`reactor`] the registry with its epoll,
//! one per worker or one for all; [`worker`] a worker's loop; [`source`] how a fiber waits for a
//! descriptor; [`connection`] and [`acceptor`] what fibers do.

pub mod acceptor;
pub mod assembly;
pub mod connection;
pub mod reactor;
pub mod registry;
pub mod source;
pub mod stack;
pub mod switch;
pub mod ucontext;
pub mod wait;
pub mod worker;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use crate::accepting::AcceptMode;
use crate::conditions::Scheduler;
use crate::handler::Handler;
use crate::models::{Run, Worker};
use crate::options::Options;
use acceptor::Acceptor;
use reactor::{Common, Reactor};
use switch::Switch;
use worker::{FiberWorker, Kept};

/// What the workers of one server share; nothing with a scheduler per thread.
pub type Shared<S> = Option<Arc<Common<Kept<S>>>>;

/// Whether fibers over this switch can serve with these options.
///
/// # Errors
/// One sentence with the reason and the fix.
pub fn check<S: Switch>(options: &Options) -> Result<(), String> {
    if let Some(why) = S::refuses() {
        return Err(why.to_owned());
    }
    if accepts_itself(options) && options.accept != AcceptMode::Single {
        return Err(format!(
            "the shared scheduler has one epoll and one accepting fiber for all workers, so \
             accept mode {} is not supported; use single, or the scheduler per-thread",
            options.accept
        ));
    }
    crate::conversation::check(options)?;
    stack::check_stack_bytes(options)
}

/// Whether a fiber accepts for all workers.
pub fn accepts_itself(options: &Options) -> bool {
    options.fibers.scheduler == Scheduler::Shared
}

/// Makes what the workers share.
///
/// # Errors
/// When there are no descriptors for it.
pub fn share<S: Switch>(options: &Options) -> io::Result<Shared<S>> {
    Ok(match options.fibers.scheduler {
        Scheduler::PerThread => None,
        Scheduler::Shared => Some(Arc::new(Common::new()?)),
    })
}

/// Sets a worker up.
///
/// # Errors
/// When there is no descriptor, or no memory for the first fiber.
pub fn set_up<S: Switch, H: Handler>(worker: Worker<H>, shared: &Shared<S>) -> io::Result<Run> {
    let Worker { number, intake, service, options, counters, stop } = worker;
    let reactor = match shared {
        None => Reactor::own()?,
        Some(common) => Reactor::Shared(common.clone()),
    };
    let worker = FiberWorker::new(reactor, &options, counters, &stop)?;
    if shared.is_none() || number == 0 {
        let Options { accept_batch: batch, per_accept, .. } = *options;
        let acceptor = Acceptor { intake, service, batch, per_accept };
        worker.spawn(worker.stack()?, |here| acceptor.run(here));
    }
    Ok(Box::new(move || {
        let ended = worker.run();
        // Watched to the end: a closed descriptor would leave the shared epoll without its news.
        drop(stop);
        Ok(ended?)
    }))
}
