//! Ctrl-C, SIGTERM and SIGHUP, heard by a thread of its own: the signal handler only notes the time and adds to an
//! eventfd, which is all that is safe in a handler (signal-safety(7)), and the thread waiting on it does the rest.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

use super::{handle, is_ignored};

/// Signals that follow each other faster than this are one: timeout(1) sends one to its child and the same
/// to its process group, which the child is in. Nobody presses Ctrl-C twice in that time.
const ONE_WISH_NS: u64 = 100_000_000;

/// Where the handler writes; -1 before there is a place.
static HEARD: AtomicI32 = AtomicI32::new(-1);

/// When the last signal was delivered, by the monotonic clock: the thread may get a processor much later.
static DELIVERED_NS: AtomicU64 = AtomicU64::new(0);

/// What a SIGHUP adds to the eventfd; the other signals add one. A terminal that is closed sends it once from
/// the kernel and perhaps again from the shell: as a second wish that would end the process before
/// its results are kept.
const HANG_UP: u64 = 1 << 32;

/// Keeps the descriptor of [`HEARD`] open for the rest of the process.
static HEARD_OWNER: OnceLock<OwnedFd> = OnceLock::new();

/// From now on, SIGTERM, and SIGINT and SIGHUP unless they are ignored, do not end the process but call
/// `hook` on a thread of its own, with the number of times that has been wished for so far: signals less
/// than a tenth of a second apart are one wish, and SIGHUP is only ever the first. For the rest of the
/// process; only once.
///
/// # Errors
/// When the kernel gives no eventfd or thread, or a hook is installed already.
pub fn on_interrupt(mut hook: impl FnMut(u64) + Send + 'static) -> io::Result<()> {
    let heard = eventfd(0, EventfdFlags::CLOEXEC)?;
    let descriptor = heard.as_raw_fd();
    if HEARD_OWNER.set(heard).is_err() {
        return Err(io::Error::other("a hook for interrupts is installed already"));
    }
    HEARD.store(descriptor, Ordering::Release);
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        let Some(heard) = HEARD_OWNER.get() else { return };
        let mut times = 0u64;
        let mut last_ns: Option<u64> = None;
        loop {
            let mut count = [0u8; 8];
            let read = rustix::io::read(heard, &mut count);
            let at_ns = DELIVERED_NS.load(Ordering::Acquire);
            match read {
                Ok(8)
                    if last_ns
                        .is_some_and(|last_ns| at_ns.saturating_sub(last_ns) < ONE_WISH_NS) => {}
                Ok(8) if times > 0 && u64::from_ne_bytes(count) % HANG_UP == 0 => {}
                Ok(8) => {
                    last_ns = Some(at_ns);
                    times += 1;
                    hook(times);
                }
                Err(rustix::io::Errno::INTR) => {}
                _ => return,
            }
        }
    })?;
    let note = note_interrupt as *const () as libc::sighandler_t;
    handle(libc::SIGTERM, note)?;
    // Shells have Ctrl-C ignored for background jobs of scripts, nohup(1) the terminal that is closed: what
    // whoever started this chose to have ignored stays so.
    for signal in [libc::SIGINT, libc::SIGHUP] {
        if !is_ignored(signal)? {
            handle(signal, note)?;
        }
    }
    Ok(())
}

extern "C" fn note_interrupt(signal: libc::c_int) {
    let descriptor = HEARD.load(Ordering::Acquire);
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let one = if signal == libc::SIGHUP { HANG_UP } else { 1 }.to_ne_bytes();
    // SAFETY: clock_gettime(2) and write(2) are async-signal-safe; `now` is a timespec, and `one` is valid for its 8
    // bytes; the descriptor stays open for the life of the process. errno is restored, since the interrupted code may
    // be about to read its own.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        if libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) == 0 {
            let now_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
            DELIVERED_NS.store(now_ns, Ordering::Release);
        }
        libc::write(descriptor, one.as_ptr().cast(), one.len());
        *errno = saved;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const ONE_WISH: Duration = Duration::from_nanos(ONE_WISH_NS);

    #[test]
    fn every_wish_is_counted_and_only_one_hook_is_taken() {
        let (sender, receiver) = mpsc::channel();
        // However the tests were started: shells have it ignored for background jobs.
        handle(libc::SIGINT, libc::SIG_DFL).unwrap();
        on_interrupt(move |times| sender.send(times).unwrap()).unwrap();
        use rustix::process::{Signal, getpid, kill_process};
        for (signal, expected) in [(Signal::INT, 1), (Signal::TERM, 2)] {
            // Twice, as timeout(1) does it.
            kill_process(getpid(), signal).unwrap();
            kill_process(getpid(), signal).unwrap();
            assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(expected));
            assert!(receiver.recv_timeout(3 * ONE_WISH).is_err(), "two signals, one wish");
            // A terminal that is closed wishes for nothing new.
            kill_process(getpid(), Signal::HUP).unwrap();
            assert!(receiver.recv_timeout(3 * ONE_WISH).is_err(), "a hang-up is no second wish");
        }
        assert!(on_interrupt(|_| {}).is_err());
    }
}
