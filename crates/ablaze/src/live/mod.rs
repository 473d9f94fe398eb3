//! The live view: a run on the whole terminal while it lasts. Drawn on the alternate screen, which is left before the report is
//! printed, so that the report follows on what was there before.

mod charts;
mod findings;
mod frame;
mod history;
mod line;
mod machine;
mod saving;
mod sections;
pub mod so_far;
mod steering;

use std::io::IsTerminal;
use std::sync::Once;

use ablaze_engine::Progress;
use ablaze_load::carry_out::WorkerProgress;
use ablaze_model::Plan;
use ablaze_model::progress::Stage;
use ablaze_report::page::SoFar;
use ablaze_sys::signals::Suspending;
use ablaze_sys::terminal::{Screen, Size, leave_screen};

use crate::carry_out::{UnderWay, Watcher};
use crate::terminal::colour_wanted;
pub use findings::Findings;
use frame::Shown;
pub use machine::{limited_now, working};
pub use saving::Saving;
pub use steering::Steering;

/// The smallest terminal on which the view is the default.
const ROOM: Size = Size { columns: 80, rows: 24 };
/// Draws every so many looks, of which there are ten a second: figures that change more often cannot be read.
const LOOKS_PER_FRAME: u32 = 2;

/// Whether the view was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `--live`
    Yes,
    /// `--no-live`, `--quiet`
    No,
    /// Neither: where there is room for it.
    IfRoom,
}

/// The view of a run under way.
#[derive(Debug)]
pub struct LiveView {
    screen: Screen,
    suspending: Option<Suspending>,
    colour: bool,
    shown: Shown,
    /// What is known, as a page shows it, and where the figures so far are saved.
    so_far: SoFar,
    saving: Saving,
    /// What is on the screen, and its size then.
    drawn: (Vec<String>, Option<Size>),
    looks: u32,
    /// The terminal is somebody else's, and is to be taken when this process is in its foreground.
    is_away: bool,
    /// The terminal was given back for good.
    is_over: bool,
}

