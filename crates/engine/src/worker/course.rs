//! A worker's course: connecting, warming up, the measured window, and what is left of it after a panic.

use std::io;
use std::sync::Arc;

use ablaze_net::{Io, Slot, Wait};

use super::watching::WatchRule;
use super::{Assignment, Gate, Worker, WorkerRecord};
use crate::connection::Stage;
use crate::control::Control;
use crate::fault::{Caught, caught, unless_it_panics};
use crate::protocol::Protocol;
use crate::transport::Line;
use crate::walk::Walk;
use ablaze_model::plan::ClockStarts;
use ablaze_model::record::{Fault, Record};
use ablaze_model::run::{Ended, WorkerEffort};

/// How long a turn waits at most, so that a request to stop is seen.
pub(super) const TURN_NS: u64 = 100_000_000;

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
pub(crate) fn work<P: Protocol, L: Line<Worker<P>>>(
    mut line: L,
    protocol: P,
    assignment: Assignment,
    control: &Control,
    gate: &mut impl Gate,
) -> (WorkerRecord, P::Sink) {
    let mut worker = Worker::new(protocol, &assignment);
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
    let facts = unless_it_panics(|| line.facts()).unwrap_or_default();
    let recorder = worker.recorder;
    let closed_ns = course.closed_ns;
    let record = closed_ns.and_then(|at| unless_it_panics(|| recorder.finish(at)));
    let mut record =
        Record { tls: facts.tls, proxy: facts.proxy, faults, ..record.unwrap_or_default() };
    let mut protocol = worker.protocol;
    unless_it_panics(|| protocol.report(&mut record, closed_ns.unwrap_or(0)));
    let record = WorkerRecord {
        record,
        effort: course.effort,
        window_ns: course.start_ns.zip(course.closed_ns),
        ended: course.ended.unwrap_or(Ended::Failed),
        address: worker.address,
        draining_since_ns: worker
            .draining_since_ns
            .map(|since_ns| since_ns.max(course.start_ns.unwrap_or(0))),
    };
    (record, protocol.into_sink())
}

impl Course {
    /// Closes a window that is still open, where the worker was last.
    fn break_off<P: Protocol>(&mut self, worker: &mut Worker<P>, gate: &mut impl Gate) {
        if self.closed_ns.is_some() {
            return;
        }
        let Some(start_ns) = self.start_ns else {
            self.effort = WorkerEffort::default();
            return;
        };
        let closed_ns = worker.now_ns.max(start_ns);
        self.effort.window_ns = closed_ns - start_ns;
        worker.recorder.watched_so_far(self.effort.spun_ns);
        self.closed_ns = Some(closed_ns);
        gate.window_closes();
        unless_it_panics(|| worker.note_unfinished(closed_ns));
    }
}

/// The worker's whole course, from connecting to the end of the load.
fn carry_out<P: Protocol, L: Line<Worker<P>>>(
    worker: &mut Worker<P>,
    line: &mut L,
    assignment: &Assignment,
    control: &Control,
    gate: &mut impl Gate,
    course: &mut Course,
) -> io::Result<()> {
    P::prepare(worker, &mut line.io());
    let plan = Arc::clone(&assignment.plan);
    let mut watch = WatchRule::new(&plan, assignment.cpus_to_spare);

    let mut now = line.io().now();
    worker.now_ns = now;
    worker.next_check_ns = now;
    if worker.connects_first() {
        worker.in_setup = true;
        let first = worker.connections_at_start(assignment);
        worker.setup_left = first;
        let begun = now;
        for slot in 0..first {
            if control.stopped() || worker.unreachable {
                break;
            }
            worker.set_up(&mut line.io(), slot, begun, now);
            // One at a time: on this host a connect completes while it is submitted, and should
            // not be timed with those behind it. Elsewhere none is waited for here.
            now = worker.turn(line, &mut course.effort, now, 0)?;
            while worker.openings(first, slot) >= P::OPENINGS_AT_ONCE
                && !control.stopped()
                && !worker.unreachable
            {
                now = worker.turn(line, &mut course.effort, now + TURN_NS, 0)?;
            }
        }
        while worker.setup_left > 0 && !control.stopped() && !worker.unreachable {
            now = worker.turn(line, &mut course.effort, now + TURN_NS, 0)?;
        }
    }
    now = gate.all_connected(&mut || line.io().now());
    // Simulated clocks stand still while their worker waits.
    while line.io().now() < now {
        worker.turn(line, &mut course.effort, now, 0)?;
    }
    worker.in_setup = false;
    now = worker.prepare(line, &mut course.effort, control, gate, now)?;

    let effort = &mut course.effort;
    now = worker.warm_up(line, effort, assignment, control, gate, &mut watch, now)?;

    let mut ended = Ended::Complete;
    gate.window_opens();
    course.effort = WorkerEffort::default();
    let start_ns = now;
    let end_ns =
        plan.limits.duration_ns.map_or(u64::MAX, |duration| start_ns.saturating_add(duration));
    worker.open_window(start_ns, end_ns);
    P::counts_from(worker, &mut line.io());
    course.start_ns = Some(start_ns);
    if control.stopped() {
        // Before the load began: an open loop without an arrival would look done.
        ended = Ended::Interrupted;
    } else if !worker.unreachable {
        worker.start_all(&mut line.io(), now, end_ns);
    }
    let mut over_ns = worker.arrivals_over_ns();
    while ended == Ended::Complete {
        if worker.is_done() {
            break;
        }
        if control.stopped() {
            ended = Ended::Interrupted;
            break;
        }
        if worker.unreachable {
            break;
        }
        if worker.follow_rate(control) {
            over_ns = worker.arrivals_over_ns();
        }
        if now >= end_ns {
            break;
        }
        let mut until = end_ns.min(worker.recorder.slice_end_ns()).min(now + TURN_NS);
        if over_ns > now {
            until = until.min(over_ns);
        }
        now = worker.watching_turn(line, &mut course.effort, until, &mut watch)?;
        if now >= worker.recorder.slice_end_ns() {
            worker.recorder.watched_so_far(course.effort.spun_ns);
            worker.recorder.roll_slices(now);
            watch.look_again(gate.involuntary_switches());
            control.rehearse_panic(assignment.worker);
        }
    }
    if worker.unreachable {
        ended = Ended::Unreachable;
    }
    let finished_early = worker.is_done() && ended == Ended::Complete;
    let closed_ns = match finished_early {
        true => worker.recorder.last_finish_ns().max(over_ns),
        false => now.min(end_ns),
    };
    gate.window_closes();
    course.effort.window_ns = closed_ns - start_ns;
    worker.recorder.watched_so_far(course.effort.spun_ns);
    (course.closed_ns, course.ended) = (Some(closed_ns), Some(ended));
    P::counts_until(worker, &mut line.io());
    worker.recorder.close_window();
    // Counting what was never sent is no work of the window.
    worker.note_unfinished(closed_ns);
    let mut behind_the_window = WorkerEffort::default();
    while finished_early && worker.awaits_closes() && !control.stopped() {
        now = worker.turn(line, &mut behind_the_window, now + TURN_NS, 0)?;
    }
    if P::TAKES_LEAVE {
        worker.take_leave_of_all(&mut line.io());
        worker.turn(line, &mut behind_the_window, now, 0)?;
    }
    gate.load_over();
    Ok(())
}

