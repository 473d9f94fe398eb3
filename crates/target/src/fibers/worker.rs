//! A worker that carries fibers: runs those that can run, then waits for events that make others
//! runnable. What it shares with other workers is a [`Reactor`]: nothing with a scheduler per
//! thread, everything with the shared one.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::reactor::{Members, Reactor, STOP, TIMER, WAKER};
use super::stack::{Stack, StackPool};
use super::switch::{Fiber, Suspend, Switch};
use super::wait::{Awaited, NEVER_NS, Wait, Woken};
use crate::conditions::{Arm, PerAccept};
use crate::conversation::Buffers;
use crate::counters::Counters;
use crate::options::Options;
use crate::server::Stop;

/// How long responses under way may take when the server is stopped.
const DRAIN_NS: u64 = 1_000_000_000;

/// How long sylar's TcpServer waits for a request, unless it is told otherwise.
const SYLAR_READ_TIMEOUT_NS: u64 = 120_000_000_000;

/// What a fiber is resumed with.
pub struct Resumed<S: Switch> {
    worker: *const FiberWorker<S>,
    key: u64,
    woken: Woken,
}

impl<S: Switch> Clone for Resumed<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Switch> Copy for Resumed<S> {}

/// A fiber as it is kept.
pub struct Kept<S: Switch>(<S as Switch>::Fiber<Resumed<S>, Wait>);

// SAFETY: a fiber that is kept is suspended, inside `Here::suspend`, or was not begun. What its
// stack then holds is what `converse` with a `FiberLine` and `accept_connections` hold across a
// wait: sockets, an `Arc` of a service and its handler (`Send + Sync`), protocol state, output,
// numbers. No reference into a worker: `Here` lends those for less than a wait. No thread-local,
// no lock guard. Memory that one thread wrote is seen by the next through the lock of the registry.
unsafe impl<S: Switch> Send for Kept<S> {}

type InsideOf<S> = <<S as Switch>::Fiber<Resumed<S>, Wait> as Fiber<Resumed<S>, Wait>>::Inside;

/// A worker of the fiber models: its reactor, stacks and buffers.
pub struct FiberWorker<S: Switch> {
    reactor: Reactor<Kept<S>>,
    /// Lent to the fiber that runs.
    buffers: UnsafeCell<Buffers>,
    stacks: RefCell<StackPool>,
    counters: Arc<Counters>,
    wait_options: WaitOptions,
    max_events: usize,
    /// Number of events of the last wait.
    last_events: Cell<usize>,
}

/// How fibers wait, from the options.
#[derive(Debug, Clone, Copy)]
pub struct WaitOptions {
    /// How they are told of events.
    pub arm: Arm,
    /// How long a read may wait.
    pub read_timeout_ns: Option<u64>,
    /// Other workers wait on the same epoll.
    pub shared: bool,
}

impl<S: Switch> FiberWorker<S> {
    /// A worker of this reactor.
    ///
    /// # Errors
    /// When the kernel does not watch its stop.
    pub fn new(
        reactor: Reactor<Kept<S>>,
        options: &Options,
        counters: Arc<Counters>,
        stop: &Stop,
    ) -> rustix::io::Result<Self> {
        let read_timeout_ns = match (options.read_timeout, options.per_accept) {
            (Some(timeout), _) => Some(u64::try_from(timeout.as_nanos()).unwrap_or(NEVER_NS)),
            (None, PerAccept::Sylar) => Some(SYLAR_READ_TIMEOUT_NS),
            (None, PerAccept::Nothing) => None,
        };
        let fibers = &options.fibers;
        let wait_options =
            WaitOptions { arm: fibers.arm, read_timeout_ns, shared: reactor.is_shared() };
        reactor.join(stop, &counters)?;
        Ok(Self {
            reactor,
            buffers: UnsafeCell::new(Buffers::new(counters.clone())),
            stacks: RefCell::new(StackPool::new(fibers.stack_bytes, fibers.stack_pool)),
            counters,
            wait_options,
            max_events: options.max_events,
            last_events: Cell::new(0),
        })
    }

