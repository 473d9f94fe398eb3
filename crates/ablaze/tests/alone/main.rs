//! Tests of the built command that count or time what other tests would disturb: each holds [`alone`] as long as
//! it runs, and this program has no others.

mod controls;
mod gates;
mod little;
mod profile;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by a test as long as it runs: two at a time would disturb each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing behind.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
