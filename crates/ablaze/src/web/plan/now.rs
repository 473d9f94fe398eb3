//! The run under way, in a few figures: nothing is drawn while something is measured.

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_model::progress::Stage;

use super::PlanPage;
use crate::carry_out::{UnderWay, Watcher};
use crate::live::Steering;
use crate::web::parts::Facts;

/// Looks come ten times a second.
const LOOKS_PER_POST: u32 = 10;

/// Posts the figures of a run.
pub struct Now {
    page: PlanPage,
    facts: Facts,
    steering: Steering,
    looks: u32,
}

impl Now {
    /// Of a run of this plan.
    pub fn new(page: PlanPage, plan: &Plan) -> Self {
        Self { page, facts: Facts::of(plan), steering: Steering::of(plan), looks: 0 }
    }
}

impl Watcher for Now {
    fn tick(&mut self, _progress: &Progress) {}

    fn look(&mut self, run: &mut UnderWay<'_>) {
        let is_over = run.progress.stage == Stage::Over;
        let board = &self.page.0.web.board;
        let is_due = self.looks.is_multiple_of(LOOKS_PER_POST) && board.is_followed();
        self.looks += 1;
        if !is_due && !is_over {
            return;
        }
        let present = run.monitor.as_mut().and_then(|monitor| monitor.look());
        let state = self.facts.state(run.progress, &self.steering, present.as_ref());
        board.post(vec![state.part("now")]);
        self.page.post_state();
    }
}
