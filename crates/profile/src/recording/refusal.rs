//! Why the kernel refuses samples, as a reason and a fix.

use std::io;

use ablaze_model::profiling::Refused;

/// The refusal of this machine's kernel.
pub(super) fn refused_by(error: &io::Error) -> Refused {
    refusal(error.raw_os_error().unwrap_or(0), paranoia())
}

/// kernel.perf_event_paranoid; `None` where the kernel has no perf_event_open(2) at all.
pub(crate) fn paranoia() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// What an error of perf_event_open(2) means where kernel.perf_event_paranoid has this value; `None`
/// stands for a kernel without it.
///
/// An unprivileged process may sample its user's processes up to 2, with their kernel stacks up to 1;
/// the kernels of Debian, Ubuntu and Android know 3 and 4, which forbid it (linux/kernel/events/core.c,
/// "perf event paranoia level").
pub fn refusal(error: i32, paranoid: Option<i32>) -> Refused {
    let what = io::Error::from_raw_os_error(error);
    match (error, paranoid) {
        (libc::EACCES | libc::EPERM, Some(level)) if level > 2 => Refused::new(
            format!("only root may take samples (kernel.perf_event_paranoid is {level})"),
            "`sudo sysctl kernel.perf_event_paranoid=1`, or give ablaze CAP_PERFMON: \
             `sudo setcap cap_perfmon=ep $(command -v ablaze)`",
        ),
        (libc::EACCES | libc::EPERM, Some(level)) => Refused::new(
            format!(
                "samples of this process are forbidden ({what}), although kernel.perf_event_paranoid is \
                 {level}: it belongs to another user, or a container or seccomp forbids perf_event_open"
            ),
            "run as the user of the server or as root; a container needs `--cap-add PERFMON` and a \
             seccomp profile that permits perf_event_open",
        ),
        (libc::ENOSYS | libc::EACCES | libc::EPERM, None) => Refused::new(
            "this kernel has no perf_event_open (built without CONFIG_PERF_EVENTS), or a sandbox hides it",
            "use a kernel with CONFIG_PERF_EVENTS=y; or run outside of the sandbox",
        ),
        (libc::ENOSYS, Some(_)) => Refused::new(
            "perf_event_open is forbidden by seccomp, as containers do",
            "run outside of the container, or with `--security-opt seccomp=unconfined`",
        ),
        (libc::ESRCH, _) => Refused::new(
            "the process has exited",
            "profile a server that keeps \
                                                                    running",
        ),
        (libc::EMFILE, _) => Refused::new(
            "out of file descriptors: sampling needs one per thread and CPU",
            "raise the limit, `ulimit -n 65536`, or profile a server of fewer threads",
        ),
        (libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL, _) => Refused::new(
            format!("this machine has no event to sample by ({what})"),
            "use Linux 4.8 or newer with the software events of perf",
        ),
        _ => Refused::new(format!("cannot take samples: {what}"), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_names_its_reason_and_a_fix_that_fits() {
        let text = |error, paranoid| refusal(error, paranoid).to_string();
        for level in [3, 4] {
            for error in [libc::EACCES, libc::EPERM] {
                let text = text(error, Some(level));
                assert!(text.contains(&format!("kernel.perf_event_paranoid is {level}")), "{text}");
                assert!(text.contains("sysctl kernel.perf_event_paranoid=1"), "{text}");
                assert!(text.contains("cap_perfmon"), "{text}");
            }
        }
        // The sysctl fixes nothing where it forbids nothing.
        let other_user = text(libc::EACCES, Some(2));
        assert!(!other_user.contains("sysctl"), "{other_user}");
        assert!(other_user.contains("another user"), "{other_user}");
        assert!(text(libc::ENOSYS, Some(2)).contains("seccomp"));
        assert!(text(libc::ENOSYS, None).contains("CONFIG_PERF_EVENTS"));
        assert!(text(libc::EMFILE, Some(1)).contains("ulimit -n"));
        assert!(text(libc::EIO, Some(1)).contains("error"));
    }
}
