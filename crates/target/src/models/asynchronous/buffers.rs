//! What the tasks of a worker use in turn, by thread: the buffers where input arrives and responses are
//! put together, so that no task has buffers of its own; and how each can be woken.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::conversation::Buffers;
use crate::counters::Counters;
use crate::event_loop::slots::Slots;

/// A worker's buffers, and who works at it.
struct Office {
    buffers: Buffers,
    tasks: Slots<Option<Waker>>,
    /// Who waits for the last task to end.
    awaits_end: Option<Waker>,
}

thread_local! {
    static OFFICE: RefCell<Option<Office>> = const { RefCell::new(None) };
}

/// Before the first task.
pub fn put_up(counters: Arc<Counters>) {
    let office =
        Office { buffers: Buffers::new(counters), tasks: Slots::default(), awaits_end: None };
    OFFICE.set(Some(office));
}

/// Behind the last task.
pub fn take_down() {
    OFFICE.set(None);
}

fn with<R>(run: impl FnOnce(&mut Office) -> R) -> R {
    OFFICE.with_borrow_mut(|office| {
        run(office.as_mut().expect("the worker puts its buffers up before its first task"))
    })
}

/// Uses the buffers. What stands there is gone after any `await`.
#[inline]
pub fn at_buffers<R>(run: impl FnOnce(&mut Buffers) -> R) -> R {
    with(|office| run(&mut office.buffers))
}

/// A task's place; it is counted as long as this lives.
#[derive(Debug)]
pub struct Place(u64);

impl Place {
    /// For a task that begins.
    pub fn new() -> Self {
        Self(with(|office| office.tasks.insert(None)))
    }

    /// The stop wakes the task with this.
    pub fn leave_waker(&self, context: &Context<'_>) {
        with(|office| {
            if let Some(waker) = office.tasks.get_mut(self.0) {
                *waker = Some(context.waker().clone());
            }
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let awaits_end = OFFICE.with_borrow_mut(|office| {
            let office = office.as_mut()?;
            office.tasks.remove(self.0);
            if office.tasks.is_empty() { office.awaits_end.take() } else { None }
        });
        if let Some(waker) = awaits_end {
            waker.wake();
        }
    }
}

/// Wakes all tasks, to see that the server stops.
pub fn wake_all() {
    let wakers: Vec<_> = with(|office| {
        let keys = office.tasks.keys().into_iter();
        keys.filter_map(|key| office.tasks.get_mut(key)?.take()).collect()
    });
    wakers.into_iter().for_each(Waker::wake);
}

/// Waits for the last task to end.
pub fn poll_empty(context: &mut Context<'_>) -> Poll<()> {
    with(|office| match office.tasks.is_empty() {
        true => Poll::Ready(()),
        false => {
            office.awaits_end = Some(context.waker().clone());
            Poll::Pending
        }
    })
}
