//! A worker: one thread's connections, exchanges, schedule and recorder, over one driver.
//!
//! `course` is its loop, from connecting to the end of the load; `events` reacts to what the driver and
//! the layers above it report, `connections` opens and ends connections, `load` begins and ends the load
//! on them, `timers` looks after deadlines, `open_loop` hands out what is due on a schedule, `pauses` wakes
//! users that wait between requests, `origins` has users move between the hosts of a Plan, `preparing` lets users
//! do what comes before the clock, `waiting` says how full a batch a turn waits for, `watching` whether it
//! watches or sleeps. What is said on the connections is the [`Protocol`]'s. It shares nothing on the hot path
//! and makes no system call of its own there.

mod connections;
mod course;
mod events;
mod giving_up;
mod leaving;
mod load;
mod open_loop;
mod origins;
mod pauses;
mod preparing;
mod timers;
pub(crate) mod waiting;
mod warming;
mod watching;

use std::cell::RefCell;
use std::sync::Arc;

use ablaze_net::driver::Setup;
use ablaze_net::{Endpoint, Receive, Slot};
use ablaze_wire::http2::request::RequestSet;

pub(crate) use self::connections::{SETUP_ATTEMPTS, failure_of};
pub(crate) use self::course::work;
use self::open_loop::OpenLoop;
use self::origins::Elsewhere;
use crate::connection::{Connection, Exchange};
use crate::control::Heads;
use crate::outbox::{Layout, Outbox};
use crate::protocol::Protocol;
use crate::recorder::{Recorder, Snapshot, Teller};
use crate::schedule::{Numbers, Schedule};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::{Close, Plan};
use ablaze_model::record::{AddressRecord, Record};
use ablaze_model::run::{Ended, WorkerEffort};

/// What a worker is made from.
#[derive(Debug)]
pub struct Assignment {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// Number of workers.
    pub workers: u32,
    /// Its share of the connections, each to one origin; with several, of users.
    pub connections: u32,
    /// Slots for connections that are over and wait for the server to close them, beside those.
    pub spares: u32,
    /// The whole Plan.
    pub plan: Arc<Plan>,
    /// The requests' bytes.
    pub layout: Layout,
    /// The requests as HTTP/2 has them; `None` when it is not spoken.
    pub http2: Option<Arc<RequestSet>>,
    /// The requests as HTTP/3 has them; `None` when it is not spoken.
    pub http3: Option<Arc<ablaze_quic::client::RequestSet>>,
    /// The numbers of the measured requests.
    pub numbers: Arc<Numbers>,
    /// Where its progress is shown.
    pub snapshot: Arc<Snapshot>,
    /// What its recorder hands over is told with, if somebody follows the run; taken when the worker begins.
    pub teller: RefCell<Option<Teller>>,
    /// There are CPUs that neither a worker nor a local target needs.
    pub cpus_to_spare: bool,
    /// Who wants to see heads.
    pub heads: Option<Heads>,
}

/// What a worker hands over at the end.
#[derive(Debug)]
pub struct WorkerRecord {
    /// Everything it recorded.
    pub record: Record,
    /// What it cost; CPU times are filled in by the thread that ran it.
    pub effort: WorkerEffort,
    /// When its clock started and ended, driver's clock; `None` if a fault kept it from starting.
    pub window_ns: Option<(u64, u64)>,
    /// How it ended.
    pub ended: Ended,
    /// Which of the target's addresses its connections were made to.
    pub address: usize,
    /// From when on fewer than 95 % of its places were in use, because its requests had run out.
    pub draining_since_ns: Option<u64>,
}

