//! A fiber per connection over glibc's swapcontext. Per small request on an open connection: its
//! share of one wait, one read, one write, and two switches with an rt_sigprocmask each.

use std::io;
use std::sync::Arc;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::fibers::{self, ucontext::Ucontext};
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct FiberUcontext;

impl IoModel for FiberUcontext {
    const NAME: &'static str = "fiber-ucontext";
    const ABOUT: &'static str =
        "a fiber per connection over swapcontext of glibc: a system call per switch";
    type Shared = fibers::Shared<Ucontext>;

    fn refuses(_accept: AcceptMode) -> Option<&'static str> {
        None
    }

    fn accepts_itself(options: &Options) -> bool {
        fibers::accepts_itself(options)
    }

    fn check(options: &Options) -> Result<(), String> {
        fibers::check::<Ucontext>(options)
    }

    fn share(options: &Options) -> io::Result<Self::Shared> {
        fibers::share::<Ucontext>(options)
    }

    fn set_up<H: Handler>(worker: Worker<H>, shared: Arc<Self::Shared>) -> io::Result<Run> {
        fibers::set_up::<Ucontext, H>(worker, &shared)
    }
}
