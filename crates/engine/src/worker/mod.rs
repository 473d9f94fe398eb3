//! A worker: one thread's connections, exchanges, schedule and recorder, over one driver.
//!
//! [`work`] is its loop; `events` reacts to what the driver reports, `exchanges` begins and ends
//! exchanges and connections, `sends` feeds connections without writing to what is still read, `answers`
//! reads what arrives, `timers` looks after deadlines, `open_loop` hands out what is due on a schedule,
//! `transport` is what TLS tells it, `http2` is all of this with streams instead of a pipeline, `waiting`
//! says how a turn waits. It shares nothing on the hot path and makes no system call of its own there.

mod answers;
mod events;
mod exchanges;
mod http2;
mod open_loop;
mod sends;
mod stopped;
mod timers;
mod transport;
mod waiting;

use std::io;
use std::sync::Arc;

use ablaze_net::driver::Setup;
use ablaze_net::{Endpoint, Io, Receive, Slot, Wait};
use ablaze_wire::http1::response::Head;
use ablaze_wire::http2::request::RequestSet;

use self::http2::Http2;
use self::open_loop::OpenLoop;
use self::sends::Sends;
use self::waiting::SpinRule;
use crate::connection::{Connection, Exchange, Stage};
use crate::fault::{Caught, caught, unless_it_panics};
use crate::launch::Control;
use crate::outbox::{Layout, Outbox};
use crate::recorder::{Recorder, Snapshot};
use crate::schedule::{Numbers, Schedule};
use crate::transport::Line;
use ablaze_model::plan::{ClockStarts, Close, Plan};
use ablaze_model::record::{Fault, Record};
use ablaze_model::run::{Ended, WorkerEffort};

/// What a worker is made from.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// Number of workers.
    pub workers: u32,
    /// Its share of the connections.
    pub connections: u32,
    /// The whole Plan.
    pub plan: Arc<Plan>,
    /// The requests' bytes.
    pub layout: Layout,
    /// The requests as HTTP/2 has them; `None` when it is not spoken.
    pub http2: Option<Arc<RequestSet>>,
    /// The numbers of the measured requests.
    pub numbers: Arc<Numbers>,
    /// Where its progress is shown.
    pub snapshot: Arc<Snapshot>,
    /// There are CPUs that neither a worker nor a local target needs.
    pub cpus_to_spare: bool,
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
    /// All connections of this worker stand (or cannot): wait for the others. Returns the time
    /// at which the clock starts for all, read from this worker's clock if it is the first to go
    /// on.
    fn all_connected(&mut self, clock: &mut dyn FnMut() -> u64) -> u64;
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
    /// What the driver of this worker is made from.
    pub fn driver_setup(&self, endpoints: Vec<Endpoint>) -> Setup {
        Setup {
            slots: self.connections,
            endpoints,
            constant_bytes: Arc::clone(&self.layout.constant_bytes),
            batch_cap: match self.plan.tls {
                Some(_) if !self.plan.connections.keep_alive => HANDSHAKES_CAP,
                _ => BATCH_CAP,
            },
            short_connections: (!self.plan.connections.keep_alive
                || self.plan.connections.requests_per_connection == Some(1))
                && self.plan.connections.close != Close::Reset,
        }
    }
}

/// Events handled before what they caused is submitted: bounds the client's own queueing.
const BATCH_CAP: u32 = 64;

/// The same where most events are parts of a handshake: each costs a tenth of a millisecond, and those
/// behind it wait.
const HANDSHAKES_CAP: u32 = 4;

/// How long a turn waits at most, so that a request to stop is seen.
const TURN_NS: u64 = 100_000_000;

