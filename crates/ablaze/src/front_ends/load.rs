//! `ablaze load`: the native command line, from words to an exit status.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use ablaze_load::planning::{self, OptionNames, cookies};
use ablaze_model::spec::Secrets;
use ablaze_report::file;

use crate::carry_out::{carry_out, interrupted, own_command_line};
use crate::error::{FAIL_IF_MET, INTERRUPTED, NOT_TO_BE_BELIEVED, NOTHING_MEASURED, note};
use crate::exports::{self, Exports};
use crate::live::Steering;
use crate::native::{self, CommandLine, hints};
use crate::outputs::Outputs;
use crate::{CommandError, fleet, outcome, outlets, profile, progress, terminal, usage, verdict};

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze load` with the words behind `load`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    match read(arguments).and_then(|line| line.map_or(Ok(ExitCode::SUCCESS), |line| load(&line))) {
        Ok(status) => status,
        Err(error) => error.report(),
    }
}

/// The command line, or `None` when it asked for help, which is then given.
fn read(arguments: &[OsString]) -> Result<Option<CommandLine>, CommandError> {
    if arguments.is_empty() {
        return Err(CommandError::usage(
            "missing URL, for example `ablaze :8080/`; see `ablaze load --help`",
        ));
    }
    if let Some(hint) = hints::elsewhere_first(arguments) {
        return Err(CommandError::usage(hint));
    }
    let program = OsString::from("ablaze load");
    match CommandLine::try_parse_from(std::iter::once(&program).chain(arguments)) {
        Ok(line) => Ok(Some(line)),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            terminal::print(&error.render().to_string());
            Ok(None)
        }
        Err(error) => {
            let command = CommandLine::command();
            let apart = usage::value_apart(&error, &command, arguments);
            Err(apart.unwrap_or_else(|| hints::refusal(&error, &command)))
        }
    }
}

fn load(line: &CommandLine) -> Result<ExitCode, CommandError> {
    let report = &line.options.report;
    let outputs = Outputs::checked_without(report, exports::is_streamed)?;
    let mut secrets = Secrets::default();
    let mut spec = native::spec(line.url.as_deref(), &line.options, &mut secrets)?;
    spec.words = own_command_line();
    outputs.check(&spec)?;
    if let Some(path) = &line.options.request.bodies.cookie_jar {
        file::check_writable(path)
            .map_err(|error| CommandError::usage(format!("--cookie-jar {error}")))?;
    }
    let planned = match &line.fleet.fleet {
        None => {
            let planned = planning::resolve(&spec, &secrets, &OptionNames::NATIVE)?;
            spec.leave_files();
            planned
        }
        // Its workers are still to be given the files.
        Some(place) => fleet::planned(place, &spec, &secrets, report)?,
    };
    outputs.check_plan(&planned.plan)?;
    if !planned.plan.speaks_tls() {
        if line.options.tls.insecure {
            note("-k (accept any certificate) has no effect on http; keep-alive is the default");
        } else if line.options.tls.is_asked() {
            note("TLS options have no effect on http: use https://");
        }
    }
    planned.notes.iter().for_each(|text| note(text));
    let is_fleet = line.fleet.fleet.is_some();
    let steering =
        if is_fleet { Steering::of_fleet(&planned.plan) } else { Steering::of(&planned.plan) };
    // Before the watcher, which may take the terminal: what these say is to be read.
    let mut exports = Exports::begin(&line.exports, &report.outputs, &planned.plan, &steering)?;
    let address = exports.page_address();
    let mut watcher = progress::native_watcher(&planned.plan, report, &steering, address);
    // A plan may have a hundred megabytes of requests: there are two only where both are carried out.
    let profiled = report.profile.as_ref().map(|sides| (sides, planned.plan.clone()));
    let mut watchers = exports.beside(watcher.as_mut());
    let mut run = match is_fleet {
        false => carry_out(planned.plan, &spec, &mut watchers)?,
        true => fleet::carry_out(&spec, &secrets, &line.fleet, &mut watchers)?,
    };
    if let Some((sides, plan)) = profiled {
        let mut watcher = progress::native_watcher(&plan, report, &Steering::of(&plan), None);
        outlets::attempt("--profile", || profile::add(&mut run, plan, sides, watcher.as_mut()));
    }
    let assessed = verdict::assessed(run);
    let run = &assessed.run;
    outputs.hand_over(&assessed);
    exports.end(&assessed);
    outputs.tell_github(&assessed);
    if let Some(path) = &line.options.request.bodies.cookie_jar {
        outlets::attempt("--cookie-jar", || {
            let jar = cookies::jar_after(run, spec.requests.cookies.as_ref(), &secrets)?;
            file::write_atomically(path, jar.as_bytes())
                .map_err(|error| CommandError::machine(format!("cannot save the cookies: {error}")))
        });
    }
    if let Some(text) = outcome::explanation(run) {
        let elsewhere = outcome::elsewhere(run).unwrap_or_default();
        note(&format!("{text}{elsewhere}"));
    }
    if report.format.is_some() {
        verdict::say(&assessed, report.explain, report.quiet);
    }
    let fails = outputs.fails(run);
    exports.linger();
    let refuted = report.strict && verdict::is_invalid(&assessed);
    let status = match outcome::status(run) {
        // Nobody asked for that end.
        INTERRUPTED if fleet::gave_up(run) && !interrupted() => NOTHING_MEASURED,
        status => status,
    };
    Ok(ExitCode::from(match (fails, status) {
        (_, INTERRUPTED) => INTERRUPTED,
        _ if refuted => NOT_TO_BE_BELIEVED,
        (true, 0) => FAIL_IF_MET,
        (_, status) => status,
    }))
}
