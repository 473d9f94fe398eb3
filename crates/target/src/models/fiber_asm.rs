//! A fiber per connection over a switch in assembly. Per small request on an open connection: its
//! share of one wait, one read, one write, and two switches of a few instructions.

use std::io;
use std::sync::Arc;

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::fibers::{self, assembly::Assembly};
use crate::handler::Handler;
use crate::options::Options;

/// The model.
#[derive(Debug)]
pub struct FiberAsm;

impl IoModel for FiberAsm {
    const NAME: &'static str = "fiber-asm";
    const ABOUT: &'static str =
        "a fiber per connection over a switch in assembly: no system call per switch";
    type Shared = fibers::Shared<Assembly>;

    fn refuses(_accept: AcceptMode) -> Option<&'static str> {
        None
    }

    fn accepts_itself(options: &Options) -> bool {
        fibers::accepts_itself(options)
    }

    fn check(options: &Options) -> Result<(), String> {
        fibers::check::<Assembly>(options)
    }

    fn share(options: &Options) -> io::Result<Self::Shared> {
        fibers::share::<Assembly>(options)
    }

    fn set_up<H: Handler>(worker: Worker<H>, shared: Arc<Self::Shared>) -> io::Result<Run> {
        fibers::set_up::<Assembly, H>(worker, &shared)
    }
}
