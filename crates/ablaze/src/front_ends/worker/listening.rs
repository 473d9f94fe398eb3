//! Hears what the coordinator says, and minds whether it is there: a ping is answered at once, whatever else goes on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ablaze_engine::Control;
use ablaze_fleet::lines::{self, LINE_BYTES_MAX};
use ablaze_fleet::message::{FromWorker, ToWorker, of_line};
use ablaze_sys::clock::monotonic_ns;

use super::channel::Channel;
use crate::error::{NOTHING_MEASURED, note};

/// A coordinator that says nothing for so long is gone, ns.
const SILENCE_NS: u64 = 10_000_000_000;
/// A worker that told nothing for so long says that it is there, ns.
const ALIVE_EVERY_NS: u64 = 1_000_000_000;
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Has the coordinator heard from now on: it starts and ends the run of this handle. Where it goes before it said when to
/// start, this process ends; later the run does, and so it does after `limit_ns`.
///
/// # Errors
/// When the system gives no thread.
pub fn begin(
    channel: &Arc<Channel>,
    control: &Arc<Control>,
    limit_ns: Option<u64>,
) -> io::Result<()> {
    let begun_ns = monotonic_ns();
    channel.change(|state| state.heard_ns = begun_ns);
    let until_ns = limit_ns.map_or(u64::MAX, |limit_ns| begun_ns.saturating_add(limit_ns));
    let (own, run) = (Arc::clone(channel), Arc::clone(control));
    std::thread::Builder::new().name("hears".to_owned()).spawn(move || {
        if !hear(&own, &run) {
            gone(&own, &run);
        }
    })?;
    let (own, run) = (Arc::clone(channel), Arc::clone(control));
    std::thread::Builder::new()
        .name("minds".to_owned())
        .spawn(move || mind(&own, &run, until_ns))?;
    Ok(())
}

/// Hears lines until the Run has arrived, which it tells; or until there are no more, or one that cannot be read. What
/// follows on the Run is for the next run of this program ([`super::again`]): none of it may be read here.
fn hear(channel: &Channel, control: &Control) -> bool {
    let mut stdin = io::stdin().lock();
    while let Ok(Some(line)) = lines::next(&mut stdin, LINE_BYTES_MAX) {
        let now_ns = monotonic_ns();
        channel.change(|state| state.heard_ns = now_ns);
        match of_line(&line) {
            Ok(ToWorker::Ping { number }) => {
                channel.tell(&FromWorker::Pong { number, at_ns: now_ns });
            }
            Ok(ToWorker::Start { at_ns }) => {
                channel.change(|state| state.has_start = true);
                control.start_at(at_ns);
            }
            Ok(ToWorker::Stop) => {
                channel.change(|state| state.was_stopped = true);
                control.stop();
            }
            Ok(ToWorker::Received) => {
                channel.change(|state| state.is_received = true);
                control.stop();
                return true;
            }
            Ok(ToWorker::Alive) => {}
            Ok(ToWorker::Assignment(_)) | Err(_) => return false,
        }
    }
    false
}

/// Says that this worker is there, and notices when the coordinator is not.
fn mind(channel: &Channel, control: &Control, until_ns: u64) {
    loop {
        let state = channel.wait(LOOK_EVERY, |state| state.is_closed);
        let now_ns = monotonic_ns();
        if state.is_closed || now_ns.saturating_sub(state.heard_ns) > SILENCE_NS {
            return gone(channel, control);
        }
        if now_ns >= until_ns {
            control.stop();
        }
        if now_ns.saturating_sub(state.told_ns) >= ALIVE_EVERY_NS {
            channel.tell(&FromWorker::Alive);
        }
    }
}

/// The coordinator is gone.
fn gone(channel: &Channel, control: &Control) {
    let state = channel.state();
    channel.change(|state| state.is_closed = true);
    if !state.has_start && !state.is_received {
        note("the coordinator is gone before the start: nothing was measured");
        std::process::exit(i32::from(NOTHING_MEASURED));
    }
    control.stop();
}
