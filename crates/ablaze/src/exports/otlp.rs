//! `--otlp`: the run as metrics sent to an OpenTelemetry collector, every 10 s and at the end, from a thread of its own. The
//! run leaves there what it knows and waits for nobody; what could not be sent is in what is sent next.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_model::progress::Stage;
use ablaze_report::metrics::{self, Snapshot};

use super::collector::Collector;
use crate::CommandError;
use crate::carry_out::Watcher;
use crate::error::note;

/// Time between two messages where none is asked for, ns.
const INTERVAL_NS: u64 = 10_000_000_000;
/// How long the end of the program waits for the last message: two of them can be under way.
const END_MAX: Duration = Duration::from_secs(11);

/// Sends metrics while a run lasts.
pub struct Sender {
    shared: Arc<Shared>,
    interval_ns: u64,
    next_ns: u64,
    target: String,
    groups: Vec<String>,
    since: Option<SystemTime>,
}

/// What is to be sent.
struct Message {
    snapshot: Snapshot,
    since: SystemTime,
    now: SystemTime,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The latest; an older one that was not sent is in it.
    message: Option<Message>,
    sending: bool,
}

impl Sender {
    /// Looks the collector up, and starts the thread.
    ///
    /// # Errors
    /// When its URL or the headers for it cannot be used.
    pub fn begin(url: &str, plan: &Plan, interval_ns: Option<u64>) -> Result<Self, CommandError> {
        let collector = Collector::of(url)?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        Builder::new()
            .name("otlp".to_owned())
            .spawn(move || send_all(&collector, &of_thread))
            .map_err(|error| CommandError::machine(format!("--otlp: no thread: {error}")))?;
        Ok(Self {
            shared,
            interval_ns: interval_ns.unwrap_or(INTERVAL_NS),
            next_ns: interval_ns.unwrap_or(INTERVAL_NS),
            target: plan.target.url.clone(),
            groups: plan.requests.groups.names.clone(),
            since: None,
        })
    }

    /// Waits until the last message was sent, or could not be.
    pub fn end(&self) {
        let until = Instant::now() + END_MAX;
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.message.is_some() || state.sending {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Watcher for Sender {
    fn tick(&mut self, progress: &Progress) {
        let is_over = progress.stage == Stage::Over;
        if !progress.has_started() || (progress.elapsed_ns < self.next_ns && !is_over) {
            return;
        }
        self.next_ns = progress.elapsed_ns + self.interval_ns;
        let now = SystemTime::now();
        let since =
            *self.since.get_or_insert_with(|| now - Duration::from_nanos(progress.elapsed_ns));
        let snapshot = Snapshot {
            so_far: progress.so_far.clone(),
            stage: progress.stage,
            elapsed_ns: progress.elapsed_ns,
            target: self.target.clone(),
            groups: self.groups.clone(),
        };
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.message = Some(Message { snapshot, since, now });
        self.shared.changed.notify_all();
    }
}

/// Sends whatever comes, until the process ends. A failure is told once.
fn send_all(collector: &Collector, shared: &Shared) {
    let mut told = false;
    loop {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let message = loop {
            if let Some(message) = state.message.take() {
                break message;
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.sending = true;
        drop(state);
        let unix_ns = |time: SystemTime| {
            time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
        };
        let families = metrics::families(&message.snapshot);
        let version = env!("CARGO_PKG_VERSION");
        let body =
            metrics::otlp::write(&families, version, unix_ns(message.since), unix_ns(message.now));
        if let Err(why) = collector.post(body.as_bytes())
            && !std::mem::replace(&mut told, true)
        {
            note(&format!("--otlp {}: {why}; the run goes on", collector.shown()));
        }
        shared.state.lock().unwrap_or_else(PoisonError::into_inner).sending = false;
        shared.changed.notify_all();
    }
}
