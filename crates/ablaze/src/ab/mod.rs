//! `ablaze ab`: ab's command line, its request, its report and its exit statuses, in front of
//! ablaze's engine. What is meant to differ from ab is listed in docs/ab-compatibility.md.
//!
//! Reading order: [`getopt`], [`options`], [`request`], [`asked`] make a Plan; [`completed`]
//! shows progress; [`outcome`] and [`refusal`] know what ab says and with which status.

mod asked;
mod completed;
mod files;
mod getopt;
mod native;
mod options;
mod outcome;
mod refusal;
mod request;
mod tls;
mod usage;
mod verbose;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use ablaze_model::Run;
use ablaze_model::run::Ended;
use ablaze_report::ab as report;

use crate::carry_out::{Silent, carry_out, own_command_line};
use crate::outputs::{Outputs, printed};
use crate::refusal::{FAIL_IF_MET, NOT_TO_BE_BELIEVED, note};
use crate::{Refusal, help, load, planning, profile, verdict};
use completed::CompletedLines;
use native::Native;
use options::Options;
use outcome::Outcome;
use refusal::Refused;

/// Runs `ablaze ab` with the words behind `ab`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match Options::parse(arguments) {
        Ok(options::Asked::Run(options)) => match run(&options) {
            Ok(status) => status,
            Err(refused) => refused.report(),
        },
        Ok(options::Asked::Version { html }) => to_stdout(&mut |out| report::banner(html, out))
            .map_or_else(|refusal| refusal.report(), |()| ExitCode::SUCCESS),
        Ok(options::Asked::NativeHelp) => help::print(&usage::text(&usage::program_name())),
        Ok(options::Asked::Help) => {
            let _ = io::stderr().write_all(usage::text(&usage::program_name()).as_bytes());
            ExitCode::from(22)
        }
        Err(refused) => refused.report(),
    }
}

fn run(options: &Options) -> Result<ExitCode, Refused> {
    let native = match native::read(&options.native)? {
        Native::Options(native) => native,
        Native::Help => return Ok(help::print(&usage::text(&usage::program_name()))),
    };
    let asked = asked::asked(options, &native)?;
    files::check(options)?;
    let outputs =
        Outputs::checked(&native.report).map_err(|refusal| Refused::native_usage(refusal.line))?;
    let quiet = options.quiet || native.report.quiet;
    let mut lines = CompletedLines::new(io::stderr(), asked.limits.requests, quiet);
    if !json(&native) {
        let shown = lines.are_shown();
        // If this does not get through, neither will the report, which says so.
        let _ = to_stdout(&mut |out| introduction(options, &asked, shown, out));
    }
    let host = asked::host_to_resolve(&asked).to_owned();
    let planned = planning::plan(asked).map_err(|refusal| Refused::of_planning(refusal, &host))?;
    planned.notes.iter().for_each(|line| note(line));
    if !json(&native) {
        let _ = to_stdout(&mut |out| verbose::before(&planned.plan, options.verbosity, out));
    }
    let witnessed = !native.machine.no_witness;
    let plan = planned.plan.clone();
    let mut run = carry_out(plan, own_command_line(), witnessed, &mut lines).map_err(of_ours)?;
    if let Some(sides) = &native.report.profile {
        profile::add(&mut run, planned.plan, sides, &mut Silent).map_err(of_ours)?;
    }
    tell(options, &native, &run, &mut lines, &outputs)
}

/// Prints and keeps what came out; gives the exit status.
fn tell(
    options: &Options,
    native: &load::Options,
    run: &Run,
    lines: &mut CompletedLines<io::Stderr>,
    outputs: &Outputs,
) -> Result<ExitCode, Refused> {
    let outcome = outcome::outcome(run, options.tolerate_receive_errors);
    let hopeless = outcome::is_hopeless(run);
    if run.ended != Ended::Interrupted && !hopeless {
        lines.finished(run.record.finished());
    }
    let mut report_printed = Ok(());
    if json(native) {
        outputs.print(run).map_err(of_ours)?;
    } else if !hopeless {
        let shown = lines.are_shown();
        report_printed = to_stdout(&mut |out| results(options, run, shown, out));
    }
    let _ = verbose::of_tls(run, options.verbosity, &mut BufWriter::new(io::stderr()));
    if options.tolerate_receive_errors && options.verbosity >= 1 {
        let _ = verbose::suppressed(&run.record, &mut BufWriter::new(io::stderr()));
    }
    // Files last: if one cannot be written any more, the report has been printed.
    if !hopeless {
        files::write(options, run)?;
    }
    outputs.keep(run).map_err(of_ours)?;
    report_printed.map_err(of_ours)?;
    let fails = outputs.fails(run);
    let refuted = native.report.strict && verdict::is_invalid(run);
    let status = match outcome {
        Outcome::Measured if refuted => ExitCode::from(NOT_TO_BE_BELIEVED),
        Outcome::Measured if fails => ExitCode::from(FAIL_IF_MET),
        Outcome::Measured => ExitCode::SUCCESS,
        Outcome::Failed(refused) => refused.report(),
        Outcome::Interrupted => ExitCode::FAILURE,
    };
    // Behind ab's own message, which scripts look for. A run without any connection needs no more.
    if !hopeless {
        if let Some(advice) = crate::outcome::perhaps_tls(run) {
            note(&format!("every answer was 400: {advice}"));
        }
        verdict::say(run, native.report.explain);
    }
    Ok(status)
}

/// Whether stdout carries JSON and nothing else.
fn json(native: &load::Options) -> bool {
    native.report.json
}

fn of_ours(refusal: Refusal) -> Refused {
    Refused::line(format!("ablaze: {refusal}"))
}

/// Everything ab prints before it connects.
fn introduction(
    options: &Options,
    asked: &planning::Asked,
    shown: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let html = options.layout.html.is_some();
    report::banner(html, out)?;
    if html {
        return Ok(());
    }
    write!(out, "Benchmarking {} ", asked.target.host)?;
    if let Some(proxy) = &asked.target.proxy {
        write!(out, "[through {}:{}] ", proxy.host, proxy.port)?;
    }
    write!(out, "(be patient){}", if shown { "\n" } else { "..." })
}

/// Everything ab prints when the run has ended.
fn results(options: &Options, run: &Run, shown: bool, out: &mut dyn Write) -> io::Result<()> {
    verbose::after(&run.record, options.verbosity, out)?;
    let closes_line = !shown && options.layout.html.is_none();
    if closes_line && run.ended != Ended::Interrupted {
        writeln!(out, "..done")?;
    }
    report::report(run, &options.layout, out)
}

/// Writes to stdout in one piece, before anything that follows on stderr. A reader that went
/// away is no failure of the run.
fn to_stdout(content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Refusal> {
    let mut out = BufWriter::new(io::stdout().lock());
    printed(content(&mut out).and_then(|()| out.flush()))
}
