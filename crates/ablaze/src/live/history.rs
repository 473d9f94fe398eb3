//! A run over time in as many points as a row of the screen has room for.

use ablaze_model::progress::Interval;

/// The points of a run so far, in order of time.
#[derive(Debug, Default)]
pub struct History {
    points: Vec<Point>,
    /// So many pieces of a tenth of a second make up a point.
    pieces_per_point: usize,
    /// What the next point is made of, and how many pieces that are.
    next: Interval,
    pieces: usize,
}

/// A stretch of the run.
#[derive(Debug, Clone)]
pub struct Point {
    /// Everything that happened in it.
    of: Interval,
    /// Responses per second.
    pub rate_per_s: f64,
    /// Half of its responses took at most so long, ns; NaN without any.
    pub p50_ns: f64,
    /// 99 of 100 of its responses took at most so long, ns; NaN without any.
    pub p99_ns: f64,
}

impl History {
    /// A piece came. There will be at most so many points, and at least half as many once the run has had them.
    pub fn hear(&mut self, piece: &Interval, most: usize) {
        self.pieces_per_point = self.pieces_per_point.max(1);
        self.next.add(piece);
        self.pieces += 1;
        if self.pieces >= self.pieces_per_point {
            self.pieces = 0;
            self.points.push(Point::of(std::mem::take(&mut self.next)));
        }
        self.fit(most);
    }

    /// The points, the last of which is complete.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Makes one of each two points until there are no more than so many.
    pub fn fit(&mut self, most: usize) {
        while self.points.len() > most.max(1) {
            let pairs = self.points.chunks(2).map(|pair| match pair {
                [one, other] => {
                    let mut of = one.of.clone();
                    of.add(&other.of);
                    Point::of(of)
                }
                rest => rest[0].clone(),
            });
            self.points = pairs.collect();
            self.pieces_per_point *= 2;
        }
    }
}

impl Point {
    /// The middle of the stretch, ns since the clock started.
    pub fn middle_ns(&self) -> f64 {
        (self.of.from_ns + self.of.to_ns) as f64 / 2.0
    }

    fn of(mut of: Interval) -> Self {
        let ns = |q| of.quantile_ns(q).map_or(f64::NAN, |ns| ns as f64);
        let (p50_ns, p99_ns) = (ns(0.5), ns(0.99));
        let rate_per_s = of.rate_per_s();
        // Nobody asks for those of a point.
        of.groups = Vec::new();
        Self { of, rate_per_s, p50_ns, p99_ns }
    }
}

#[cfg(test)]
mod tests {
    use ablaze_stats::{Latency, touched};

    use super::*;

    fn piece(number: u64, time_ns: u64) -> Interval {
        let mut times = Latency::new(touched::DIGITS);
        times.record_many(time_ns, 10);
        let mut piece = Interval {
            from_ns: number * 100_000_000,
            to_ns: (number + 1) * 100_000_000,
            responses: 10,
            max_ns: time_ns,
            ..Interval::default()
        };
        touched::append(&times, &mut piece.times);
        piece
    }

    #[test]
    fn a_long_run_has_as_many_points_as_there_is_room_and_loses_nothing() {
        let mut history = History::default();
        for number in 0..1_000 {
            history.hear(&piece(number, 1_000 * (number + 1)), 40);
            let points = history.points();
            assert!(points.len() <= 40 && (number < 40 || points.len() >= 20), "{number}");
            assert!(points.iter().all(|point| (point.rate_per_s - 100.0).abs() < 1e-6));
        }
        let all: u64 = history.points.iter().map(|point| point.of.responses).sum();
        assert_eq!(all + history.next.responses, 10_000);
        // In order of time, and a percentile of all responses of a point.
        assert!(history.points().is_sorted_by(|one, other| one.p99_ns < other.p50_ns));
        history.fit(7);
        assert!(history.points().len() <= 7);
    }
}
