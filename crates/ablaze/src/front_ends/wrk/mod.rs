//! `ablaze wrk`: wrk's command line, its request and its report, in front of ablaze's engine. What is meant to differ
//! from wrk is listed in docs/wrk.md.
//!
//! Reading order: [`getopt`], [`options`], [`spec`] make a Plan; [`script`] has a script set up and told at the end
//! ([`before`]: as long as Ctrl-C permits), [`walk`]
//! has it say what is sent, [`watchdog`] ends one that does not return. The report itself is `ablaze-report`'s.

mod after;
mod before;
mod getopt;
mod options;
mod script;
mod spec;
mod table;
mod walk;
mod watchdog;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_engine::Control;
use ablaze_engine::sink::SinkOf;
use ablaze_engine::walk::AnyWalk;
use ablaze_load::planning::{self, OptionNames};
use ablaze_model::run::Ended;
use ablaze_model::spec::{FrontEnd, Secrets};
use ablaze_model::{Assessed, LoadSpec, Plan, Run};
use ablaze_report::wrk as report;
use ablaze_script::{Script, ScriptError};

use self::options::{Options, Parsed};
use self::script::Threads;
use self::walk::{Failure, Scripted, Thread};
use self::watchdog::{Watchdog, Watched};
use crate::carry_out::{Silent, Watcher, carry_out, own_command_line, walking};
use crate::error::{FAIL_IF_MET, NOT_TO_BE_BELIEVED, NOTHING_MEASURED, note};
use crate::outputs::Outputs;
use crate::{CommandError, outcome, outlets, profile, progress, terminal, verdict};
pub use table::command;

/// What `-v` prints.
const VERSION: &str =
    concat!("ablaze ", env!("CARGO_PKG_VERSION"), ", with the options and the report of wrk 4.2\n");

/// Runs `ablaze wrk` with the words behind `wrk`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let run = |parsed| match parsed {
        Parsed::Run(options) => run(&options),
        Parsed::Help => Ok(terminal::print(&table::help())),
        Parsed::Version => Ok(terminal::print(VERSION)),
    };
    Options::parse(arguments).and_then(run).unwrap_or_else(|error| error.report())
}

fn run(options: &Options) -> Result<ExitCode, CommandError> {
    if options.version {
        terminal::print(VERSION);
    }
    let outputs = Outputs::checked(&options.native.report)?;
    if let (None, Some(word)) = (&options.script, options.arguments.first()) {
        note(&format!("`{}` behind the URL is for a script, and there is none", word.display()));
    }
    let url = spec::url(&options.url)?;
    spec::note_unread_headers(options);
    let mut secrets = Secrets::default();
    let script = options.script.as_ref();
    let script = script.map(|file| before::prepared(options, &url, file.into())).transpose()?;
    let request = match &script {
        Some(script) => script.first.clone(),
        None => spec::without_script(options, &url),
    };
    let mut spec = spec::spec(options, &url, request, &mut secrets)?;
    spec.words = own_command_line();
    spec.front_end = FrontEnd::Wrk;
    let mut planned = planning::resolve(&spec, &secrets, &OptionNames::WRK)?;
    outputs.check_plan(&planned.plan)?;
    if let Some(script) = &script {
        script.adapt(&mut planned.plan);
    }
    planned.notes.iter().for_each(|text| note(text));
    if !is_machine_readable(options) {
        let (length_s, threads) = (options.duration_s, options.threads);
        let url = ablaze_report::shown_command::url_without_secrets(&options.url);
        terminal::print(&report::heading(&url, length_s, threads, options.connections));
    }
    progress::note_no_view(&options.native.report);
    let mut watcher = progress::watcher(&planned.plan, options.native.report.quiet);
    let plan = planned.plan.clone();
    let (script, threads) = match script {
        Some(script) => {
            script.into_threads(&plan).map(|(script, threads)| (Some(script), threads))?
        }
        None => (None, None),
    };
    let (mut run, failed) = match threads {
        None => {
            let run = carry_out(plan, &spec, watcher.as_mut())?;
            (run, None)
        }
        Some(threads) => scripted(plan, &spec, watcher.as_mut(), threads)?,
    };
    match &options.native.report.profile {
        Some(_) if failed.is_some() => {}
        Some(_) if script.is_some() => note("--profile: a script is not profiled: leave out -s"),
        Some(sides) => {
            outlets::attempt("--profile", || {
                profile::add(&mut run, planned.plan, sides, &mut Silent)
            });
        }
        None => {}
    }
    Ok(tell(options, &verdict::assessed(run), &outputs, script.as_ref(), failed))
}

