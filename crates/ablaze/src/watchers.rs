//! Several watchers of one run: each hears all of it, on the same thread, one after the other.

use ablaze_engine::Progress;

use crate::carry_out::{UnderWay, Watcher};

/// Watchers that hear the same.
pub struct Watchers<'a>(pub Vec<&'a mut dyn Watcher>);

impl Watcher for Watchers<'_> {
    fn tick(&mut self, progress: &Progress) {
        self.0.iter_mut().filter(|one| one.listens()).for_each(|one| one.tick(progress));
    }

    fn look(&mut self, run: &mut UnderWay<'_>) {
        self.0.iter_mut().filter(|one| one.listens()).for_each(|one| one.look(run));
    }

    fn finish(&mut self) {
        self.0.iter_mut().filter(|one| one.listens()).for_each(|one| one.finish());
    }

    fn listens(&self) -> bool {
        self.0.iter().any(|one| one.listens())
    }
}
