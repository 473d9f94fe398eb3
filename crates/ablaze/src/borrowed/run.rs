//! Carries out what another tool's command line asks for, and prints that tool's report; what ablaze knows beside it goes to
//! stderr.

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_load::planning;
use ablaze_model::run::Ended;
use ablaze_model::spec::Secrets;
use ablaze_model::{Assessed, LoadSpec, Plan, Run};
use clap::{CommandFactory, Parser};

use super::{Asked, Tool, Words, texts};
use crate::carry_out::{Silent, carry_out, own_command_line};
use crate::error::{FAIL_IF_MET, NOT_TO_BE_BELIEVED, NOTHING_MEASURED, USAGE, note};
use crate::native::{self, CommandLine, hints};
use crate::outputs::Outputs;
use crate::{CommandError, outcome, outlets, profile, progress, terminal, verdict};

/// What a front end does in its own way.
pub trait FrontEnd {
    /// Whose words it takes.
    const TOOL: &'static Tool;

    /// The first lines of its help.
    const HELP: &'static str;

    /// What the native words cannot say.
    ///
    /// # Errors
    /// When its own options do not go together.
    fn adapt(&mut self, spec: &mut LoadSpec) -> Result<(), CommandError>;

    /// What a spec cannot say.
    ///
    /// # Errors
    /// When requests cannot be made.
    fn adapt_plan(
        &self,
        _spec: &LoadSpec,
        _secrets: &Secrets,
        _plan: &mut Plan,
    ) -> Result<(), CommandError> {
        Ok(())
    }

    /// What is printed before the run.
    fn heading(&self, _plan: &Plan) -> String {
        String::new()
    }

    /// The report.
    fn report(&self, run: &Run) -> String;

    /// Whether the report goes to standard output.
    fn prints_report(&self) -> bool {
        true
    }

    /// Writes the files of its own.
    fn keep(&self, _run: &Run) {}
}

/// The command line of a front end, read.
pub enum Read {
    /// A run.
    Run(Words, Box<Asked>),
    /// Something was printed instead.
    Done(ExitCode),
}

/// Reads the words behind its name; `--help` and `--version` are answered.
///
/// # Errors
/// When they cannot be read, or do not go together.
pub fn read(tool: &Tool, begins: &str, arguments: &[OsString]) -> Result<Read, CommandError> {
    let words = tool.words(&texts(arguments))?;
    if words.is_on("help") || words.is_on("h") {
        return Ok(Read::Done(terminal::print(&super::help(tool, begins))));
    }
    if words.is_on("version") {
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("ablaze {version}, with the options and the report of {}\n", tool.name);
        return Ok(Read::Done(terminal::print(&text)));
    }
    let asked = tool.asked(&words)?;
    Ok(Read::Run(words, Box::new(asked)))
}

/// Runs what was asked for.
///
/// # Errors
/// When it cannot take place; what is wrong with the words has the tool's exit status.
pub fn run<F: FrontEnd>(
    front_end: &mut F,
    words: &Words,
    asked: &Asked,
) -> Result<ExitCode, CommandError> {
    run_natively(front_end, words, asked).map_err(|error| match error.status {
        USAGE => CommandError { status: F::TOOL.usage_status, ..error },
        _ => error,
    })
}

fn run_natively<F: FrontEnd>(
    front_end: &mut F,
    words: &Words,
    asked: &Asked,
) -> Result<ExitCode, CommandError> {
    asked.notes.iter().for_each(|text| note(text));
    let options = native_options(F::TOOL, &asked.all_words(&words.native))?;
    let outputs = Outputs::checked(&options.report)?;
    let mut secrets = Secrets::default();
    let url = Some(asked.url.as_str()).filter(|url| !url.is_empty());
    let mut spec = native::spec(url, &options, &mut secrets)?;
    spec.words = own_command_line();
    spec.front_end = F::TOOL.front_end;
    front_end.adapt(&mut spec)?;
    let mut planned = planning::resolve(&spec, &secrets, &F::TOOL.names)?;
    front_end.adapt_plan(&spec, &secrets, &mut planned.plan)?;
    outputs.check_plan(&planned.plan)?;
    planned.notes.iter().for_each(|text| note(text));
    if !is_machine_readable(&options) {
        terminal::print(&front_end.heading(&planned.plan));
    }
    let mut watcher = progress::watcher(&planned.plan, options.report.quiet);
    let mut run = carry_out(planned.plan.clone(), &spec, watcher.as_mut())?;
    if let Some(sides) = &options.report.profile {
        outlets::attempt("--profile", || profile::add(&mut run, planned.plan, sides, &mut Silent));
    }
    let assessed = verdict::assessed(run);
    note_redirects(asked, &assessed.run);
    Ok(tell(front_end, &options, &assessed, &outputs))
}

/// The native options among all words.
fn native_options(tool: &Tool, words: &[String]) -> Result<native::Options, CommandError> {
    let program = std::iter::once(tool.name).chain(words.iter().map(String::as_str));
    match CommandLine::try_parse_from(program) {
        Ok(line) => {
            if let Some(why) = line.fleet.refused() {
                return Err(tool.usage(why));
            }
            line.exports.note_no_effect();
            Ok(line.options)
        }
        Err(error) => Err(tool.usage(hints::refusal(&error, &CommandLine::command()).line)),
    }
}

/// Keeps and prints what came out; gives the exit status.
fn tell<F: FrontEnd>(
    front_end: &F,
    options: &native::Options,
    assessed: &Assessed,
    outputs: &Outputs,
) -> ExitCode {
    let (run, asked) = (&assessed.run, &options.report);
    // Files first: nothing that becomes of standard output can take them then.
    let kept = outputs.keep_files(assessed);
    front_end.keep(run);
    let nothing = run.record.responses == 0;
    if is_machine_readable(options) {
        outputs.print(assessed, &kept);
    } else if front_end.prints_report() {
        outlets::attempt("the report", || {
            outlets::print_report(&front_end.report(run), &kept);
            Ok(())
        });
    }
    outputs.keep_streams(assessed);
    let fails = outputs.fails(run);
    let why = outcome::explanation(run).filter(|_| nothing);
    why.iter().for_each(|why| note(why));
    // An error says what failed and what to do; that nothing came has more reasons than a run that is too short.
    if why.is_none() || run.record.failures_total() == 0 {
        verdict::say(assessed, asked.explain, asked.quiet);
    }
    let refuted = asked.strict && verdict::is_invalid(assessed);
    ExitCode::from(match () {
        () if refuted => NOT_TO_BE_BELIEVED,
        () if nothing || run.ended == Ended::Failed => NOTHING_MEASURED,
        () if fails => FAIL_IF_MET,
        () => 0,
    })
}

/// Whether stdout carries JSON, or another native format, and nothing else.
fn is_machine_readable(options: &native::Options) -> bool {
    options.report.json || options.report.format.is_some()
}

/// Says that redirects came which the tool would have followed.
fn note_redirects(asked: &Asked, run: &Run) {
    let statuses = run.record.statuses.iter();
    let redirects = statuses.filter(|(status, _)| matches!(status, 301 | 302 | 303 | 307 | 308));
    let count: u64 = redirects.map(|(_, count)| count).sum();
    if asked.follows_redirects && count > 0 {
        note(&format!(
            "{count} responses were redirects, which are not followed here: use the URL they lead to"
        ));
    }
}