/// Moments of a run that all workers share. The simulated driver needs none of them.
pub trait Gate {
    /// All connections that this worker opens before the clock stand (or cannot), and whatever else could
    /// be made was made: wait for the others. Returns the time
    /// at which the clock starts for all, read from this worker's clock if it is the first to go
    /// on.
    fn all_connected(&mut self, clock: &mut dyn FnMut() -> u64) -> u64;
    /// All users of this worker have done what they do once before the clock: wait for the others, as above. Only called where
    /// users have something to do then.
    fn all_prepared(&mut self, clock: &mut dyn FnMut() -> u64) -> u64;
    /// This worker is ready: it waits to be told when the clock starts. Only called where that is told.
    fn ready(&mut self);
    /// The window opens on this worker: the moment to read its CPU time.
    fn window_opens(&mut self);
    /// The window closes: the moment to read it again.
    fn window_closes(&mut self);
    /// The load is over; the connections are closed as soon as this returns.
    fn load_over(&mut self);
    /// Times the kernel took the CPU away from this thread so far.
    fn involuntary_switches(&self) -> u64;
}

impl Assignment {
    /// Exchanges that the worker can have in flight.
    pub fn places(&self) -> usize {
        self.slots() as usize * self.plan.places_per_connection() as usize
    }

    /// Users that a walk is asked about: one for each connection of HTTP/1, one for each stream of HTTP/2.
    pub fn users(&self) -> u32 {
        self.connections * self.plan.users_per_connection()
    }

    /// Slots of its driver: the connections of the load to every origin, and the spare ones.
    pub fn slots(&self) -> u32 {
        self.connections * self.plan.origins() + self.spares
    }

    /// What the driver of this worker is made from.
    pub fn driver_setup(&self, endpoints: Vec<Endpoint>) -> Setup {
        Setup {
            slots: self.slots(),
            spares: self.spares,
            endpoints,
            constant_bytes: Arc::clone(&self.layout.constant_bytes),
            batch_cap: match self.plan.speaks_tls() {
                true if !self.plan.connections.keep_alive => HANDSHAKES_CAP,
                _ => BATCH_CAP,
            },
            short_connections: (!self.plan.connections.keep_alive
                || self.plan.connections.requests_per_connection == Some(1))
                && self.plan.connections.close != Close::Reset,
            head_bytes: self.heads.as_ref().map(|heads| heads.bytes),
        }
    }
}

/// Events handled before what they caused is submitted: bounds the client's own queueing.
const BATCH_CAP: u32 = 64;

/// The same where most events are parts of a handshake: each costs a tenth of a millisecond, and those
/// behind it wait.
const HANDSHAKES_CAP: u32 = 4;

/// A worker's state; the driver is apart, because it lends its verbs to the worker.
///
/// What protocols use is visible to them; the rest is the worker's own.
pub(crate) struct Worker<P: Protocol> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) protocol: P,
    pub(crate) connections: Vec<Connection<P::State>>,
    /// `pipeline` places per connection; which of them is free is the protocol's affair.
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) pipeline: u32,
    pub(crate) outbox: Outbox,
    schedule: Schedule,
    /// The arrivals, if the load is an open loop; the schedule has nothing to say then.
    pub(crate) open_loop: Option<OpenLoop>,
    numbers: Arc<Numbers>,
    pub(crate) recorder: Recorder,
    /// Slots whose sends or opens leave with the current batch and take its time.
    unstamped: Vec<Slot>,
    /// What a server does with connections that it was to close.
    habits: Vec<leaving::Habit>,
    /// Free slots that hold no place of the load.
    spares: Vec<Slot>,
    /// Requests that the load has in flight where it is at its fullest.
    places: u64,
    /// How the first bytes of the next response are best received.
    pub(crate) expected_mode: Receive,
    pub(crate) in_flight: u32,
    /// Slots in [`Stage::Open`] or with something under way.
    setup_left: u32,
    pub(crate) in_setup: bool,
    /// The measured load is over, or has not begun: nothing new is started.
    pub(crate) closed_for_new: bool,
    /// See [`WorkerRecord::draining_since_ns`].
    draining_since_ns: Option<u64>,
    address: usize,
    addresses: usize,
    /// How many of them have not failed yet.
    untried_addresses: usize,
    refused_in_a_row: u32,
    /// Since when so many connections came to nothing that the run gives up, unless an earlier one comes to something, and why
    /// the last of them did.
    enough_failed: Option<(u64, FailureKind, i32)>,
    /// Since when connections only fail: connections and responses so far, and the time.
    fails_since: ((u64, u64), u64),
    /// Connections that TLS broke off before there was any response.
    turned_away: u32,
    unreachable: bool,
    pub(crate) next_check_ns: u64,
    pub(crate) now_ns: u64,
    pub(crate) requests_per_connection: u64,
    /// Whether waiting for a fuller batch has filled it.
    fills: waiting::Fills,
    /// Users that have nothing to send until a time.
    pauses: pauses::Pauses,
    /// The Plan's other origins.
    elsewhere: Elsewhere,
}

