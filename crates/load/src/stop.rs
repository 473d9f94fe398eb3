//! How a run is ended early from another thread.

use std::sync::{Arc, Mutex, PoisonError};

use ablaze_engine::Control;

/// Ends runs early, from any thread or from a signal's thread. Clones end the same runs.
///
/// What was measured until then is kept: [`Run::was_stopped`](crate::Run::was_stopped) says so.
///
/// ```
/// use std::time::Duration;
///
/// use ablaze_load::{Load, Stop};
///
/// # let server = ablaze_target::Server::start(ablaze_target::Options {
/// #     address: "127.0.0.1:0".parse()?,
/// #     ..Default::default()
/// # })?;
/// # let url = format!("http://{}/", server.address());
/// let stop = Stop::new();
/// let of_another_thread = stop.clone();
/// std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_millis(100));
///     of_another_thread.now();
/// });
/// let run = Load::url(&url).duration(Duration::from_secs(60)).stop(&stop).run()?;
/// assert!(run.was_stopped());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    under_way: Vec<Arc<Control>>,
}

impl Stop {
    /// One that was not called yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the runs that were given this, and those that are given it later before they begin.
    pub fn now(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.under_way.iter().for_each(|control| control.stop());
    }

    /// The run with this control can be stopped until what this gives is dropped.
    pub(crate) fn watch(&self, control: &Arc<Control>) -> Watched {
        let mut state = self.state();
        if state.stopped {
            control.stop();
        }
        state.under_way.push(control.clone());
        Watched { stop: self.clone(), control: control.clone() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run under way.
pub(crate) struct Watched {
    stop: Stop,
    control: Arc<Control>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.stop.state().under_way.retain(|control| !Arc::ptr_eq(control, &self.control));
    }
}