impl<P: Protocol> Worker<P> {
    /// Whether connections are opened, and timed, before the clock starts.
    pub(super) fn connects_first(&self) -> bool {
        self.plan.connections.clock_starts == ClockStarts::AfterConnecting
            && self.plan.connections.keep_alive
    }

    /// How many of the `first` connections that are opened before the clock are neither there nor given up, when `slot` was
    /// the last that was begun.
    fn openings(&self, first: u32, slot: Slot) -> u32 {
        let settled = first.saturating_sub(self.setup_left);
        (slot + 1).saturating_sub(settled)
    }

    /// How many connections this worker opens before the clock starts.
    fn connections_at_start(&self, assignment: &Assignment) -> u32 {
        match &self.open_loop {
            None => self.users_at_start(assignment),
            Some(_) => {
                let all = self.plan.load.connections_at_start();
                all.div_ceil(assignment.workers.max(1)).min(assignment.connections)
            }
        }
    }

    /// A turn that watches before it sleeps where that pays.
    pub(super) fn watching_turn<L: Line<Self>>(
        &mut self,
        line: &mut L,
        effort: &mut WorkerEffort,
        until: u64,
        watch: &mut WatchRule,
    ) -> io::Result<u64> {
        let spin_ns = watch.for_turn(self, self.now_ns);
        let (spun_ns, events) = (effort.spun_ns, effort.events);
        let now = self.turn(line, effort, until, spin_ns)?;
        watch.watched(spin_ns, effort.spun_ns - spun_ns, effort.events > events);
        Ok(now)
    }

    /// One turn of the driver, then what is due. Returns the time.
    pub(super) fn turn<L: Line<Self>>(
        &mut self,
        line: &mut L,
        effort: &mut WorkerEffort,
        until: u64,
        spin_ns: u64,
    ) -> io::Result<u64> {
        let mut until_ns = until.min(self.next_check_ns).min(self.next_arrival_ns());
        until_ns = until_ns.min(self.protocol.next_timer_ns());
        if P::Sink::WALKS {
            until_ns = until_ns.min(self.pauses.next_ns());
        }
        let (at_least, gather_ns) = self.fuller_batch(spin_ns, L::SENDS_AT_ONCE);
        let wait = Wait { until_ns, spin_ns, at_least, gather_ns };
        let turn = line.turn(self, wait)?;
        self.fills.waited(at_least, gather_ns, turn.events);
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
        if now >= self.protocol.next_timer_ns() {
            P::expired(self, &mut line.io(), now);
        }
        if P::Sink::WALKS {
            self.resume_due(&mut line.io(), now);
        }
        if self.next_arrival_ns() <= now {
            self.hand_out(&mut line.io(), now);
            let at = line.io().now();
            P::flush(self, &mut line.io(), at);
            self.stamp(at);
        }
        Ok(now)
    }

    /// The load is over: servers that would wait for more are told.
    fn take_leave_of_all<I: Io>(&mut self, io: &mut I) {
        for slot in 0..self.connections.len() as Slot {
            if self.connections[slot as usize].stage == Stage::Open {
                P::take_leave(self, io, slot);
            }
        }
    }

    /// Servers that announced a close have not closed yet; each is waited for up to a second.
    fn awaits_closes(&self) -> bool {
        self.connections.iter().any(|connection| {
            connection.stage == Stage::Closing && connection.deadline_ns != u64::MAX
        })
    }

    /// Every request of the Plan is answered or failed.
    fn is_done(&mut self) -> bool {
        self.in_flight == 0
            && (self.closed_for_new || self.no_more_arrivals() || self.protocol.is_over())
            && !self.protocol.is_walking()
    }
}