impl<P: Protocol> Worker<P> {
    fn new(protocol: P, assignment: &Assignment) -> Self {
        let plan = Arc::clone(&assignment.plan);
        let pipeline = plan.places_per_connection();
        let count = assignment.slots() as usize;
        let of_load = assignment.slots() - assignment.spares;
        let is_spare = |slot: usize| slot >= of_load as usize;
        let addresses = match plan.target.unix_socket {
            Some(_) => 1,
            None => plan.target.addresses.len().max(1),
        };
        let address = protocol.first_address().min(addresses - 1);
        let mut worker = Self {
            connections: (0..count)
                .map(|slot| Connection::new(protocol.state(), slot as u32, is_spare(slot)))
                .collect(),
            elsewhere: Elsewhere::new(&plan, assignment.connections),
            protocol,
            exchanges: vec![Exchange::default(); count * pipeline as usize],
            pipeline,
            outbox: Outbox::new(&plan, assignment.layout.clone(), assignment.worker),
            schedule: Schedule::new(Arc::clone(&assignment.numbers)),
            open_loop: OpenLoop::new(assignment),
            numbers: Arc::clone(&assignment.numbers),
            recorder: Recorder::new(
                &plan,
                Arc::clone(&assignment.snapshot),
                assignment.teller.take(),
            ),
            unstamped: Vec::with_capacity(count),
            habits: vec![leaving::Habit::Unknown; plan.origins() as usize],
            spares: (of_load..assignment.slots()).rev().collect(),
            places: u64::from(assignment.connections) * u64::from(pipeline),
            expected_mode: P::FIRST_MODE,
            in_flight: 0,
            setup_left: 0,
            in_setup: false,
            closed_for_new: false,
            draining_since_ns: None,
            address,
            addresses,
            untried_addresses: addresses,
            refused_in_a_row: 0,
            enough_failed: None,
            fails_since: ((0, 0), 0),
            turned_away: 0,
            unreachable: false,
            next_check_ns: 0,
            now_ns: 0,
            fills: waiting::Fills::default(),
            pauses: pauses::Pauses::default(),
            requests_per_connection: match plan.connections.requests_per_connection {
                _ if !plan.connections.keep_alive => 1,
                Some(limit) => limit.max(1),
                None => u64::MAX,
            },
            plan,
        };
        worker.seat_users(assignment.connections);
        if addresses > 1 {
            let all = worker.plan.target.addresses.iter().map(|at| AddressRecord::new(*at));
            worker.recorder.record().by_address = all.collect();
        }
        worker
    }
}

/// The tightest way to close that the Plan permits when the server did not announce it.
pub(crate) fn close_at_once(plan: &Plan) -> ablaze_net::CloseHow {
    match plan.connections.close {
        Close::Reset => ablaze_net::CloseHow::Reset,
        Close::Await | Close::Fin => ablaze_net::CloseHow::Fin,
    }
}

/// Bodies longer than this are discarded on the socket rather than copied and skipped.
pub(crate) const BULKY_BYTES: u64 = 8 * 1024;
