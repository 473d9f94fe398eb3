//! How often each route of the shop was answered, by status: shown by `/_/status`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use super::Route;

/// Every status that the shop responds with.
const STATUSES: [u16; 8] = [200, 201, 400, 401, 404, 405, 409, 500];
const CELLS: usize = STATUSES.len() * Route::NAMES.len();
/// Threads that count apart; of more, some share.
const STRIPES: usize = 16;

/// Counts of requests, by route and status.
#[derive(Debug, Default)]
pub struct RouteCounts([Stripe; STRIPES]);

/// What some threads have counted, alone on its cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Stripe([AtomicU64; CELLS]);

impl Default for Stripe {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl RouteCounts {
    /// One more of this route with this status.
    pub fn add(&self, route: Route, status: u16) {
        let Some(column) = STATUSES.iter().position(|own| *own == status) else { return };
        let cell = route as usize * STATUSES.len() + column;
        self.0[stripe()].0[cell].fetch_add(1, Ordering::Relaxed);
    }

    /// A row for each route that was asked for: its name, how often, and how often with each status.
    pub fn rows(&self) -> Vec<Value> {
        let count = |cell: usize| -> u64 {
            self.0.iter().map(|stripe| stripe.0[cell].load(Ordering::Relaxed)).sum()
        };
        let rows = Route::NAMES.iter().enumerate().map(|(route, name)| {
            let counts = (0..STATUSES.len()).map(|column| count(route * STATUSES.len() + column));
            let counts: Vec<(u16, u64)> =
                STATUSES.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
            let requests: u64 = counts.iter().map(|(_, count)| count).sum();
            let statuses: Map<String, Value> = counts
                .iter()
                .map(|(status, count)| (status.to_string(), (*count).into()))
                .collect();
            (requests, json!({ "route": name, "requests": requests, "statuses": statuses }))
        });
        rows.filter(|(requests, _)| *requests > 0).map(|(_, row)| row).collect()
    }
}

/// Where the calling thread counts.
fn stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES);
    }
    OWN.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_and_routes_without_requests_are_left_out() {
        let counts = RouteCounts::default();
        std::thread::scope(|scope| {
            for _ in 0..40 {
                scope.spawn(|| {
                    counts.add(Route::Login, 200);
                    counts.add(Route::Upload, 500);
                    counts.add(Route::Login, 401);
                });
            }
        });
        let login = json!({
            "route": "POST /login", "requests": 80, "statuses": { "200": 40, "401": 40 },
        });
        let upload = json!({ "route": "POST /upload", "requests": 40, "statuses": { "500": 40 } });
        assert_eq!(counts.rows(), [login, upload]);
    }
}
