//! The seam between fibers and the way in which the processor goes from one stack to another.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::stack::Stack;

/// A way to change stacks.
pub trait Switch: 'static {
    /// A fiber that is resumed with `In` and gives `Out` whenever it suspends itself.
    type Fiber<In: Copy + 'static, Out: Copy + 'static>: Fiber<In, Out>;

    /// Why there is none here; nothing if there is.
    fn refuses() -> Option<&'static str> {
        None
    }
}

/// A function on a stack of its own that can be left in the middle and entered again.
///
/// A fiber that is dropped before it has ended keeps its stack and everything on it for ever:
/// whoever owns one has to see it to its end.
pub trait Fiber<In, Out>: Sized {
    /// What the function sees of the fiber it runs in.
    type Inside: Suspend<In, Out> + 'static;

    /// A fiber that will run `body` when it is first resumed. A panic in it is reported like
    /// any other and ends this fiber only.
    fn new<F>(stack: Stack, body: F) -> Self
    where
        F: FnOnce(&Self::Inside, In) + 'static;

    /// Runs it until it suspends itself, which gives what it said, or ends, which gives nothing.
    ///
    /// # Panics
    /// If it has ended.
    fn resume(&mut self, value: In) -> Option<Out>;

    /// Its stack.
    ///
    /// # Panics
    /// If it has not ended.
    fn into_stack(self) -> Stack;
}

/// The way out of a fiber, from inside.
pub trait Suspend<In, Out> {
    /// Leaves the fiber; returns when, and with what, it is resumed: perhaps on another thread.
    fn suspend(&self, value: Out) -> In;
}

/// Runs what a fiber runs. Unwinding ends here: above, there is no caller but another stack.
pub(super) fn run_body(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        // The panic hook has printed it. Dropping a payload may panic too, so it is kept.
        std::mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::fibers::assembly::Assembly;
    use crate::fibers::ucontext::Ucontext;

    const STACK_BYTES: usize = 256 * 1024;

    fn fiber<S: Switch, F>(body: F) -> S::Fiber<u64, u64>
    where
        F: FnOnce(&<S::Fiber<u64, u64> as Fiber<u64, u64>>::Inside, u64) + 'static,
    {
        S::Fiber::<u64, u64>::new(Stack::new(STACK_BYTES).unwrap(), body)
    }

    /// Values go both ways, what stands on the stack stays, and the stack comes back.
    fn goes_there_and_back<S: Switch>() {
        let dropped = Rc::new(Cell::new(0));
        let seen = dropped.clone();
        let mut counting = fiber::<S, _>(move |inside, first| {
            let floats = [first as f64 / 3.0, 0.1];
            let mut sum = first;
            for _ in 0..1000 {
                sum += inside.suspend(sum);
            }
            assert_eq!(floats, [first as f64 / 3.0, 0.1]);
            seen.set(sum);
        });
        let mut expected = 5;
        assert_eq!(counting.resume(5), Some(5));
        for more in 1..1000 {
            expected += more;
            assert_eq!(counting.resume(more), Some(expected));
        }
        assert_eq!(counting.resume(7), None);
        assert_eq!(dropped.get(), expected + 7);
        assert_eq!(Rc::strong_count(&dropped), 1);
        // The stack serves again.
        let mut second = S::Fiber::<u64, u64>::new(counting.into_stack(), |_, _| {});
        assert_eq!(second.resume(0), None);
        drop(second.into_stack());
    }

    /// A fiber may run another, and each goes back to who resumed it.
    fn nests<S: Switch>() {
        let mut outer = fiber::<S, _>(|inside, first| {
            let mut inner = fiber::<S, _>(|inside, first| {
                inside.suspend(first * 2);
            });
            let doubled = inner.resume(first).unwrap();
            inside.suspend(doubled + 1);
            assert_eq!(inner.resume(0), None);
        });
        assert_eq!(outer.resume(21), Some(43));
        assert_eq!(outer.resume(0), None);
    }

    /// A panic runs the destructors of its fiber and stays in it.
    fn contains_panics<S: Switch>() {
        let dropped = Rc::new(());
        let held = dropped.clone();
        let mut failing = fiber::<S, _>(move |inside, _| {
            let _held = held;
            inside.suspend(1);
            panic!("a fiber of the tests panics on purpose");
        });
        assert_eq!(failing.resume(0), Some(1));
        assert_eq!(failing.resume(0), None);
        assert_eq!(Rc::strong_count(&dropped), 1);
        drop(failing.into_stack());
    }

    /// Many at once keep their states apart.
    fn keeps_many_apart<S: Switch>() {
        let stack = || Stack::new(16 * 1024).unwrap();
        let body = |inside: &<S::Fiber<u64, u64> as Fiber<u64, u64>>::Inside, first| {
            let mut sum = first;
            loop {
                match inside.suspend(sum) {
                    0 => return,
                    more => sum += more,
                }
            }
        };
        let mut fibers: Vec<_> =
            (0..500).map(|_| S::Fiber::<u64, u64>::new(stack(), body)).collect();
        for round in 1..20u64 {
            for (number, fiber) in fibers.iter_mut().enumerate() {
                assert_eq!(fiber.resume(number as u64 + 1), Some((number as u64 + 1) * round));
            }
        }
        for fiber in &mut fibers {
            assert_eq!(fiber.resume(0), None);
        }
    }

    /// Resumed on another thread than before, by whoever owns it.
    fn goes_from_thread_to_thread<S: Switch>() {
        struct Moved<T>(T);
        // SAFETY: what the body below keeps on its stack while suspended is a number.
        unsafe impl<T> Send for Moved<T> {}
        let mut counting = Moved(fiber::<S, _>(|inside, first| {
            let mut sum = first;
            for _ in 0..20 {
                sum += inside.suspend(sum);
            }
        }));
        for round in 1..=20 {
            counting = std::thread::spawn(move || {
                let mut counting = counting;
                let Moved(fiber) = &mut counting;
                assert_eq!(fiber.resume(1), Some(round));
                counting
            })
            .join()
            .unwrap();
        }
        let Moved(mut fiber) = counting;
        assert_eq!(fiber.resume(1), None);
    }

    fn keeps_every_promise<S: Switch>() {
        if S::refuses().is_some() {
            return;
        }
        goes_there_and_back::<S>();
        nests::<S>();
        contains_panics::<S>();
        keeps_many_apart::<S>();
        goes_from_thread_to_thread::<S>();
    }

    #[test]
    fn the_assembly_switch_keeps_every_promise() {
        keeps_every_promise::<Assembly>();
    }

    #[test]
    fn ucontext_keeps_every_promise() {
        keeps_every_promise::<Ucontext>();
    }
}
