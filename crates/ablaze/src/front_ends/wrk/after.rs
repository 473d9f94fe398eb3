//! After the run: its report is printed, and `done` may not return. Ctrl-C ends it, not the program.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ablaze_model::Run;
use ablaze_script::{Script, ScriptError};

use super::script::figures;
use crate::carry_out::interrupted;

/// How often it is looked whether Ctrl-C came.
const LOOK: Duration = Duration::from_millis(50);
/// So long it may go on after that: a run that Ctrl-C ended has its `done`, too.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Calls the script's `done`.
///
/// # Errors
/// When it fails, or had to be ended.
pub fn done(script: &Script, run: &Run) -> Result<(), ScriptError> {
    let interrupt = script.interrupt()?;
    let (done, is_done) = channel::<()>();
    let watch = thread::spawn(move || {
        let mut asked = Duration::ZERO;
        while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if interrupted() {
                asked += LOOK;
            }
            if asked >= TIMEOUT {
                interrupt.now();
            }
        }
    });
    let (summary, latency, rates) = figures(run);
    let result = script.done(&summary, latency, rates);
    drop(done);
    // It has nothing left to do but to see that.
    let _ = watch.join();
    result
}