/// A worker's state; the driver is apart, because it lends its verbs to the worker.
pub struct Worker {
    plan: Arc<Plan>,
    connections: Vec<Connection>,
    /// `pipeline` places per connection: a ring, or with HTTP/2 one for each stream.
    exchanges: Vec<Exchange>,
    pipeline: u32,
    outbox: Outbox,
    http2: Box<Http2>,
    schedule: Schedule,
    /// The arrivals, if the load is an open loop; the schedule has nothing to say then.
    open_loop: Option<OpenLoop>,
    numbers: Arc<Numbers>,
    recorder: Recorder,
    /// Heads of the answers before, one per template: an equal one needs no scan.
    heads: Vec<KnownHead>,
    /// Beginnings of heads that came in pieces.
    spills: Vec<Spill>,
    free_spills: Vec<u32>,
    /// Slots whose sends or opens leave with the current batch and take its time.
    unstamped: Vec<Slot>,
    /// How the first bytes of the next answer are best received.
    expected_mode: Receive,
    sends: Sends,
    in_flight: u32,
    /// Slots in [`Stage::Open`] or with something under way.
    setup_left: u32,
    in_setup: bool,
    /// The measured load is over, or has not begun: nothing new is started.
    closed_for_new: bool,
    /// See [`WorkerRecord::draining_since_ns`].
    draining_since_ns: Option<u64>,
    address: usize,
    addresses: usize,
    /// How many of them have not failed yet.
    untried_addresses: usize,
    refused_in_a_row: u32,
    /// Connections that TLS broke off before there was any answer.
    turned_away: u32,
    hopeless: bool,
    next_check_ns: u64,
    now_ns: u64,
    requests_per_connection: u64,
}

/// The head of an earlier answer and what it says.
#[derive(Debug, Default)]
struct KnownHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

/// The beginning of a head that came in pieces.
#[derive(Debug)]
struct Spill {
    bytes: Vec<u8>,
    /// Where the scanner goes on.
    resume: usize,
}

/// Where a worker's share of the Plan stands: what has to be known of it after a panic.
#[derive(Debug, Default)]
struct Course {
    /// Of the window, once that is open.
    effort: WorkerEffort,
    start_ns: Option<u64>,
    /// When the window closed; what was unfinished then is noted.
    closed_ns: Option<u64>,
    ended: Option<Ended>,
}

/// Carries a worker's share of the Plan out over this line. Failures of single connections are recorded;
/// where the driver's loop fails, or the worker panics, its record has what came before, and a
/// [`Fault`].
pub fn work<L: Line>(
    mut line: L,
    assignment: Assignment,
    control: &Control,
    gate: &mut impl Gate,
) -> WorkerRecord {
    let mut worker = Worker::new(&assignment);
    let mut course = Course::default();
    // The worker is owned out here: a panic leaves it as it was in that moment.
    let outcome =
        caught(|| carry_out(&mut worker, &mut line, &assignment, control, gate, &mut course));
    let mut faults = Vec::new();
    if let Err(Caught { message, panicked_at }) = outcome {
        let after_ns = course.start_ns.map(|start_ns| worker.now_ns.saturating_sub(start_ns));
        let worker = assignment.worker;
        faults.push(Fault { worker, after_ns, message, panicked_at });
    }
    course.break_off(&mut worker, gate);
    // There may be half of an exchange in what a panic left behind: what cannot be read for that is left out.
    let http2 = unless_it_panics(|| worker.http2.facts()).flatten();
    let facts = unless_it_panics(|| line.facts()).unwrap_or_default();
    let recorder = worker.recorder;
    let closed_ns = course.closed_ns;
    let record = closed_ns.and_then(|at| unless_it_panics(|| recorder.finish(at)));
    let record =
        Record { tls: facts.tls, proxy: facts.proxy, http2, faults, ..record.unwrap_or_default() };
    WorkerRecord {
        record,
        effort: course.effort,
        window_ns: course.start_ns.zip(course.closed_ns),
        ended: course.ended.unwrap_or(Ended::Failed),
        address: worker.address,
        draining_since_ns: worker
            .draining_since_ns
            .map(|since_ns| since_ns.max(course.start_ns.unwrap_or(0))),
    }
}

impl Course {
    /// Closes a window that is still open, where the worker was last.
    fn break_off(&mut self, worker: &mut Worker, gate: &mut impl Gate) {
        if self.closed_ns.is_some() {
            return;
        }
        let Some(start_ns) = self.start_ns else {
            self.effort = WorkerEffort::default();
            return;
        };
        let closed_ns = worker.now_ns.max(start_ns);
        self.effort.window_ns = closed_ns - start_ns;
        self.closed_ns = Some(closed_ns);
        gate.window_closes();
        unless_it_panics(|| worker.note_unfinished(closed_ns));
    }
}

