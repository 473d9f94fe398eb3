//! The page of one run: parts of it from what is known of the run, about once a second while somebody looks.

use std::net::SocketAddr;

use ablaze_engine::Progress;
use ablaze_load::carry_out::WorkerProgress;
use ablaze_model::progress::Stage;
use ablaze_model::{Assessed, Plan};
use ablaze_monitor::Present;
use ablaze_report::page::live::{self, Controls, Part};
use ablaze_report::page::{self, Page, SoFar};

use super::{Order, Orders, Web};
use crate::CommandError;
use crate::carry_out::{UnderWay, Watcher, own_command_line};
use crate::live::{Findings, Steering};

use super::parts::{self, Facts};

/// Looks come ten times a second; parts are replaced every so many of them.
const LOOKS_PER_PAGE: u32 = 10;

/// The page of a run.
pub struct RunPage {
    web: Web,
    so_far: SoFar,
    steering: Steering,
    findings: Findings,
    /// What the plan says of how far the run is.
    facts: Facts,
    looks: u32,
    present: Option<Present>,
}

impl RunPage {
    /// Serves the page from now on, and says where.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn begin(
        address: SocketAddr,
        plan: &Plan,
        steering: &Steering,
    ) -> Result<Self, CommandError> {
        let (title, load) = ablaze_report::text::of_plan(plan);
        let mut page = Page::new(&title);
        page.subtitle = load;
        page.sections.push(page::section::command(&own_command_line().0));
        let controls = if steering.has_rate() { Controls::StopAndRate } else { Controls::Stop };
        let empty = parts::PLACES.map(|id| Part { id, html: String::new() });
        let web = Web::begin(address, Orders::default(), live::write(&page, &empty, controls))?;
        let page = Self {
            web,
            so_far: SoFar::of(plan),
            steering: steering.clone(),
            findings: Findings::of(plan),
            facts: Facts::of(plan),
            looks: 0,
            present: None,
        };
        Ok(page)
    }

    /// Its address, with the token.
    pub fn address(&self) -> &str {
        &self.web.url
    }

    /// The run has been judged: browsers go to the finished page. `is_wanted` is whether some may come later.
    pub fn end(&self, assessed: &Assessed, is_wanted: bool) {
        self.web.board.finish(is_wanted, || Some(page::of_run(assessed).html()));
    }

    /// Waits until they have it.
    pub fn linger(&self, linger_ns: u64) {
        self.web.linger(linger_ns);
    }

    fn act(&self, run: &UnderWay<'_>) {
        self.web.orders.take(|order| {
            let key = match order {
                Order::Stop => b'q',
                Order::Pause => b' ',
                Order::Faster => b'+',
                Order::Slower => b'-',
                Order::Rate(thousandths) => {
                    let said = self.steering.set(thousandths as f64 / 1e3, run);
                    return said.unwrap_or_else(|| "not possible now".to_owned());
                }
            };
            self.steering.press(key, run).unwrap_or_else(|| "not possible now".to_owned())
        });
    }

    fn post(&mut self, progress: &Progress, workers: &[WorkerProgress]) {
        let changes = self.steering.changes();
        let steering = &self.steering;
        let mut all =
            vec![self.facts.state(progress, steering, self.present.as_ref()).part("state")];
        let run = self.so_far.run(progress, changes);
        all.extend(parts::of_run(run, workers, &self.findings));
        self.web.board.post(all);
    }
}

impl Watcher for RunPage {
    fn tick(&mut self, _progress: &Progress) {}

    fn look(&mut self, run: &mut UnderWay<'_>) {
        let progress = run.progress;
        self.so_far.hear(progress);
        let is_over = progress.stage == Stage::Over;
        if !is_over {
            self.act(run);
        }
        let is_wanted = self.web.board.take_wanted();
        self.looks += 1;
        let is_due = self.looks.is_multiple_of(LOOKS_PER_PAGE) && self.web.board.is_followed();
        if !is_wanted && !is_due && !is_over {
            return;
        }
        if progress.has_started() {
            self.findings.look(run);
        }
        if let Some(monitor) = &mut run.monitor {
            self.present = monitor.look();
        }
        if self.web.board.is_followed() {
            self.post(progress, run.workers);
        }
    }
}
