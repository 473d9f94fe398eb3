//! Process groups of programs that this one started: whether the first of them has ended, and the end of all.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Ends all processes of the group of a child that was not waited for, at once. One that has ended already is nothing to tell.
pub fn kill_group(child: u32) {
    if let Some(group) = pid(child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Asks all processes of the group of a child that was not waited for to end (SIGTERM).
pub fn end_group(child: u32) {
    if let Some(group) = pid(child) {
        let _ = kill_process_group(group, Signal::TERM);
    }
}

/// Whether this child has ended. It can be waited for afterwards as before, and its number is its own until then.
pub fn has_ended(child: u32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let ended = pid(child).map(|pid| waitid(WaitId::Pid(pid), options));
    // Who is no child is nobody to wait for.
    !matches!(ended, Some(Ok(None)))
}

/// 0 and 1 would be this process's own group and every process there is.
fn pid(child: u32) -> Option<Pid> {
    i32::try_from(child).ok().filter(|number| *number > 1).and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_that_has_ended_can_still_be_waited_for() {
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        assert!(!has_ended(child.id()));
        kill_group(child.id());
        for _ in 0..1000 {
            if has_ended(child.id()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(has_ended(child.id()) && has_ended(child.id()));
        assert!(!child.wait().unwrap().success());
    }
}
