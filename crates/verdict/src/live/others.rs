//! Others than client and server, where they had the processors that these waited for.

use ablaze_model::Run;

use super::figures::{self, Machine, Room};
use super::quota;

/// Other processes took this share of the machine: its figures are not those of client and server.
pub(crate) const OTHERS: f64 = 0.2;
/// A thread of ours waited for a processor for this share of the time.
pub(crate) const WAITED: f64 = 0.1;
/// Whoever waited for this share of the time was starved, however little of the machine others took: they
/// had the very processor that it may use.
const STARVED: f64 = 0.5;
/// Below this share of the machine it was not others.
pub(crate) const ANYBODY: f64 = 0.05;

/// The room in which a thread of client or server waited for others the longest.
pub(crate) fn disturbed(run: &Run) -> Option<Room> {
    let machine = figures::machine(run)?;
    let disturbed = figures::rooms(run).into_iter().filter(|room| {
        let share = share(&machine, room);
        share >= OTHERS && room.waited >= WAITED || share >= ANYBODY && room.waited >= STARVED
    });
    let room = disturbed.max_by(|one, other| one.waited.total_cmp(&other.waited))?;
    // Whom a quota stops waits for a CPU, too, by the scheduler's account.
    let waited_ns = room.waited * run.elapsed_ns as f64;
    let by_quota = [quota::of_client(run), quota::of_server(run)]
        .into_iter()
        .any(|throttled| quota::explains(throttled, waited_ns));
    (!by_quota).then_some(room)
}

/// What others can have taken of a room. What runs beside the CPUs that a side may use is not in its way.
fn share(machine: &Machine, room: &Room) -> f64 {
    machine.others.min(room.left) / room.processors
}

/// Whether client and server had so many threads at work, and used so much, that these waited for each other, too.
pub(crate) fn wait_for_each_other(room: &Room) -> bool {
    room.threads as f64 > room.processors && room.used >= OTHERS * room.processors
}

/// Whether others had more of a room than client and server.
pub(crate) fn have_most(machine: &Machine, room: &Room) -> bool {
    machine.others.min(room.left) >= room.used
}
