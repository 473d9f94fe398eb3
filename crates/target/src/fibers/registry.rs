//! All fibers of a scheduler: which can run, which wait and for what. Pure bookkeeping, without
//! system calls, so that it can belong to one worker or stand behind a lock for all.
//!
//! A fiber is out of its slot only while it runs. It waits when it is [`Registry::park`]ed, after
//! its stack was left; what happened to its descriptor between its last look and then is kept
//! for it, so that nothing is missed.

use std::collections::{BTreeSet, VecDeque};

use super::wait::{Awaited, NEVER_NS, Wait, Woken};

/// All fibers by key. A key names a slot and its generation, so that an event of a fiber that is
/// gone is recognised.
#[derive(Debug)]
pub struct Registry<F> {
    slots: Vec<Slot<F>>,
    free: Vec<u32>,
    runnable: VecDeque<u64>,
    /// When who is due, for those that wait with a time.
    due: BTreeSet<(u64, u64)>,
    stopping: bool,
    ended: bool,
}

#[derive(Debug)]
struct Slot<F> {
    generation: u32,
    state: State,
    /// The fiber, unless it runs.
    fiber: Option<F>,
    until_ns: u64,
    /// What it will be told when it runs next.
    told: Woken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Runnable,
    Runs,
    Waits(Awaited),
}

impl<F> Default for Registry<F> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            runnable: VecDeque::new(),
            due: BTreeSet::new(),
            stopping: false,
            ended: false,
        }
    }
}