impl LiveView {
    /// The view of a run of this plan, steered with the others who steer it, which saves the figures so far when asked to; the reason why there is none, where it cannot be or was not asked for.
    pub fn of(
        plan: &Plan,
        asked: Asked,
        steering: &Steering,
        saving: Saving,
    ) -> Result<Self, &'static str> {
        if asked == Asked::No {
            return Err("it was not asked for");
        }
        if std::env::var_os("TERM").is_none_or(|name| name == "dumb" || name.is_empty()) {
            return Err("the terminal cannot be drawn on (TERM)");
        }
        if !std::io::stderr().is_terminal() {
            return Err("standard error is not a terminal");
        }
        let screen = Screen::open().map_err(|_| "there is no terminal (/dev/tty)")?;
        if !screen.is_ours() || !ablaze_sys::terminal::is_in_foreground(std::io::stderr()) {
            return Err("it runs in the background");
        }
        let size = screen.size().ok_or("the terminal does not tell its size")?;
        let has_room = size.columns >= ROOM.columns && size.rows >= ROOM.rows;
        if asked == Asked::IfRoom && (!has_room || is_piped()) {
            return Err("the terminal is smaller than 80×24, or a pager or filter may be using it");
        }
        give_back_at_panic();
        Ok(Self {
            screen,
            suspending: None,
            colour: colour_wanted(),
            shown: Shown::of(plan, steering.clone()),
            so_far: SoFar::of(plan),
            saving,
            drawn: (Vec::new(), None),
            looks: 0,
            is_away: true,
            is_over: false,
        })
    }

    /// Shows where browsers can watch: what stderr said of it is behind the view.
    pub fn show_address(&mut self, address: Option<String>) {
        self.shown.address = address;
    }

    /// Whether there is a screen to draw on now: it is taken at first, and again after Ctrl-Z.
    fn has_screen(&mut self) -> bool {
        if let Some(signals) = &self.suspending {
            let asked = signals.is_asked();
            if asked {
                leave_screen();
                signals.stop();
            }
            self.is_away |= asked | signals.was_continued();
        }
        if self.is_over || !self.screen.is_ours() {
            return false;
        }
        if std::mem::take(&mut self.is_away) {
            // Whoever had the terminal in between may have set it up anew.
            leave_screen();
            if self.suspending.is_none() {
                self.suspending = Suspending::heard().ok();
            }
            self.drawn = (Vec::new(), None);
            self.is_over = self.screen.enter().is_err();
        }
        // A panic has given it back, and has to be read.
        self.is_over |= !self.screen.is_entered();
        !self.is_over
    }

    /// Does what keys ask for; whether there were any.
    fn pressed(&mut self, run: &UnderWay<'_>) -> bool {
        let keys = self.screen.keys();
        // The sequence of an arrow or a function key has letters in it that nobody pressed.
        let sequence = keys.starts_with(b"\x1b");
        for key in keys.iter().filter(|_| !sequence) {
            let said = match key {
                b's' | b'S' => Some(self.save(run.progress, run.workers)),
                key => self.shown.steering.press(*key, run),
            };
            if let Some(said) = said {
                self.shown.said = said;
            }
        }
        !keys.is_empty()
    }

    /// Saves the figures so far, as text and as a page; what came of it. The run goes on meanwhile: this is not its thread.
    fn save(&mut self, progress: &Progress, workers: &[WorkerProgress]) -> String {
        let changes = self.shown.steering.changes();
        let run = self.so_far.run(progress, changes);
        let page = self.shown.page(progress, run, workers);
        self.saving.save(&self.shown.text(progress), &page)
    }

    fn draw(&mut self, progress: &Progress) {
        let Some(size) = self.screen.size() else { return };
        let frame = self.shown.frame(progress, size);
        let rows: Vec<String> = frame.iter().map(|line| line.written(self.colour)).collect();
        let all = self.drawn.1 != Some(size);
        let mut bytes = String::from(if all { "\x1b[2J" } else { "" });
        for (at, row) in rows.iter().enumerate() {
            if all || self.drawn.0.get(at) != Some(row) {
                bytes.push_str(&format!("\x1b[{};1H{row}", at + 1));
                // Nothing behind it. Behind a full row the cursor stands on its last character.
                if frame[at].columns() < size.columns {
                    bytes.push_str("\x1b[K");
                }
            }
        }
        self.drawn = match self.screen.write(bytes.as_bytes()) {
            Ok(written) if written == bytes.len() => (rows, Some(size)),
            // It took a part, and the next frame is drawn as a whole. CAN ends a sequence that was cut.
            Ok(_) => {
                let _ = self.screen.write(b"\x18");
                (Vec::new(), None)
            }
            // The terminal is gone.
            Err(_) => {
                self.is_over = true;
                return;
            }
        };
    }
}

impl Watcher for LiveView {
    fn tick(&mut self, _progress: &Progress) {}

    fn look(&mut self, run: &mut UnderWay<'_>) {
        let progress = run.progress;
        let columns = self.drawn.1.map_or(ROOM.columns, |size| size.columns);
        let room = self.shown.sparkline_room(columns);
        progress.news.iter().for_each(|piece| self.shown.history.hear(piece, room));
        self.so_far.hear(progress);
        // The report is about to follow, with all its digits.
        if progress.stage == Stage::Over || !self.has_screen() {
            return;
        }
        // As of the same moment as the figures that are drawn, or saved by a key.
        if progress.has_started() {
            self.shown.findings.look(run);
        }
        let pressed = self.pressed(run);
        self.looks += 1;
        if pressed || self.drawn.1.is_none() || self.looks.is_multiple_of(LOOKS_PER_FRAME) {
            // For each frame: the rates beside it are of the last second before it, too.
            if let Some(monitor) = &mut run.monitor {
                self.shown.present = monitor.look();
            }
            self.shown.workers = sections::workers(run.workers);
            self.draw(progress);
        }
    }

    fn finish(&mut self) {
        self.is_over = true;
        leave_screen();
        self.suspending = None;
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        leave_screen();
    }
}

/// Whether standard output goes to a program that may want the terminal for itself, as a pager does.
fn is_piped() -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata("/dev/stdout").map(|file| file.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

/// Has a panic on any thread give the terminal back before it is told: what is written on the alternate screen is lost.
fn give_back_at_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave_screen();
            before(info);
        }));
    });
}