    /// A stack for a fiber.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn stack(&self) -> std::io::Result<Stack> {
        self.stacks.borrow_mut().take(&self.counters)
    }

    /// Makes a fiber that runs soon.
    pub fn spawn(&self, stack: Stack, body: impl FnOnce(Here<'_, S>) + 'static) {
        let fiber = Fiber::new(stack, |inside: &InsideOf<S>, first: Resumed<S>| {
            body(Here { inside, last: first });
        });
        self.reactor.with(|members| members.registry.insert(Kept(fiber)));
    }

    /// Runs fibers until the server was told to stop and all have ended.
    ///
    /// # Errors
    /// When a wait fails, which the kernel does only for lack of memory.
    pub fn run(&self) -> rustix::io::Result<()> {
        let ended = self.serve();
        if ended.is_err() {
            self.reactor.with(|members| members.registry.end());
            while self.run_next() {}
        }
        self.reactor.wake_another(&self.counters);
        ended
    }

    fn serve(&self) -> rustix::io::Result<()> {
        let mut events = Vec::with_capacity(self.max_events);
        loop {
            let runnable = self.wait(&mut events)?;
            for _ in 0..runnable {
                if !self.run_next() {
                    break;
                }
            }
            if self
                .reactor
                .with(|Members { registry, .. }| registry.is_stopping() && registry.is_empty())
            {
                return Ok(());
            }
        }
    }

    /// Waits for events, unless there is something to run, and returns how much there then is.
    fn wait(&self, events: &mut Vec<Event>) -> rustix::io::Result<usize> {
        let idle = self.reactor.with(|members| {
            members.arm_timer()?;
            let idle = members.registry.runnable() == 0;
            members.idle += usize::from(idle);
            Ok::<_, Errno>(idle)
        })?;
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = (!idle).then_some(&at_once);
        events.clear();
        self.counters.waits.one();
        let waited = epoll::wait(self.reactor.epoll(), spare_capacity(events), timeout);
        self.last_events.set(events.len());
        self.counters.events.add(events.len() as u64);
        // SAFETY: no fiber runs, so the buffers is lent to no one.
        unsafe { &mut *self.buffers.get() }.date.update();
        let runnable = self.reactor.with(|members| {
            if idle {
                members.idle -= 1;
                members.is_waking = false;
            }
            for event in &*events {
                self.take_event(members, event.data.u64(), event.flags);
            }
            members.registry.runnable()
        });
        if runnable == 0 && matches!(&events[..], [event] if event.data.u64() == WAKER) {
            self.counters.empty_wakes.one();
        }
        match waited {
            Ok(_) | Err(Errno::INTR) => Ok(runnable),
            Err(errno) => Err(errno),
        }
    }

    #[inline]
    fn take_event(&self, members: &mut Members<Kept<S>>, key: u64, flags: EventFlags) {
        match key {
            // Whoever takes it lets the next one ask for help again.
            WAKER => members.is_waking = false,
            TIMER => {
                let now_ns = monotonic_ns();
                members.timer_rang();
                if members.drained_ns <= now_ns {
                    members.drained_ns = NEVER_NS;
                    members.registry.end();
                }
                members.registry.expire(now_ns);
            }
            STOP => {
                if !members.registry.is_stopping() {
                    members.drained_ns = monotonic_ns() + DRAIN_NS;
                    members.registry.stop();
                }
            }
            key => members.registry.event(key, woken(flags)),
        }
    }

    /// Runs a fiber; whether there was one.
    #[inline]
    fn run_next(&self) -> bool {
        let (next, wakes) = self.reactor.with(|members| {
            let next = members.registry.start_next();
            (next, members.wants_help())
        });
        if wakes {
            self.reactor.wake_another(&self.counters);
        }
        let Some((key, Kept(mut fiber), woken)) = next else { return false };
        // Into it and out of it.
        self.counters.switches.add(2);
        match fiber.resume(Resumed { worker: self, key, woken }) {
            Some(wait) => {
                if wait.until_ns != NEVER_NS {
                    self.counters.timers.one();
                }
                self.reactor.with(|members| members.registry.park(key, Kept(fiber), wait));
            }
            None => {
                self.reactor.with(|members| members.registry.remove(key));
                self.stacks.borrow_mut().put(fiber.into_stack());
            }
        }
        true
    }

    /// The counters of this worker.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How fibers wait.
    pub fn wait_options(&self) -> WaitOptions {
        self.wait_options
    }

    /// Number of events of the last wait.
    pub fn last_events(&self) -> usize {
        self.last_events.get()
    }
}

fn woken(flags: EventFlags) -> Woken {
    let mut woken = Woken::default();
    let ending = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
    if flags.intersects(EventFlags::IN | ending) {
        woken |= Woken::READABLE;
    }
    if flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR) {
        woken |= Woken::WRITABLE;
    }
    if flags.intersects(ending) {
        woken |= Woken::ENDING;
    }
    if flags.intersects(EventFlags::HUP | EventFlags::ERR) {
        woken |= Woken::BROKEN;
    }
    woken
}

/// Where a fiber runs at the moment: its way to its worker.
pub struct Here<'a, S: Switch> {
    inside: &'a InsideOf<S>,
    last: Resumed<S>,
}

impl<S: Switch> Here<'_, S> {
    /// The worker that runs this fiber. The next wait may end on another: the reference cannot
    /// be kept across it.
    #[inline]
    pub fn worker(&self) -> &FiberWorker<S> {
        // SAFETY: it is the worker whose `run_next` resumed this fiber last, and is borrowed
        // there until the fiber is left again, which takes `&mut self`.
        unsafe { &*self.last.worker }
    }

    /// The worker's buffers.
    #[inline]
    pub fn buffers(&mut self) -> &mut Buffers {
        // SAFETY: a worker runs one fiber at a time and touches the buffers only while it runs
        // none, so this fiber is the only one to use it until it is left, which takes
        // `&mut self`, as does every other way to the buffers from here.
        unsafe { &mut *self.worker().buffers.get() }
    }

    /// What the fiber was told when it was resumed last.
    #[inline]
    pub fn woken(&self) -> Woken {
        self.last.woken
    }

    /// Suspends the fiber until one of `awaited` happens or `until_ns` has passed.
    #[inline]
    pub fn suspend(&mut self, awaited: Awaited, until_ns: u64) -> Woken {
        self.last = self.inside.suspend(Wait { awaited, until_ns });
        self.last.woken
    }

    /// Asks for events of a descriptor for this fiber.
    ///
    /// # Errors
    /// When the kernel has no memory for it, or the user no watches left.
    pub fn watch(&self, descriptor: BorrowedFd<'_>, flags: EventFlags) -> rustix::io::Result<()> {
        self.worker().counters.epoll_adds.one();
        let key = EventData::new_u64(self.last.key);
        epoll::add(self.worker().reactor.epoll(), descriptor, key, flags)
    }

    /// Asks for them no more.
    pub fn unwatch(&self, descriptor: BorrowedFd<'_>) {
        self.worker().counters.epoll_dels.one();
        // It is watched; should it not be, nothing is lost.
        let _ = epoll::delete(self.worker().reactor.epoll(), descriptor);
    }
}
