//! What the coordinator sees of the target, where that is on its machine: the server's process, and the addresses that the
//! connections come from. Workers see their own side only.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_engine::Progress;
use ablaze_load::carry_out::destination;
use ablaze_model::Run;
use ablaze_model::fleet::SeenFrom;
use ablaze_model::progress::Stage;
use ablaze_model::saved::shown;
use ablaze_model::spec::{LoadSpec, Monitoring, Secrets};
use ablaze_monitor::Monitor;

use super::{Place, here, seen};
use crate::carry_out::{UnderWay, Watcher};

/// The target's machine, being watched.
pub struct Beside {
    monitor: Monitor,
    looking: Option<JoinHandle<Vec<SeenFrom>>>,
    begun: Option<Sender<()>>,
}

/// It is looked twice where connections come from, so far apart: some are opened in the run.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

impl Beside {
    /// Watches the target of this load; `None` where it is on another machine, or nothing is to be watched.
    pub fn begin(place: &Place, load: &LoadSpec, secrets: &Secrets) -> Option<Self> {
        if load.monitoring() == Monitoring::Off {
            return None;
        }
        let plan = here(load, secrets).ok()?.plan;
        let addresses = plan.target.addresses.clone();
        // On another machine than this one a loopback address is another one, and a socket another file.
        let is_another = plan.target.unix_socket.is_some()
            || addresses.iter().any(|address| address.ip().is_loopback());
        if is_another && !place.is_this_machine() {
            return None;
        }
        let destination = destination(&plan);
        if !destination.is_on_this_host() {
            return None;
        }
        let (begun, at_start) = channel();
        // With many connections it takes its time.
        let look = move || look(&addresses, &at_start);
        let looking = std::thread::Builder::new().name("looks".to_owned()).spawn(look).ok();
        Some(Self { monitor: Monitor::begin(&destination), looking, begun: Some(begun) })
    }

    /// Puts what was seen since the common start beside the Run, as far as it is not about a client.
    pub fn end(self, run: &mut Run, start_ns: Option<u64>) {
        drop(self.begun);
        let seen = self.looking.and_then(|looking| looking.join().ok()).unwrap_or_default();
        if let Some(fleet) = &mut run.fleet {
            fleet.seen_from = seen;
        }
        let Some(start_ns) = start_ns else { return };
        let mut monitored = shown(self.monitor.end((start_ns, start_ns + run.elapsed_ns)));
        // This process only waited.
        (monitored.client, monitored.connections, monitored.heartbeat) = (None, None, None);
        run.monitor = Some(monitored);
    }
}

/// Where connections come from at the start of the run and a moment later; the look that saw more.
fn look(servers: &[SocketAddr], at_start: &Receiver<()>) -> Vec<SeenFrom> {
    if at_start.recv().is_err() {
        return Vec::new();
    }
    let first = seen::connections_from(servers);
    if at_start.recv_timeout(LOOK_AGAIN) != Err(RecvTimeoutError::Timeout) {
        return first;
    }
    let second = seen::connections_from(servers);
    let count = |seen: &[SeenFrom]| seen.iter().map(|seen| seen.connections).sum::<u64>();
    if count(&second) < count(&first) { first } else { second }
}

/// A watcher of the run that has the target's host looked at when it starts.
pub struct Starting<'a> {
    watcher: &'a mut dyn Watcher,
    begun: Option<Sender<()>>,
    has_begun: bool,
}

impl<'a> Starting<'a> {
    /// Tells `beside` of the start, and the watcher of everything.
    pub fn of(watcher: &'a mut dyn Watcher, beside: Option<&mut Beside>) -> Self {
        let begun = beside.and_then(|beside| beside.begun.take());
        Self { watcher, begun, has_begun: false }
    }
}

impl Watcher for Starting<'_> {
    fn tick(&mut self, progress: &Progress) {
        self.watcher.tick(progress);
    }

    fn look(&mut self, run: &mut UnderWay<'_>) {
        let is_measuring = run.progress.stage == Stage::Measuring;
        if is_measuring
            && !std::mem::replace(&mut self.has_begun, true)
            && let Some(begun) = &self.begun
        {
            // Whoever looks is there as long as this is; that the run is over is told by the drop.
            let _ = begun.send(());
        }
        if self.watcher.listens() {
            self.watcher.look(run);
        }
    }

    fn finish(&mut self) {
        if self.watcher.listens() {
            self.watcher.finish();
        }
    }
}
