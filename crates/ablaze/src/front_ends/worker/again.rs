//! A worker whose Run has been taken waits for another assignment on the same channel: an experiment has many runs, and
//! placing its workers takes longer than some of those. It becomes this program anew, so that no run finds anything of the
//! one before it: no thread, no handler of a signal, no memory. Where the coordinator wants nothing more it closes standard
//! input, and the worker ends.

use std::os::unix::process::CommandExt;
use std::process::Command;

use super::channel::Channel;
use crate::CommandError;

/// Becomes this program with the same words. Returns only where that cannot be done.
pub fn become_anew(channel: &Channel) -> CommandError {
    let failed = |error| CommandError::machine(format!("cannot take another assignment: {error}"));
    if let Err(error) = channel.give_back() {
        return failed(error);
    }
    // Its file may have no name any more, as where it was sent over ssh.
    let mut words = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    if let Some(own) = words.next() {
        command.arg0(own);
    }
    failed(command.args(words).exec())
}
