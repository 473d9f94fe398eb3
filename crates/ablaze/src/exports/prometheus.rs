//! `--prometheus`: the run as metrics over HTTP, for a scraper, while it lasts. The run hands over what it knows ten times a
//! second and waits for nobody: scrapers are served on threads of their own.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_model::progress::Stage;
use ablaze_report::metrics::{self, Format, Snapshot};
use ablaze_report::system_error::reason;

use crate::CommandError;
use crate::carry_out::{Watcher, interrupted};
use crate::error::note;
use crate::http_server::{self, Bounds, Exchange, Response};

/// Scrapers are few.
const BOUNDS: Bounds = Bounds { name: "prometheus", connections_max: 8 };
/// How often a wait looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// The endpoint; its threads end with the process.
pub struct Endpoint {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    snapshot: Mutex<Snapshot>,
    /// Whether a scraper has the final figures.
    scraped: Mutex<bool>,
    scraped_changed: Condvar,
}

impl Endpoint {
    /// Listens on this address from now on.
    ///
    /// # Errors
    /// When it cannot.
    pub fn begin(address: SocketAddr, plan: &Plan) -> Result<Self, CommandError> {
        let refused = |error: &std::io::Error| {
            let why = reason(error);
            CommandError::usage(format!("--prometheus cannot listen on {address}: {why}"))
        };
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        let address = listener.local_addr().map_err(|error| refused(&error))?;
        let shared = Arc::new(Shared::default());
        {
            let mut snapshot = held(&shared.snapshot);
            snapshot.target.clone_from(&plan.target.url);
            snapshot.groups.clone_from(&plan.requests.groups.names);
        }
        let of_thread = Arc::clone(&shared);
        http_server::serve(listener, BOUNDS, move |exchange| answer(&exchange, &of_thread))
            .map_err(|error| refused(&error))?;
        note(&format!("metrics for Prometheus: http://{address}/metrics"));
        Ok(Self { shared })
    }

    /// Waits until a scraper has the final figures, so long at most, or until Ctrl-C.
    pub fn linger(&self, most_ns: u64) {
        let until = Instant::now() + Duration::from_nanos(most_ns);
        let mut scraped = held(&self.shared.scraped);
        while !*scraped && !interrupted() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.scraped_changed.wait_timeout(scraped, left.min(LOOK));
            scraped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Watcher for Endpoint {
    fn tick(&mut self, progress: &Progress) {
        let mut snapshot = held(&self.shared.snapshot);
        snapshot.so_far.clone_from(&progress.so_far);
        (snapshot.stage, snapshot.elapsed_ns) = (progress.stage, progress.elapsed_ns);
    }
}

/// What a thread that panicked has left is as good as before: it is only ever replaced.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(exchange: &Exchange, shared: &Shared) -> std::io::Result<()> {
    let request = &exchange.request;
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/metrics") => {}
        ("GET" | "HEAD", _) => {
            return exchange.respond(&Response::text(404, "the metrics are at GET /metrics\n"));
        }
        // RFC 9110, 15.5.6: with the methods that there are.
        _ => {
            let refusal = Response::text(405, "the metrics are at GET /metrics\n");
            return exchange.respond(&refusal.with("Allow: GET, HEAD"));
        }
    }
    let format = Format::of_accept(&request.field("accept").unwrap_or_default());
    // Copied, so that a slow scraper never holds what the run is about to replace.
    let snapshot = held(&shared.snapshot).clone();
    let body = metrics::write(&metrics::families(&snapshot), format);
    exchange.respond(&Response::new(200, format.content_type(), body))?;
    if snapshot.stage == Stage::Over && request.method != "HEAD" {
        *held(&shared.scraped) = true;
        shared.scraped_changed.notify_all();
    }
    Ok(())
}
