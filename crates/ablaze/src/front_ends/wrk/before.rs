//! Before the run: Ctrl-C ends the program while a script is loaded, set up or asked for its first request, which may take for ever.

use std::path::PathBuf;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ablaze_wire::url::Url;

use super::options::Options;
use super::script::Prepared;
use crate::CommandError;
use crate::carry_out::{interrupted, listen_for_interrupts};
use crate::error::{INTERRUPTED, note};

/// How often it is looked whether Ctrl-C came.
const LOOK: Duration = Duration::from_millis(50);

/// As [`Prepared::new`]; a first Ctrl-C ends the program meanwhile.
///
/// # Errors
/// As [`Prepared::new`].
pub fn prepared(options: &Options, url: &Url, file: PathBuf) -> Result<Prepared, CommandError> {
    listen_for_interrupts()?;
    let (done, is_done) = channel::<()>();
    let watch = thread::spawn(move || {
        while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if interrupted() {
                note(
                    "interrupted before the run: the script had not returned, and nothing was sent",
                );
                process::exit(i32::from(INTERRUPTED));
            }
        }
    });
    let prepared = Prepared::new(options, url, file);
    drop(done);
    // It has nothing left to do but to see that.
    let _ = watch.join();
    prepared
}
