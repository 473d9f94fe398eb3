//! The conditions of a running server: what each response meets.

use ablaze_sys::clock::monotonic_ns;

use crate::conditions::draws::{Draws, drawn_fault};
use crate::conditions::service_places::{ServicePlaces, WorkPlaces};
use crate::conditions::work::{burn_cpu, calibrate};
use crate::conditions::{Delay, Fault, FaultShare};
use crate::options::Options;

/// What all workers of a server share about delays, work and faults.
#[derive(Debug)]
pub struct Circumstances {
    none: bool,
    delay: Delay,
    work_ns: u64,
    faults: Vec<FaultShare>,
    draws: Draws,
    places: Option<ServicePlaces>,
    work_places: Option<WorkPlaces>,
    started_ns: u64,
}

/// What one response meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// How long it has to wait before it leaves.
    pub delay_ns: u64,
    /// What goes wrong with it.
    pub fault: Option<Fault>,
}

impl Circumstances {
    /// Those that the options ask for, from now on.
    pub fn new(options: &Options) -> Self {
        if options.work_ns > 0 {
            calibrate();
        }
        let Options { delay, work_ns, in_service, faults, seed, .. } = options;
        Self {
            none: *delay == Delay::default()
                && *work_ns == 0
                && in_service.is_none()
                && faults.is_empty(),
            delay: *delay,
            work_ns: *work_ns,
            faults: faults.clone(),
            draws: Draws::new(*seed),
            places: in_service.map(ServicePlaces::new),
            work_places: in_service.filter(|_| *work_ns > 0).map(WorkPlaces::new),
            started_ns: monotonic_ns(),
        }
    }

    /// Responses meet nothing: they leave as they are, when their handler says.
    #[inline]
    pub fn are_none(&self) -> bool {
        self.none
    }

    /// Burns the work of one request and draws what its response meets. `own_delay_ns` is what its
    /// handler asks for; it takes up a place in service as the drawn delay does.
    pub fn meet(&self, own_delay_ns: u64) -> Met {
        if self.none {
            return Met { delay_ns: own_delay_ns, fault: None };
        }
        if self.work_ns > 0 {
            match &self.work_places {
                Some(places) => places.with(|| burn_cpu(self.work_ns)),
                None => burn_cpu(self.work_ns),
            }
        }
        let draw = self.draws.take();
        let delay_ns = own_delay_ns.saturating_add(self.delay.drawn_ns(draw.delay));
        let now_ns = monotonic_ns();
        Met {
            delay_ns: self.leaves_at(now_ns, delay_ns).saturating_sub(now_ns),
            fault: drawn_fault(&self.faults, draw.fault),
        }
    }

    /// When a response leaves whose work is done at `now_ns`.
    fn leaves_at(&self, now_ns: u64, delay_ns: u64) -> u64 {
        let begins_ns = self.delay.held_up_until(now_ns, self.started_ns);
        let ends_ns = match &self.places {
            None => begins_ns.saturating_add(delay_ns),
            Some(places) if delay_ns == 0 => places.serve(begins_ns, 0),
            // Work and delay are one service; the work was done first.
            Some(places) => {
                let arrived_ns = begins_ns.saturating_sub(self.work_ns);
                places.serve(arrived_ns, self.work_ns.saturating_add(delay_ns))
            }
        };
        self.delay.held_up_until(ends_ns, self.started_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    #[test]
    fn without_conditions_only_the_handler_decides() {
        let none = Circumstances::new(&Options::default());
        assert!(none.are_none());
        assert_eq!(none.meet(7), Met { delay_ns: 7, fault: None });
    }

    #[test]
    fn work_and_delay_take_up_a_place_together() {
        let mut conditions =
            Circumstances::new(&Options { in_service: Some(2), threads: 4, ..Options::default() });
        conditions.work_ns = 3 * MS;
        // Whoever comes has done 3 ms of work: two at once are 10 ms in service, the next two
        // queue behind them.
        let now = conditions.started_ns + 1000 * MS;
        let ends: Vec<_> = (0..4).map(|_| conditions.leaves_at(now, 7 * MS) - now).collect();
        assert_eq!(ends, [7 * MS, 7 * MS, 17 * MS, 17 * MS]);
    }

    #[test]
    fn nothing_leaves_during_a_stall() {
        let stall = Delay::Stall(Duration::from_millis(2), Duration::from_millis(10));
        let conditions = Circumstances::new(&Options { delay: stall, ..Options::default() });
        let at = |ms: u64, own_ms: u64| {
            (conditions.leaves_at(conditions.started_ns + ms * MS, own_ms * MS)
                - conditions.started_ns)
                / MS
        };
        assert_eq!((at(1, 0), at(5, 0), at(5, 4), at(5, 6)), (2, 5, 9, 12));
        assert_eq!(at(11, 3), 15);
    }
}
