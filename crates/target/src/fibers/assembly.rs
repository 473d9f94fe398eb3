//! Fibers over the switch of the `corosensei` crate: a few instructions of assembly that save
//! what a function call preserves, and no system call.

use std::mem::ManuallyDrop;

use corosensei::stack::StackPointer;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::stack::Stack;
use super::switch::{Fiber, Suspend, Switch, run_body};

/// The switch.
#[derive(Debug)]
pub struct Assembly;

impl Switch for Assembly {
    type Fiber<In: Copy + 'static, Out: Copy + 'static> = AssemblyFiber<In, Out>;
}

// SAFETY: a `Stack` is mapped as long as it exists, has at least `STACK_BYTES_MIN` usable bytes,
// more than corosensei's minimum, and a guard page at its lowest address, which `limit` includes
// as asked for. Both addresses are multiples of the page size.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.top()
    }

    fn limit(&self) -> StackPointer {
        self.bottom()
    }
}

/// A fiber.
pub struct AssemblyFiber<In: Copy + 'static, Out: Copy + 'static>(
    /// Dropping it suspended would panic; see [`Fiber`].
    ManuallyDrop<Coroutine<In, Out, (), Stack>>,
);

impl<In: Copy + 'static, Out: Copy + 'static> Fiber<In, Out> for AssemblyFiber<In, Out> {
    type Inside = Yielder<In, Out>;

    fn new<F>(stack: Stack, body: F) -> Self
    where
        F: FnOnce(&Self::Inside, In) + 'static,
    {
        let run = |inside: &Yielder<In, Out>, first| run_body(|| body(inside, first));
        Self(ManuallyDrop::new(Coroutine::with_stack(stack, run)))
    }

    #[inline]
    fn resume(&mut self, value: In) -> Option<Out> {
        match self.0.resume(value) {
            CoroutineResult::Yield(out) => Some(out),
            CoroutineResult::Return(()) => None,
        }
    }

    fn into_stack(self) -> Stack {
        ManuallyDrop::into_inner(self.0).into_stack()
    }
}

impl<In: Copy + 'static, Out: Copy + 'static> Suspend<In, Out> for Yielder<In, Out> {
    #[inline]
    fn suspend(&self, value: Out) -> In {
        Yielder::suspend(self, value)
    }
}