/// A run whose requests the threads of a script say, and the error that ended it.
fn scripted(
    plan: Plan,
    spec: &LoadSpec,
    watcher: &mut dyn Watcher,
    (threads, interrupts): Threads,
) -> Result<(Run, Option<ScriptError>), CommandError> {
    let failure = Arc::new(Failure::default());
    let control = Arc::new(Control::new());
    let calls = threads.iter().map(|thread| Arc::clone(&thread.calls));
    let scripts = calls
        .zip(interrupts)
        .map(|(calls, interrupt)| Watched { calls, interrupt, seen: 0, ticks: 0 })
        .collect();
    let duration_ns = plan.limits.duration_ns.unwrap_or(u64::MAX);
    let mut watchdog =
        Watchdog { inner: watcher, control: Arc::clone(&control), duration_ns, scripts };
    let threads: Mutex<Vec<Option<Thread>>> = Mutex::new(threads.into_iter().map(Some).collect());
    let make = |of: SinkOf| -> Box<dyn AnyWalk> {
        let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
        let thread = threads[of.worker as usize].take().expect("each worker is made once");
        Box::new(Scripted::new(thread, of, Arc::clone(&failure), Arc::clone(&control)))
    };
    let run = walking(plan, spec, &mut watchdog, &control, &make)?;
    Ok((run, failure.taken()))
}

/// Keeps and prints what came out; gives the exit status.
fn tell(
    options: &Options,
    assessed: &Assessed,
    outputs: &Outputs,
    script: Option<&Script>,
    mut failed: Option<ScriptError>,
) -> ExitCode {
    let (run, asked) = (&assessed.run, &options.native.report);
    // Files first: nothing that becomes of standard output can take them then.
    let kept = outputs.keep_files(assessed);
    let unreachable = run.ended == Ended::Unreachable && run.record.responses == 0;
    if is_machine_readable(options) {
        outputs.print(assessed, &kept);
    } else if !unreachable {
        outlets::attempt("the report", || {
            outlets::print_report(&report::write(run, options.latency), &kept);
            Ok(())
        });
    }
    if let (Some(script), None, false) = (script, &failed, is_machine_readable(options)) {
        failed = after::done(script, run).err();
    }
    outputs.keep_streams(assessed);
    let fails = outputs.fails(run);
    if let Some(error) = &failed {
        note(&script::told(error.clone()).line);
    }
    let nothing = run.record.responses == 0;
    let why = outcome::explanation(run).filter(|_| nothing);
    why.iter().for_each(|why| note(why));
    // An error says what failed and what to do; that nothing came has more reasons than a run that is too short.
    if why.is_none() || run.record.failures_total() == 0 {
        if !is_machine_readable(options) {
            verdict::say_checks(run, asked.quiet);
        }
        verdict::say(assessed, asked.explain, asked.quiet);
    }
    let refuted = asked.strict && verdict::is_invalid(assessed);
    ExitCode::from(match () {
        () if refuted => NOT_TO_BE_BELIEVED,
        () if nothing || failed.is_some() || run.ended == Ended::Failed => NOTHING_MEASURED,
        () if fails => FAIL_IF_MET,
        () => 0,
    })
}

/// Whether stdout carries JSON, or another format, and nothing else.
fn is_machine_readable(options: &Options) -> bool {
    options.native.report.json || options.native.report.format.is_some()
}