/// The worker's whole course, from connecting to the end of the load.
fn carry_out<L: Line>(
    worker: &mut Worker,
    line: &mut L,
    assignment: &Assignment,
    control: &Control,
    gate: &mut impl Gate,
    course: &mut Course,
) -> io::Result<()> {
    let places = worker.exchanges.len();
    if !worker.http2.is_spoken() {
        worker.outbox.lease_all(&mut line.io(), places);
    }
    let plan = Arc::clone(&assignment.plan);
    let spin = SpinRule::new(&plan, assignment.cpus_to_spare);

    let mut now = line.io().now();
    worker.now_ns = now;
    worker.next_check_ns = now;
    if worker.connects_first() {
        worker.in_setup = true;
        let first = worker.connections_at_start(assignment);
        worker.setup_left = first;
        let begun = now;
        for slot in 0..first {
            if control.stopped() || worker.hopeless {
                break;
            }
            worker.set_up(&mut line.io(), slot, begun, now);
            // One at a time: on this host a connect completes while it is submitted, and should
            // not be timed with those behind it. Elsewhere none is waited for here.
            now = worker.turn(line, &mut course.effort, now, 0)?;
        }
        while worker.setup_left > 0 && !control.stopped() && !worker.hopeless {
            now = worker.turn(line, &mut course.effort, now + TURN_NS, 0)?;
        }
        now = gate.all_connected(&mut || line.io().now());
        // Simulated clocks stand still while their worker waits.
        while line.io().now() < now {
            worker.turn(line, &mut course.effort, now, 0)?;
        }
        worker.in_setup = false;
    }

    let mut ended = Ended::Complete;
    if plan.limits.warmup_ns > 0 && !control.stopped() && !worker.hopeless {
        // Warming up takes numbers of its own, without end.
        worker.schedule = Schedule::new(Arc::new(Numbers::new(None, 1)));
        if let Some(open) = &mut worker.open_loop {
            open.for_warmup(assignment);
        }
        let warm_ns = now.saturating_add(plan.limits.warmup_ns);
        worker.start_all(&mut line.io(), now, warm_ns);
        while now < warm_ns && !control.stopped() && !worker.hopeless {
            let until = warm_ns.min(now + TURN_NS);
            let spin_ns = spin.for_now(worker);
            now = worker.turn(line, &mut course.effort, until, spin_ns)?;
        }
        worker.schedule = Schedule::new(Arc::clone(&worker.numbers));
        if let Some(open) = &mut worker.open_loop {
            open.for_window(assignment);
        }
    }

    gate.window_opens();
    course.effort = WorkerEffort::default();
    let start_ns = now;
    let end_ns =
        plan.limits.duration_ns.map_or(u64::MAX, |duration| start_ns.saturating_add(duration));
    worker.open_window(start_ns);
    course.start_ns = Some(start_ns);
    if control.stopped() {
        // Before the load began: an open loop without an arrival would look done.
        ended = Ended::Interrupted;
    } else if !worker.hopeless {
        worker.start_all(&mut line.io(), now, end_ns);
    }
    let mut spin = spin;
    while ended == Ended::Complete {
        if worker.is_done() {
            break;
        }
        if control.stopped() {
            ended = Ended::Interrupted;
            break;
        }
        if worker.hopeless {
            break;
        }
        if now >= end_ns {
            break;
        }
        let until = end_ns.min(worker.recorder.slice_end_ns()).min(now + TURN_NS);
        let spin_ns = spin.for_now(worker);
        now = worker.turn(line, &mut course.effort, until, spin_ns)?;
        if now >= worker.recorder.slice_end_ns() {
            worker.recorder.roll_slices(now);
            spin.look_again(gate.involuntary_switches());
            control.rehearse_panic(assignment.worker);
        }
    }
    if worker.hopeless {
        ended = Ended::Hopeless;
    }
    let finished_early = worker.is_done() && ended == Ended::Complete;
    let closed_ns = if finished_early { worker.recorder.last_finish_ns() } else { now.min(end_ns) };
    gate.window_closes();
    course.effort.window_ns = closed_ns - start_ns;
    (course.closed_ns, course.ended) = (Some(closed_ns), Some(ended));
    // Counting what was never sent is no work of the window.
    worker.note_unfinished(closed_ns);
    let mut behind_the_window = WorkerEffort::default();
    while finished_early && worker.awaits_closes() && !control.stopped() {
        now = worker.turn(line, &mut behind_the_window, now + TURN_NS, 0)?;
    }
    gate.load_over();
    Ok(())
}

