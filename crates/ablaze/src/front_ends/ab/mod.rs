//! `ablaze ab`: ab's command line, its request, its report and its exit statuses, in front of
//! ablaze's engine. What is meant to differ from ab is listed in docs/ab-compatibility.md.
//!
//! Reading order: [`getopt`], [`options`], [`request`], [`spec`] make a Plan; [`completed`]
//! shows progress; [`outcome`] and [`error`] know what ab says and with which status.

mod completed;
mod completions;
mod error;
mod files;
mod getopt;
mod native;
mod options;
mod outcome;
mod request;
mod spec;
mod tls;
mod usage;
mod verbose;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use ablaze_engine::Control;
use ablaze_load::planning::{self, OptionNames};
use ablaze_model::run::Ended;
use ablaze_model::spec::Secrets;
use ablaze_model::{Assessed, LoadSpec, Run};
use ablaze_report::ab as report;
use ablaze_report::file::is_stream;
use ablaze_report::number::{counted, grouped};

use crate::carry_out::{Silent, own_command_line, prepared};
use crate::error::{FAIL_IF_MET, NOT_TO_BE_BELIEVED, note};
use crate::outputs::Outputs;
use crate::{CommandError, outlets, profile, progress, terminal, verdict};
use completed::CompletedLines;
pub use completions::command;
use error::AbError;
use native::Native;
use options::Options;
use outcome::Outcome;

/// Runs `ablaze ab` with the words behind `ab`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match Options::parse(arguments) {
        Ok(options::Parsed::Run(options)) => match run(&options) {
            Ok(status) => status,
            Err(refused) => refused.report(),
        },
        Ok(options::Parsed::Version { html }) => {
            outlets::print_with(|out| report::banner(html, out));
            ExitCode::SUCCESS
        }
        Ok(options::Parsed::NativeHelp) => terminal::print(&usage::text(&usage::program_name())),
        Ok(options::Parsed::Help) => {
            let _ = io::stderr().write_all(usage::text(&usage::program_name()).as_bytes());
            ExitCode::from(22)
        }
        Err(refused) => refused.report(),
    }
}

fn run(options: &Options) -> Result<ExitCode, AbError> {
    let native = match native::read(&options.native)? {
        Native::Options(native) => native,
        Native::Help => return Ok(terminal::print(&usage::text(&usage::program_name()))),
    };
    let mut secrets = Secrets::default();
    let mut spec = spec::spec(options, &native, &mut secrets)?;
    spec.words = own_command_line();
    files::check(options)?;
    let outputs =
        Outputs::checked(&native.report).map_err(|error| AbError::native_usage(error.line))?;
    outputs.check(&spec).map_err(|error| AbError::native_usage(error.line))?;
    progress::note_no_view(&native.report);
    let quiet = options.quiet || native.report.quiet;
    let mut lines = CompletedLines::new(io::stderr(), spec.limits.requests, quiet);
    if !machine_readable(&native) {
        let shown = lines.are_shown();
        outlets::print_with(|out| introduction(options, &spec, shown, out));
    }
    let mut names = OptionNames::AB;
    if native.connection.local_address.is_some() {
        names.local_address = OptionNames::NATIVE.local_address;
    }
    let planned = planning::resolve(&spec, &secrets, &names)
        .map_err(|error| AbError::of_planning(error.into(), spec::host_to_resolve(&spec)))?;
    outputs.check_plan(&planned.plan).map_err(|error| AbError::native_usage(error.line))?;
    options.remarks.iter().chain(&planned.notes).for_each(|line| note(line));
    if !machine_readable(&native) {
        outlets::print_with(|out| verbose::before(&planned.plan, options.verbosity, out));
    }
    let plan = planned.plan.clone();
    let prepare = |control: &Control| {
        if !machine_readable(&native) {
            verbose::during(control, options.verbosity);
        }
    };
    let mut run = prepared(plan, &spec, &mut lines, prepare).map_err(of_ours)?;
    if let Some(sides) = &native.report.profile {
        outlets::attempt("--profile", || profile::add(&mut run, planned.plan, sides, &mut Silent));
    }
    Ok(tell(options, &native, &verdict::assessed(run), &mut lines, &outputs))
}