impl<F> Registry<F> {
    /// Takes a fiber in; it can run.
    pub fn insert(&mut self, fiber: F) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                state: State::Free,
                fiber: None,
                until_ns: NEVER_NS,
                told: Woken::default(),
            });
            // A process has far fewer descriptors, and thus fibers, than 32 bits hold.
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.state = State::Runnable;
        slot.fiber = Some(fiber);
        slot.told = Woken::default();
        self.runnable.push_back(u64::from(slot.generation) << 32 | u64::from(index));
    }

    /// The next fiber to run, and what it is told.
    #[inline]
    pub fn start_next(&mut self) -> Option<(u64, F, Woken)> {
        let key = self.runnable.pop_front()?;
        let mut common = Woken::default();
        if self.stopping {
            common |= Woken::STOPPING;
        }
        if self.ended {
            common |= Woken::ENDED;
        }
        let slot = self.slot(key)?;
        let told = std::mem::take(&mut slot.told) | common;
        slot.state = State::Runs;
        slot.fiber.take().map(|fiber| (key, fiber, told))
    }

    /// Takes a fiber back that has suspended itself.
    #[inline]
    pub fn park(&mut self, key: u64, fiber: F, wait: Wait) {
        let (stopping, ended) = (self.stopping, self.ended);
        let Some(slot) = self.slot(key) else { return };
        slot.fiber = Some(fiber);
        let goes_on = match wait.awaited {
            Awaited::Readable { until_stop } => {
                (until_stop && stopping) || slot.told.says(Woken::READABLE)
            }
            Awaited::Writable => slot.told.says(Woken::WRITABLE),
            Awaited::Time => slot.told.says(Woken::BROKEN),
            Awaited::Turn => true,
        };
        // Only the time between a write and the wait behind it counts: see `event`.
        if wait.awaited != Awaited::Writable {
            slot.told = slot.told.without(Woken::WRITABLE);
        }
        if goes_on || ended {
            slot.state = State::Runnable;
            self.runnable.push_back(key);
            return;
        }
        slot.state = State::Waits(wait.awaited);
        slot.until_ns = wait.until_ns;
        if wait.until_ns != NEVER_NS {
            self.due.insert((wait.until_ns, key));
        }
    }

    /// Something happened to a fiber's descriptor.
    #[inline]
    pub fn event(&mut self, key: u64, what: Woken) {
        let Some(slot) = self.slot(key) else { return };
        let wakes = match slot.state {
            State::Waits(Awaited::Readable { .. }) => what.says(Woken::READABLE),
            State::Waits(Awaited::Writable) => what.says(Woken::WRITABLE),
            State::Waits(Awaited::Time) => what.says(Woken::BROKEN),
            _ => false,
        };
        // That a socket can be written is news only to a fiber whose write has failed: one that
        // waits for it, or runs on another worker and will wait in a moment.
        slot.told |= match slot.state {
            State::Waits(Awaited::Writable) | State::Runs => what,
            _ => what.without(Woken::WRITABLE),
        };
        if wakes {
            self.wake(key, Woken::default());
        }
    }

    /// Makes all fibers runnable whose time has come.
    pub fn expire(&mut self, now_ns: u64) {
        while let Some(&(due_ns, key)) = self.due.first()
            && due_ns <= now_ns
        {
            self.wake(key, Woken::DUE);
        }
    }

    /// When the next fiber is due.
    #[inline]
    pub fn next_due_ns(&self) -> Option<u64> {
        self.due.first().map(|(due_ns, _)| *due_ns)
    }

    /// A fiber has ended.
    pub fn remove(&mut self, key: u64) {
        if let Some(slot) = self.slot(key) {
            slot.state = State::Free;
            // The highest generation is left out: keys with it are no fibers.
            slot.generation = (slot.generation + 1) % u32::MAX;
            self.free.push(key as u32);
        }
    }

    /// The server stops: those that wait for the next request are woken.
    pub fn stop(&mut self) {
        self.stopping = true;
        self.wake_those(|awaited| matches!(awaited, Awaited::Readable { until_stop: true }));
    }

    /// Whether the server stops.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// All fibers have to end now.
    pub fn end(&mut self) {
        self.stopping = true;
        self.ended = true;
        self.wake_those(|_| true);
    }

    /// Number of fibers that can run.
    #[inline]
    pub fn runnable(&self) -> usize {
        self.runnable.len()
    }

    /// Whether there are no fibers.
    pub fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }

    #[inline]
    fn slot(&mut self, key: u64) -> Option<&mut Slot<F>> {
        let slot = self.slots.get_mut(key as u32 as usize)?;
        (u64::from(slot.generation) == key >> 32 && slot.state != State::Free).then_some(slot)
    }

    /// Ends a wait.
    #[inline]
    fn wake(&mut self, key: u64, why: Woken) {
        let Some(slot) = self.slot(key) else { return };
        slot.told |= why;
        slot.state = State::Runnable;
        let until_ns = std::mem::replace(&mut slot.until_ns, NEVER_NS);
        if until_ns != NEVER_NS {
            self.due.remove(&(until_ns, key));
        }
        self.runnable.push_back(key);
    }

    fn wake_those(&mut self, chosen: impl Fn(Awaited) -> bool) {
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            if let State::Waits(awaited) = slot.state
                && chosen(awaited)
            {
                self.wake(u64::from(slot.generation) << 32 | index as u64, Woken::default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Awaited = Awaited::Readable { until_stop: true };
    const READ_ON: Awaited = Awaited::Readable { until_stop: false };

    fn wait(awaited: Awaited) -> Wait {
        Wait { awaited, until_ns: NEVER_NS }
    }

    /// A registry with one fiber, which runs.
    fn running() -> (Registry<&'static str>, u64) {
        let mut registry = Registry::default();
        registry.insert("it");
        let (key, fiber, told) = registry.start_next().unwrap();
        assert_eq!((fiber, told), ("it", Woken::default()));
        (registry, key)
    }

    #[test]
    fn a_fiber_runs_when_what_it_waits_for_happens_and_not_before() {
        let (mut registry, key) = running();
        registry.park(key, "it", wait(READ));
        registry.event(key, Woken::WRITABLE);
        assert_eq!(registry.start_next(), None);
        registry.event(key, Woken::READABLE | Woken::WRITABLE);
        registry.event(key, Woken::READABLE | Woken::ENDING);
        let (_, _, told) = registry.start_next().unwrap();
        assert_eq!(told, Woken::READABLE | Woken::ENDING);
        assert_eq!(registry.start_next(), None, "it was made runnable twice");
        registry.park(key, "it", wait(Awaited::Writable));
        assert_eq!(registry.start_next(), None);
        registry.event(key, Woken::READABLE);
        assert_eq!(registry.start_next(), None);
        registry.event(key, Woken::WRITABLE);
        let (_, _, told) = registry.start_next().unwrap();
        assert_eq!(told, Woken::READABLE | Woken::WRITABLE);
    }

    #[test]
    fn what_happens_before_the_wait_is_not_missed() {
        for (what, awaited) in [(Woken::READABLE, READ), (Woken::WRITABLE, Awaited::Writable)] {
            let (mut registry, key) = running();
            registry.event(key, what);
            registry.park(key, "it", wait(awaited));
            assert_eq!(registry.start_next(), Some((key, "it", what)));
            registry.park(key, "it", wait(awaited));
            assert_eq!(registry.start_next(), None, "the same event was told twice");
        }
    }

    #[test]
    fn a_broken_connection_ends_a_wait_for_a_time_and_half_a_close_does_not() {
        let (mut registry, key) = running();
        let wait = Wait { awaited: Awaited::Time, until_ns: 10 };
        registry.park(key, "it", wait);
        registry.event(key, Woken::READABLE | Woken::ENDING);
        assert_eq!(registry.start_next(), None);
        let broken = Woken::READABLE | Woken::WRITABLE | Woken::ENDING | Woken::BROKEN;
        registry.event(key, broken);
        let (_, _, told) = registry.start_next().unwrap();
        assert!(told.says(Woken::BROKEN));
        assert_eq!(registry.next_due_ns(), None);
        // Also when it breaks before the wait.
        registry.event(key, broken);
        registry.park(key, "it", wait);
        assert!(registry.start_next().is_some());
    }

    #[test]
    fn that_it_could_be_written_before_a_write_failed_is_no_news() {
        let (mut registry, key) = running();
        registry.park(key, "it", wait(READ));
        registry.event(key, Woken::READABLE | Woken::WRITABLE);
        registry.event(key, Woken::WRITABLE);
        registry.start_next().unwrap();
        registry.park(key, "it", wait(Awaited::Time));
        registry.event(key, Woken::WRITABLE);
        registry.end();
        registry.start_next().unwrap();
        assert!(!registry.slots[0].told.says(Woken::WRITABLE));
    }

    #[test]
    fn times_come_in_order_and_are_taken_back() {
        let mut registry = Registry::default();
        for until_ns in [30, 10, 20] {
            registry.insert("it");
            let (key, fiber, _) = registry.start_next().unwrap();
            registry.park(key, fiber, Wait { awaited: READ, until_ns });
        }
        assert_eq!(registry.next_due_ns(), Some(10));
        registry.event(2, Woken::READABLE);
        assert_eq!(registry.next_due_ns(), Some(10));
        registry.event(1, Woken::READABLE);
        assert_eq!(registry.next_due_ns(), Some(30));
        assert_eq!(registry.start_next().unwrap().0, 2);
        assert_eq!(registry.start_next().unwrap().0, 1);
        registry.expire(29);
        assert_eq!(registry.start_next(), None);
        registry.expire(30);
        assert_eq!(registry.start_next(), Some((0, "it", Woken::DUE)));
        assert_eq!(registry.next_due_ns(), None);
    }

    #[test]
    fn events_of_a_fiber_that_is_gone_reach_no_other() {
        let (mut registry, gone) = running();
        registry.remove(gone);
        assert!(registry.is_empty());
        registry.insert("another");
        let (key, fiber, _) = registry.start_next().unwrap();
        assert_ne!(key, gone);
        registry.event(gone, Woken::READABLE);
        registry.park(key, fiber, wait(READ));
        registry.event(gone, Woken::READABLE);
        registry.remove(gone);
        assert_eq!(registry.start_next(), None);
        assert!(!registry.is_empty());
    }

    #[test]
    fn a_stop_wakes_the_idle_and_an_end_wakes_all() {
        let mut registry = Registry::default();
        let waits = [READ, READ_ON, Awaited::Writable, Awaited::Time];
        for awaited in waits {
            registry.insert("it");
            let (key, fiber, _) = registry.start_next().unwrap();
            registry.park(key, fiber, wait(awaited));
        }
        registry.stop();
        assert_eq!(registry.start_next(), Some((0, "it", Woken::STOPPING)));
        assert_eq!(registry.start_next(), None);
        registry.park(0, "it", wait(READ));
        assert_eq!(
            registry.start_next(),
            Some((0, "it", Woken::STOPPING)),
            "it waits after a stop"
        );
        registry.remove(0);
        registry.end();
        for key in 1..4 {
            let (next, _, told) = registry.start_next().unwrap();
            assert_eq!(next, key);
            assert!(told.says(Woken::ENDED));
            registry.park(key, "it", wait(Awaited::Writable));
        }
        assert_eq!(registry.runnable(), 3, "a fiber waits after the end");
    }
}