impl Worker {
    fn new(assignment: &Assignment) -> Self {
        let plan = Arc::clone(&assignment.plan);
        let pipeline = plan.places_per_connection();
        let http2 = Box::new(Http2::new(assignment));
        let count = assignment.connections as usize;
        let addresses = match plan.target.unix_socket {
            Some(_) => 1,
            None => plan.target.addresses.len().max(1),
        };
        Self {
            connections: vec![Connection::new(); count],
            exchanges: vec![Exchange::default(); count * pipeline as usize],
            pipeline,
            schedule: Schedule::new(Arc::clone(&assignment.numbers)),
            open_loop: OpenLoop::new(assignment),
            numbers: Arc::clone(&assignment.numbers),
            recorder: Recorder::new(
                &plan.expect,
                plan.keep_every_request,
                plan.load.is_open(),
                Arc::clone(&assignment.snapshot),
            ),
            heads: plan.requests.templates.iter().take(64).map(|_| KnownHead::default()).collect(),
            spills: Vec::new(),
            free_spills: Vec::new(),
            unstamped: Vec::with_capacity(count),
            expected_mode: if http2.is_spoken() { Receive::Stream } else { Receive::Head },
            http2,
            sends: Sends::of(&plan, pipeline),
            outbox: Outbox::new(&plan.requests, assignment.layout.clone(), assignment.worker),
            in_flight: 0,
            setup_left: 0,
            in_setup: false,
            closed_for_new: false,
            draining_since_ns: None,
            address: 0,
            addresses,
            untried_addresses: addresses,
            refused_in_a_row: 0,
            turned_away: 0,
            hopeless: false,
            next_check_ns: 0,
            now_ns: 0,
            requests_per_connection: match plan.connections.requests_per_connection {
                _ if !plan.connections.keep_alive => 1,
                Some(limit) => limit.max(1),
                None => u64::MAX,
            },
            plan,
        }
    }

    /// Whether connections are opened, and timed, before the clock starts.
    fn connects_first(&self) -> bool {
        self.plan.connections.clock_starts == ClockStarts::AfterConnecting
            && self.plan.connections.keep_alive
    }

    /// How many connections this worker opens before the clock starts.
    fn connections_at_start(&self, assignment: &Assignment) -> u32 {
        match &self.open_loop {
            None => assignment.connections,
            Some(_) => {
                let all = self.plan.load.connections_at_start();
                all.div_ceil(assignment.workers.max(1)).min(assignment.connections)
            }
        }
    }

    /// One turn of the driver, then what is due. Returns the time.
    fn turn<L: Line>(
        &mut self,
        line: &mut L,
        effort: &mut WorkerEffort,
        until: u64,
        spin_ns: u64,
    ) -> io::Result<u64> {
        let until_ns = until.min(self.next_check_ns).min(self.next_arrival_ns());
        let (at_least, gather_ns) = self.fuller_batch(spin_ns, L::SENDS_AT_ONCE);
        let wait = Wait { until_ns, spin_ns, at_least, gather_ns };
        let turn = line.turn(self, wait)?;
        effort.turns += 1;
        effort.events += u64::from(turn.events);
        effort.system_calls += u64::from(turn.system_calls);
        effort.spun_ns += turn.spun_ns;
        if turn.events == 0 {
            self.now_ns = line.io().now();
        }
        let now = self.now_ns;
        if now >= self.next_check_ns {
            self.check_deadlines(&mut line.io(), now);
        }
        if self.next_arrival_ns() <= now {
            self.hand_out(&mut line.io(), now);
            let at = line.io().now();
            self.flush_frames(&mut line.io(), at);
            self.stamp(at);
        }
        Ok(now)
    }

    /// Servers that announced a close have not closed yet; each is waited for up to a second.
    fn awaits_closes(&self) -> bool {
        self.connections.iter().any(|connection| {
            connection.stage == Stage::Closing && connection.deadline_ns != u64::MAX
        })
    }

    /// Every request of the Plan is answered or failed.
    fn is_done(&mut self) -> bool {
        self.in_flight == 0 && (self.closed_for_new || self.no_more_arrivals())
    }
}

/// The tightest way to close that the Plan permits when the server did not announce it.
fn close_at_once(plan: &Plan) -> ablaze_net::CloseHow {
    match plan.connections.close {
        Close::Reset => ablaze_net::CloseHow::Reset,
        Close::Await | Close::Fin => ablaze_net::CloseHow::Fin,
    }
}

/// Whether a slot counts as standing.
fn stands(connection: &Connection) -> bool {
    connection.stage == Stage::Open
}