/// Keeps and prints what came out; gives the exit status.
fn tell(
    options: &Options,
    native: &crate::native::Options,
    assessed: &Assessed,
    lines: &mut CompletedLines<io::Stderr>,
    outputs: &Outputs,
) -> ExitCode {
    let run = &assessed.run;
    let outcome = outcome::outcome(run, options.tolerate_receive_errors);
    let unreachable = outcome::is_unreachable(run);
    // Files first: nothing that becomes of standard output can take them then.
    if !unreachable {
        files::write(options, run, |path| !is_stream(path));
    }
    let kept = outputs.keep_files(assessed);
    if run.ended != Ended::Interrupted && !unreachable {
        lines.finished(run.record.finished());
    }
    if machine_readable(native) {
        outputs.print(assessed, &kept);
    } else if !unreachable {
        let shown = lines.are_shown();
        outlets::attempt("the report", || {
            outlets::print_with(|out| verbose::certificate(run, options.verbosity, out));
            outlets::print_with(|out| results(options, run, shown, out));
            Ok(())
        });
    }
    let _ = verbose::of_tls(run, options.verbosity, &mut BufWriter::new(io::stderr()));
    if options.tolerate_receive_errors && options.verbosity >= 1 {
        let _ = verbose::suppressed(&run.record, &mut BufWriter::new(io::stderr()));
    }
    // A FIFO's reader can be waited for in vain: the report has been printed.
    if !unreachable {
        files::write(options, run, is_stream);
    }
    outputs.keep_streams(assessed);
    let fails = outputs.fails(run);
    let refuted = native.report.strict && verdict::is_invalid(assessed);
    let status = match outcome {
        Outcome::Measured if refuted => ExitCode::from(NOT_TO_BE_BELIEVED),
        Outcome::Measured if fails => ExitCode::from(FAIL_IF_MET),
        Outcome::Measured => ExitCode::SUCCESS,
        Outcome::Failed(refused) => refused.report(),
        Outcome::Interrupted => ExitCode::FAILURE,
    };
    // Behind ab's own message, which scripts look for. A run without any connection needs no more, and
    // findings are of a report: where that was lost, the loss is what there is to say.
    if !unreachable {
        if let Some(advice) = crate::outcome::bad_request(run) {
            note(&format!("every response was 400: {advice}"));
        }
        if let Some(advice) = crate::outcome::ended_in_plain(run) {
            note(&advice);
        }
        let quiet = options.quiet || native.report.quiet;
        if let Some(text) = left_open(run).filter(|_| !quiet) {
            note(&text);
        }
        if !machine_readable(native) {
            verdict::say_checks(run, quiet);
        }
        // Of no time at all there is nothing to find.
        if !outcome::had_no_time(run) {
            verdict::say(assessed, native.report.explain, quiet);
        }
    }
    status
}

/// What ab would have waited for: without keep-alive it reads until the server closes.
fn left_open(run: &Run) -> Option<String> {
    let (left_open, closed_early) = (run.record.left_open, run.record.closed_early);
    let within = match left_open {
        0 => "",
        _ => " within 1 s of the response",
    };
    (left_open + closed_early > 0).then(|| {
        format!(
            "the server did not close {} of the {} left to it to close{within}; ab would wait for that, and give up after -s",
            grouped(left_open + closed_early),
            // Only so many at a time are: the client closes the others.
            counted(run.record.awaited_close, "connection")
        )
    })
}

/// Whether stdout carries JSON, or another format, and nothing else.
fn machine_readable(native: &crate::native::Options) -> bool {
    native.report.json || native.report.format.is_some()
}

fn of_ours(error: CommandError) -> AbError {
    AbError::line(format!("ablaze: {error}"))
}

/// Everything ab prints before it connects.
fn introduction(
    options: &Options,
    spec: &LoadSpec,
    shown: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let html = options.layout.html.is_some();
    report::banner(html, out)?;
    if html {
        return Ok(());
    }
    let host = spec.destination.url.as_ref().map_or("", |url| &url.host);
    write!(out, "Benchmarking {host} ")?;
    if let Some(proxy) = &spec.destination.proxy {
        write!(out, "[through {}:{}] ", proxy.host, proxy.port)?;
    }
    write!(out, "(be patient){}", if shown { "\n" } else { "..." })
}

/// Everything ab prints when the run has ended.
fn results(options: &Options, run: &Run, shown: bool, out: &mut dyn Write) -> io::Result<()> {
    let closes_line = !shown && options.layout.html.is_none();
    if closes_line && run.ended != Ended::Interrupted {
        writeln!(out, "..done")?;
    }
    report::report(run, &options.layout, out)
}
