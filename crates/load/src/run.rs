//! What came of a load: figures, verdict and reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ablaze_model::record::CheckRecord;
use ablaze_model::run::Ended;
use ablaze_model::saved;
pub use ablaze_model::saved::LoadError;
use ablaze_model::{Assessed, FailureKind};
use ablaze_report::condition::Conditions;
use ablaze_report::effort::{self, Effort};
use ablaze_report::exporters::{self, Exported, Kind};
use ablaze_report::file::{self, FileError};
use ablaze_report::text::{self, Style};
use ablaze_report::{json, page};
use ablaze_stats::Latency;
use ablaze_verdict::live;
use ablaze_verdict::{Finding, Limited, Verdict};

/// What came of a load. Times are whole nanoseconds, and latencies are those of requests that got a response of any status:
/// from the request's sending to its last byte, in an open loop from when it was due, with connecting where that was needed.
#[derive(Debug, Clone)]
pub struct Run {
    assessed: Assessed,
    notes: Vec<String>,
}

impl Run {
    pub(crate) fn new(run: ablaze_model::Run, notes: Vec<String>) -> Self {
        Self { assessed: live::assessed(run), notes }
    }

    /// Reads a run that [`save`](Self::save) or `ablaze -o` kept as JSON, of this version or an older one. It is judged
    /// anew, by what was saved; findings advise in the options of whoever described its load.
    ///
    /// ```
    /// # use ablaze_load::Run;
    /// let why = Run::from_json("{}").unwrap_err();
    /// assert!(!why.to_string().is_empty());
    /// ```
    ///
    /// # Errors
    /// When the text is no run that was saved; the error says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, LoadError> {
        Ok(Self::new(saved::load(text)?.run, Vec::new()))
    }

    /// Whether the numbers are valid: VALID, SUSPECT or INVALID, by the most severe of the
    /// [`findings`](Self::findings) that no other one explains (`explained_by`).
    pub fn verdict(&self) -> Verdict {
        self.assessed.judged.verdict
    }

    /// What was found, the most severe first: each with its evidence, its cause and what to do. One with `explained_by` is a
    /// symptom of another in the list.
    pub fn findings(&self) -> &[Finding] {
        &self.assessed.judged.findings
    }

    /// What bounded the rate: the server, this client, the asked rate …, with the figures that show it.
    pub fn limited(&self) -> &Limited {
        &self.assessed.judged.limited
    }

    /// What to know about how the load was set up: `connections() 50 is more than the 3 requests …`. Mostly empty.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Responses per second over the measured time; 0 when it has no length.
    pub fn requests_per_s(&self) -> f64 {
        self.assessed.run.rate_per_s().unwrap_or(0.0)
    }

    /// How each check of [`Load::assert`](crate::Load::assert) went, in the order in which they were given.
    pub fn checks(&self) -> &[CheckRecord] {
        self.assessed.run.record.checks.as_ref().map_or(&[], |checks| &checks.each)
    }

    /// Complete responses of any status.
    pub fn responses(&self) -> u64 {
        self.assessed.run.record.responses
    }

    /// Responses by status.
    pub fn statuses(&self) -> &BTreeMap<u16, u64> {
        &self.assessed.run.record.statuses
    }

    /// Responses whose status was not expected; they are among [`responses`](Self::responses).
    pub fn unexpected(&self) -> u64 {
        self.assessed.run.record.unexpected
    }

    /// Requests that ended without a valid response.
    pub fn errors(&self) -> u64 {
        self.assessed.run.record.failures_total()
    }

    /// The same by what happened, in the words of the JSON report (`refused`, `reset`, `timeout` …): those that
    /// happened.
    pub fn errors_by_kind(&self) -> BTreeMap<&'static str, u64> {
        let record = &self.assessed.run.record;
        let counted = FailureKind::ALL.iter().map(|kind| (kind.key(), record.failures_of(*kind)));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// Requests in flight at the end: neither responses nor errors.
    pub fn unfinished(&self) -> u64 {
        self.assessed.run.record.unfinished
    }

    /// Bytes received, heads included.
    pub fn received_bytes(&self) -> u64 {
        self.assessed.run.record.received_bytes
    }

    /// Length of the measured time: without warm-up, and without connecting at the start; a run that ends by its number of
    /// requests ends with the last response.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.assessed.run.elapsed_ns)
    }

    /// Whether [`Stop`](crate::Stop) ended it.
    pub fn was_stopped(&self) -> bool {
        self.assessed.run.ended == Ended::Interrupted
    }

    /// Median latency, ns; `None` without a response, as all percentiles.
    pub fn p50_ns(&self) -> Option<u64> {
        self.percentile_ns(50.0)
    }

    /// 90th percentile of latency, ns.
    pub fn p90_ns(&self) -> Option<u64> {
        self.percentile_ns(90.0)
    }

    /// 95th percentile of latency, ns.
    pub fn p95_ns(&self) -> Option<u64> {
        self.percentile_ns(95.0)
    }

    /// 99th percentile of latency, ns.
    pub fn p99_ns(&self) -> Option<u64> {
        self.percentile_ns(99.0)
    }

    /// 99.9th percentile of latency, ns.
    pub fn p99_9_ns(&self) -> Option<u64> {
        self.percentile_ns(99.9)
    }

    /// The latency, ns, that this percentage (0 to 100) of the responses did not exceed, to three digits. With few
    /// responses the high percentiles are little more than the maximum:
    /// [`percentile_interval_ns`](Self::percentile_interval_ns) says how well one is known.
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        self.latency().quantile_ns((percent / 100.0).clamp(0.0, 1.0))
    }

    /// The two latencies, ns, between which this percentile lies with 95 % confidence; `None` when there are too few
    /// responses to say (the 99th needs 368).
    pub fn percentile_interval_ns(&self, percent: f64) -> Option<(u64, u64)> {
        self.latency().quantile_interval_ns((percent / 100.0).clamp(0.0, 1.0))
    }

    /// Mean latency, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        self.latency().mean_ns()
    }

    /// Shortest latency, ns.
    pub fn min_ns(&self) -> Option<u64> {
        self.latency().min_ns()
    }

    /// Longest latency, ns.
    pub fn max_ns(&self) -> Option<u64> {
        self.latency().max_ns()
    }

    /// CPU time of this client's threads per request, ns, without what it spends watching for responses; `None` when
    /// nothing finished.
    pub fn client_cpu_per_request_ns(&self) -> Option<f64> {
        Effort::of(&self.assessed.run).map(|effort| effort.work_ns().max(0.0))
    }

    /// CPU time of the target's processes per request, ns; `None` when they were not seen: on another host, of another
    /// user, or for too short a time.
    pub fn server_cpu_per_request_ns(&self) -> Option<f64> {
        effort::of_the_server(&self.assessed.run).map(|(ns, _)| ns)
    }

    /// The report as text, as `ablaze` prints it.
    pub fn text(&self) -> String {
        text::write(&self.assessed, &Style::default())
    }

    /// Everything as JSON, by the published schema; `ablaze report` reads it again.
    pub fn json(&self) -> String {
        json::write(&self.assessed)
    }

    /// A page with charts, complete in one file.
    pub fn html(&self) -> String {
        page::of_run(&self.assessed).html()
    }

    /// Keeps a report in a file, in the format that its extension names: `.json .html .csv .txt .hlog .xml .svg
    /// .md`, the last with its chart beside it. A file of this name is replaced as a whole.
    ///
    /// # Errors
    /// When the extension names none of these formats, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let exporter = exporters::checked(path, Kind::Run)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let conditions = Conditions::default();
        let what =
            Exported::Run { assessed: &self.assessed, explain: false, conditions: &conditions };
        let export = exporter
            .export(&what, &stem.unwrap_or_default())
            .map_err(|why| FileError::from_io(path, &std::io::Error::other(why)))?;
        for (name, contents) in export.beside {
            file::write_report(&path.with_file_name(name), &contents)?;
        }
        file::write_report(path, &export.text)
    }

    /// Everything that was recorded, in types that change more often than this one.
    pub fn model(&self) -> &crate::model::Run {
        &self.assessed.run
    }

    fn latency(&self) -> &Latency {
        self.assessed.run.record.answered.latency()
    }
}
