//! How steady the rate was: the slowest and the fastest whole second of a run.

use ablaze_model::Run;

/// The rates of the slowest and fastest piece of a run, in responses per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerSecond {
    /// Length of a piece: a second, or the fewest slices that last a second or more.
    pub window_ns: u64,
    /// Rate of the piece with the fewest responses.
    pub slowest_per_s: f64,
    /// Rate of the piece with the most responses.
    pub fastest_per_s: f64,
}

impl PerSecond {
    /// Looks through the slices of a run. `None` when there are not two complete pieces: the
    /// remainder at the end is left out, it is shorter and would always be the slowest.
    pub fn of(run: &Run) -> Option<Self> {
        let slice_ns = run.record.slices.slice_ns;
        if slice_ns == 0 {
            return None;
        }
        let slices_in_window = 1_000_000_000u64.div_ceil(slice_ns);
        let window_ns = slices_in_window * slice_ns;
        let complete = usize::try_from(run.elapsed_ns / window_ns).ok()?;
        let windows = run.record.slices.slices.chunks_exact(slices_in_window as usize);
        let responses: Vec<u64> = windows
            .take(complete)
            .map(|window| window.iter().map(|slice| slice.responses).sum())
            .collect();
        let per_s = |responses: u64| responses as f64 * 1e9 / window_ns as f64;
        (responses.len() >= 2).then_some(Self {
            window_ns,
            slowest_per_s: per_s(*responses.iter().min()?),
            fastest_per_s: per_s(*responses.iter().max()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PerSecond;
    use crate::sample;

    #[test]
    fn a_second_is_the_sum_of_its_slices_and_the_rest_is_left_out() {
        let mut run = sample::ordinary();
        // Ten slices of 195 in the first second, of 204 in the tenth; then half a second of none.
        let whole = PerSecond::of(&run).unwrap();
        assert_eq!((whole.slowest_per_s, whole.fastest_per_s), (1950.0, 2040.0));
        run.record.slices.slices.extend(vec![ablaze_model::record::Slice::default(); 5]);
        run.elapsed_ns += 500_000_000;
        assert_eq!(PerSecond::of(&run), Some(whole));
    }

    #[test]
    fn longer_slices_make_longer_pieces() {
        let mut run = sample::ordinary();
        run.record.slices.slice_ns = 400_000_000;
        run.elapsed_ns = 40_000_000_000;
        let pieces = PerSecond::of(&run).unwrap();
        assert_eq!(pieces.window_ns, 1_200_000_000);
        assert!((pieces.slowest_per_s - 3.0 * 195.0 / 1.2).abs() < 1e-9);
    }

    #[test]
    fn one_second_has_no_slowest() {
        let mut run = sample::ordinary();
        run.elapsed_ns = 1_900_000_000;
        assert_eq!(PerSecond::of(&run), None);
        assert_eq!(PerSecond::of(&sample::refused()), None);
    }
}
