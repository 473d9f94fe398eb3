//! Panics on the threads of a run. A worker that panics ends, but what it had recorded is kept, and so the
//! worker lives outside of what [`caught`] runs. This needs a program that is built with unwinding
//! panics.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Where this thread panicked last.
    static PANICKED_AT: Cell<Option<String>> = const { Cell::new(None) };
}

/// What ended a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caught {
    pub(crate) message: String,
    /// `file:line:column` of a panic; `None` for an error.
    pub(crate) panicked_at: Option<String>,
}

impl std::fmt::Display for Caught {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.panicked_at {
            Some(place) => write!(to, "{} (panic at {place})", self.message),
            None => to.write_str(&self.message),
        }
    }
}

impl std::error::Error for Caught {}

/// Has the place of every panic from now on remembered, which the panic's payload does not tell. Whatever
/// else was to be done about panics is done as before.
pub(crate) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string);
            // On a thread that is ending there is nobody to ask for it.
            let _ = PANICKED_AT.try_with(|at| at.set(place));
            before(info);
        }));
    });
}

/// Does the work; what ended it, if it did not end by itself. The caller must expect to find what the work
/// changed half changed.
pub(crate) fn caught<T>(work: impl FnOnce() -> io::Result<T>) -> Result<T, Caught> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Caught { message: error.to_string(), panicked_at: None }),
        Err(payload) => {
            let place = PANICKED_AT.try_with(Cell::take).ok().flatten();
            let panicked_at = Some(place.unwrap_or_else(|| "an unknown place".to_owned()));
            Err(Caught { message: message_of(payload.as_ref()), panicked_at })
        }
    }
}

/// As [`caught`], for work that only panics.
pub(crate) fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(|| Ok(work())).ok()
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_message_and_place() {
        listen();
        let caught = caught::<()>(|| panic!("number {}", 7)).unwrap_err();
        assert_eq!(caught.message, "number 7");
        assert!(caught.panicked_at.unwrap().contains("fault.rs:"));
    }

    #[test]
    fn an_error_is_no_panic_and_success_neither() {
        let error = caught::<()>(|| Err(io::Error::other("gone"))).unwrap_err();
        assert_eq!((error.message.as_str(), error.panicked_at), ("gone", None));
        assert_eq!(caught(|| Ok(5)), Ok(5));
        assert_eq!(unless_it_panics(|| -> u8 { panic!("no") }), None);
    }
}
