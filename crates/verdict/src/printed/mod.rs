//! What a printed report says. [`read`] finds the reports of ab, gurl, ablaze and their peers in any text (a
//! log, a Markdown page, a mail), with the commands above them, lone rates, and tables of rates
//! over concurrency. It takes figures as printed, with the step they were printed in, and judges
//! nothing.

mod abort;
mod above;
mod command;
mod current;
mod cut;
mod finish;
mod headings;
mod labels;
mod line;
mod listed;
mod logged;
mod looped;
mod named;
mod naming;
mod native;
mod numbered;
mod peers;
mod reader;
mod remarks;
mod repeated;
mod report;
mod sweep;
mod system;
mod targets;
mod thousands;
mod titles;
mod tool;
mod verdict;

pub use abort::{Abort, Reason};
pub use above::Setting;
pub use command::{Command, Program};
pub(crate) use headings::sections;
pub(crate) use labels::FINISHED as AB_FINISHED;
pub use looped::Looped;
pub use named::no_report;
pub use naming::shown as shown_label;
pub(crate) use native::{ASKED, FASTEST, INTERVAL, RECEIVED, SLOWEST, proven};
pub(crate) use numbered::{before_number, is_warm_up, without_load_of_file};
pub use numbered::{counts_runs, target_of_file};
pub(crate) use numbered::{without_load, words_of_target};
pub(crate) use peers::bombardier::{DEVIATION, DONE, DRAWN_S};
pub(crate) use peers::h2load::{
    BEYOND, COULD_NOT_CONNECT, DEVIATION as H2LOAD_DEVIATION, FINISHED, FIRST_BYTE,
    FIRST_BYTE_DEVIATION, FIRST_BYTES, OF_THREADS, UNCONNECTED, WARM_UP,
};
pub(crate) use peers::hey::{
    DIVIDED_BY_KEPT, ERRORS_LISTED, HEY_KEEPS, PHASES as HEY_PHASES, RATIO,
};
pub(crate) use peers::is_of_name;
pub(crate) use peers::siege::PAGES as SIEGE_PAGES;
pub(crate) use peers::vegeta::SUM as VEGETA_SUM;
pub(crate) use peers::wrk::{
    DEVIATION as WRK_DEVIATION, NO_TIMES, OLD_HEAD, SCRIPTED, WITHIN as WRK_WITHIN,
};
pub(crate) use peers::{READS_ZERO, ZERO_PERCENTILE};
pub use reader::read;
pub use report::{
    Connections, Document, Errors, FailedParts, Handshakes, Printed, Report, SocketErrors, Times,
};
pub use sweep::{Curve, Sweep};
pub use tool::Tool;
pub use verdict::{PrintedFinding, PrintedVerdict};

/// Everything in a text that can be judged, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// Whole reports.
    pub reports: Vec<Report>,
    /// Runs that ended without a report.
    pub aborts: Vec<Abort>,
    /// Runs that began, and of which nothing more is there: no report and no error.
    pub begun: Vec<Begun>,
    /// Rates that stand alone, the rest of their reports left out.
    pub rates: Vec<LoneRate>,
    /// Tables of rates over concurrency.
    pub sweeps: Vec<Sweep>,
    /// Every load tester's command line, also those of the reports.
    pub commands: Vec<Command>,
    /// Verdicts that ablaze printed of something else than one of the reports.
    pub verdicts: Vec<PrintedVerdict>,
    /// The line that says that the best of several runs is shown, if one does.
    pub best_of_line: Option<usize>,
    /// How many pictures the text shows: figures in them cannot be read.
    pub images: usize,
}

/// A run that began, and printed neither a report nor why there is none: it was ended from outside, or still runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// Line of the text, from 1.
    pub line: usize,
    /// The tool that began.
    pub tool: Tool,
    /// The first lines of its report are there, up to its counts and its rate.
    pub has_head: bool,
    /// The command line above it.
    pub command: Option<Command>,
}

/// A rate without the rest of its report.
#[derive(Debug, Clone, PartialEq)]
pub struct LoneRate {
    /// Line of the text, from 1.
    pub line: usize,
    /// The words before it.
    pub label: Option<String>,
    /// Requests per second.
    pub rate_per_s: Printed,
    /// The last command above it.
    pub command: Option<Command>,
    /// Whether it is the median of several runs, whose spread stands beside it.
    pub of_several: bool,
    /// What the loop says that it was printed in.
    pub looped: Option<Looped>,
}
