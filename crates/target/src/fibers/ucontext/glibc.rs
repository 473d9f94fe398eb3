//! The fiber itself, where glibc is.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use libc::{getcontext, makecontext, setcontext, swapcontext, ucontext_t};

use crate::fibers::stack::Stack;
use crate::fibers::switch::{Fiber, Suspend, run_body};

/// A fiber.
pub struct UcontextFiber<In, Out> {
    /// Unmapped only through `into_stack`; see [`Fiber`].
    stack: ManuallyDrop<Stack>,
    /// At the top of the stack.
    inside: NonNull<Inside<In, Out>>,
    ended: bool,
    marker: PhantomData<fn(In) -> Out>,
}

/// What a fiber and whoever resumes it share. It stays where it is: glibc's context points into
/// itself.
pub struct Inside<In, Out> {
    /// Where the fiber was left.
    fiber: UnsafeCell<MaybeUninit<ucontext_t>>,
    /// Where it was resumed from.
    resumer: UnsafeCell<MaybeUninit<ucontext_t>>,
    /// Given with resuming.
    given: Cell<Option<In>>,
    /// Said with suspending; nothing when the fiber has ended.
    said: Cell<Option<Out>>,
}

/// What stands at the top of a fiber's stack.
#[repr(C)]
struct Root<In, Out, F> {
    inside: Inside<In, Out>,
    body: Cell<Option<F>>,
}

impl<In: Copy + 'static, Out: Copy + 'static> Fiber<In, Out> for UcontextFiber<In, Out> {
    type Inside = Inside<In, Out>;

    fn new<F>(stack: Stack, body: F) -> Self
    where
        F: FnOnce(&Self::Inside, In) + 'static,
    {
        let align = mem::align_of::<Root<In, Out, F>>().max(64);
        let at = (stack.top().get() - mem::size_of::<Root<In, Out, F>>()) & !(align - 1);
        let root = at as *mut Root<In, Out, F>;
        let lowest = stack.lowest();
        // SAFETY: `root` is aligned for its type and lies wholly in the stack, which is owned
        // here, at least `STACK_BYTES_MIN` long, and used by no one.
        let inside = unsafe {
            root.write(Root {
                inside: Inside {
                    fiber: UnsafeCell::new(MaybeUninit::zeroed()),
                    resumer: UnsafeCell::new(MaybeUninit::zeroed()),
                    given: Cell::new(None),
                    said: Cell::new(None),
                },
                body: Cell::new(Some(body)),
            });
            &raw const (*root).inside
        };
        // SAFETY: `getcontext` fills the context; what it needs before `makecontext` is set: a
        // stack below `root`, and no successor, because `begin` never returns. `begin` takes
        // two unsigned ints and is called with two ints of the same size (makecontext(3):
        // arguments are ints; a pointer is handed over in halves).
        unsafe {
            let context = (*inside).fiber.get().cast::<ucontext_t>();
            // It fails on no system that has it (getcontext(3), "ERRORS": none defined).
            getcontext(context);
            (*context).uc_stack.ss_sp = lowest as *mut libc::c_void;
            (*context).uc_stack.ss_size = at - lowest;
            (*context).uc_link = ptr::null_mut();
            let begin: extern "C" fn(u32, u32) -> ! = begin::<In, Out, F>;
            let begin = mem::transmute::<extern "C" fn(u32, u32) -> !, extern "C" fn()>(begin);
            let address = root as u64;
            makecontext(context, begin, 2, (address >> 32) as u32, address as u32);
        }
        let inside = NonNull::from(
            // SAFETY: written above, and part of the stack that the fiber owns.
            unsafe { &*inside },
        );
        Self { stack: ManuallyDrop::new(stack), inside, ended: false, marker: PhantomData }
    }

    fn resume(&mut self, value: In) -> Option<Out> {
        assert!(!self.ended, "a fiber that has ended was resumed");
        // SAFETY: it was written by `new` at the top of the stack that `self` owns. The fiber
        // shares it by shared references only.
        let inside = unsafe { self.inside.as_ref() };
        inside.given.set(Some(value));
        inside.said.set(None);
        // SAFETY: `fiber` holds what `makecontext` or the `swapcontext` of `suspend` saved last,
        // and is entered once for each: the fiber has not ended and `&mut self` says that it
        // does not run. `resumer` is used by no one while the fiber does not run.
        unsafe { swapcontext(inside.resumer.get().cast(), inside.fiber.get().cast()) };
        let said = inside.said.take();
        self.ended = said.is_none();
        said
    }

    fn into_stack(self) -> Stack {
        assert!(self.ended, "the stack of a fiber that has not ended was asked for");
        ManuallyDrop::into_inner(self.stack)
    }
}

impl<In: Copy, Out: Copy> Suspend<In, Out> for Inside<In, Out> {
    fn suspend(&self, value: Out) -> In {
        self.said.set(Some(value));
        // SAFETY: `resumer` was saved by the `swapcontext` of `resume` that made this fiber run,
        // and is entered once for it. `fiber` is used by no one while the fiber runs.
        unsafe { swapcontext(self.fiber.get().cast(), self.resumer.get().cast()) };
        self.given.take().expect("a fiber is resumed with a value")
    }
}

/// Where a fiber begins, and the frame that it never leaves.
extern "C" fn begin<In: Copy, Out: Copy, F>(high: u32, low: u32) -> !
where
    F: FnOnce(&Inside<In, Out>, In),
{
    let root = (u64::from(high) << 32 | u64::from(low)) as *const Root<In, Out, F>;
    // SAFETY: the address is that of the root which `new` wrote for this very type, at the top
    // of the stack on which this runs.
    let root = unsafe { &*root };
    run_body(|| {
        let body = root.body.take().expect("a fiber begins once");
        let first = root.inside.given.take().expect("a fiber is resumed with a value");
        body(&root.inside, first);
    });
    root.inside.said.set(None);
    // SAFETY: `resumer` was saved by the `swapcontext` of the `resume` that made this fiber run,
    // and is entered once for it. Nothing of this stack is used any more.
    unsafe { setcontext(root.inside.resumer.get().cast()) };
    // It returns only when it fails, which it does not (setcontext(3)); there is no caller.
    std::process::abort();
}
