//! What a journey's steps see of the world: the time of day, and random numbers that a seed decides.

use ablaze_journey::Moment;
use ablaze_random::Wyrand;
use ablaze_sys::clock;

/// Time and randomness of one worker.
#[derive(Debug)]
pub(super) struct Now {
    random: Wyrand,
}

impl Now {
    pub fn new(seed: u64, worker: u32) -> Self {
        // Another stream than the one that `{rand:N}` is made of.
        Self { random: Wyrand::new(!seed, u64::from(worker)) }
    }
}

impl Moment for Now {
    fn unix_us(&mut self) -> i64 {
        (clock::unix_ns() / 1_000) as i64
    }

    fn random(&mut self) -> u128 {
        u128::from(self.random.next_u64()) << 64 | u128::from(self.random.next_u64())
    }
}
