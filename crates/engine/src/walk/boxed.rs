//! Walks behind a box: the engine is compiled once for all of them, here and not where a walk is written. It costs a call
//! through a table for each question, and bodies are always received: for scripts, which cost more than that.

use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::record::Record;
use ablaze_model::run::Run;

use super::{Answered, Next, Walk, Written};
use crate::control::Control;
use crate::launch::{LaunchError, run_with_sinks};
use crate::sink::{BodySink, Response, SinkOf};

/// Makes a worker's walk, on the worker's thread.
pub type MakeWalk<'a> = dyn Fn(SinkOf) -> Box<dyn AnyWalk> + Sync + 'a;

/// As [`run`](crate::run), with what each worker's walk says.
///
/// # Errors
/// As [`run`](crate::run).
pub fn run_walking(plan: Plan, control: &Control, make: &MakeWalk<'_>) -> Result<Run, LaunchError> {
    let (run, _) = run_with_sinks(plan, control, |of| Boxed(make(of)))?;
    Ok(run)
}

/// A [`Walk`] whose type is not known where the engine is compiled: every one is such.
#[expect(missing_docs, reason = "the functions of BodySink and Walk")]
pub trait AnyWalk: Send {
    fn begin(&mut self, place: usize, response: Response, at_ns: u64);
    fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64);
    fn end(&mut self, place: usize, complete: bool, at_ns: u64);
    fn only_watches(&self) -> bool;
    fn wants_heads(&self) -> bool;
    fn sent(&mut self, place: usize, bytes: &[u8]);
    fn start(&mut self, user: u32, number: u64, due_ns: u64, now_ns: u64);
    fn next(&mut self, user: u32, now_ns: u64) -> Next;
    fn write(&mut self, user: u32, template: u32, out: &mut Vec<u8>) -> Written;
    fn head(&mut self, user: u32, place: usize, template: u32, status: u16, head: &[u8]);
    fn answered(&mut self, user: u32, template: u32, response: Answered);
    fn failed(&mut self, user: u32, template: u32, kind: FailureKind, at_ns: u64);
    fn window_opens(&mut self, at_ns: u64);
    fn is_walking(&self) -> bool;
    fn is_preparing(&self) -> bool;
    fn prepared(&mut self);
    fn is_over(&self) -> bool;
    fn has_more(&self, user: u32) -> bool;
    fn address(&self) -> usize;
    fn report(&mut self, record: &mut Record, closed_ns: u64);
}

/// One function of a trait by that of another of the same name.
macro_rules! forwarded {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&mut self $(, $argument: $type)*) $(-> $result)? {
            self.0.$name($($argument),*)
        })*
    };
}

struct Boxed(Box<dyn AnyWalk>);

impl BodySink for Boxed {
    forwarded! {
        fn begin(&mut self, place: usize, response: Response, at_ns: u64);
        fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64);
        fn end(&mut self, place: usize, complete: bool, at_ns: u64);
    }
}

impl Walk for Boxed {
    const WALKS: bool = true;

    fn only_watches(&self) -> bool {
        self.0.only_watches()
    }

    fn wants_heads(&self) -> bool {
        self.0.wants_heads()
    }

    forwarded! {
        fn sent(&mut self, place: usize, bytes: &[u8]);
        fn start(&mut self, user: u32, number: u64, due_ns: u64, now_ns: u64);
        fn next(&mut self, user: u32, now_ns: u64) -> Next;
        fn write(&mut self, user: u32, template: u32, out: &mut Vec<u8>) -> Written;
        fn head(&mut self, user: u32, place: usize, template: u32, status: u16, head: &[u8]);
        fn answered(&mut self, user: u32, template: u32, response: Answered);
        fn failed(&mut self, user: u32, template: u32, kind: FailureKind, at_ns: u64);
        fn window_opens(&mut self, at_ns: u64);
        fn prepared(&mut self);
        fn report(&mut self, record: &mut Record, closed_ns: u64);
    }

    fn is_walking(&self) -> bool {
        self.0.is_walking()
    }

    fn is_preparing(&self) -> bool {
        self.0.is_preparing()
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn has_more(&self, user: u32) -> bool {
        self.0.has_more(user)
    }

    fn address(&self) -> usize {
        self.0.address()
    }
}

/// The same for a walk: its own functions, by way of [`Walk`] and [`BodySink`].
macro_rules! own {
    ($($trait:ident: fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&mut self $(, $argument: $type)*) $(-> $result)? {
            $trait::$name(self $(, $argument)*)
        })*
    };
}

impl<W: Walk + Send> AnyWalk for W {
    own! {
        BodySink: fn begin(&mut self, place: usize, response: Response, at_ns: u64);
        BodySink: fn bytes(&mut self, place: usize, bytes: &[u8], at_ns: u64);
        BodySink: fn end(&mut self, place: usize, complete: bool, at_ns: u64);
        Walk: fn sent(&mut self, place: usize, bytes: &[u8]);
        Walk: fn start(&mut self, user: u32, number: u64, due_ns: u64, now_ns: u64);
        Walk: fn next(&mut self, user: u32, now_ns: u64) -> Next;
        Walk: fn write(&mut self, user: u32, template: u32, out: &mut Vec<u8>) -> Written;
        Walk: fn head(&mut self, user: u32, place: usize, template: u32, status: u16, head: &[u8]);
        Walk: fn answered(&mut self, user: u32, template: u32, response: Answered);
        Walk: fn failed(&mut self, user: u32, template: u32, kind: FailureKind, at_ns: u64);
        Walk: fn window_opens(&mut self, at_ns: u64);
        Walk: fn prepared(&mut self);
        Walk: fn report(&mut self, record: &mut Record, closed_ns: u64);
    }

    fn only_watches(&self) -> bool {
        Walk::only_watches(self)
    }

    fn wants_heads(&self) -> bool {
        Walk::wants_heads(self)
    }

    fn is_walking(&self) -> bool {
        Walk::is_walking(self)
    }

    fn is_preparing(&self) -> bool {
        Walk::is_preparing(self)
    }

    fn is_over(&self) -> bool {
        Walk::is_over(self)
    }

    fn has_more(&self, user: u32) -> bool {
        Walk::has_more(self, user)
    }

    fn address(&self) -> usize {
        Walk::address(self)
    }
}
