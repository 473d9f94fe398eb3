//! `ablaze worker`: carries out a share of a load for a coordinator, which tells it what to do over standard input and is
//! told what happens over standard output. Whoever can start a process elsewhere and carry its input and output starts it;
//! people do not. What is said is `ablaze-fleet`'s, the load and its run are those of every other command.

mod again;
mod channel;
mod hold;
mod listening;
mod machine;
mod rows;
mod share;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ablaze_engine::Control;
use ablaze_fleet::message::{Assignment, FromWorker};
use ablaze_load::planning::{self, OptionNames};
use ablaze_model::Run;
use ablaze_model::run::Ended;
use clap::{CommandFactory, Parser};

use self::channel::Channel;
use self::rows::Rows;
use self::share::Share;
use crate::fleet::kept::{self, Place};
use crate::{CommandError, carry_out, usage, values, verdict};

/// The command line of `ablaze worker`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze worker",
    bin_name = "ablaze worker",
    about = "Carry out a share of a load for `ablaze load --fleet`, which starts this.",
    override_usage = "ablaze worker [OPTIONS]",
    after_help = AFTER_HELP,
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// How long the run waits here if it cannot be handed over [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    keep: Option<u64>,
    /// End the run after this time, whatever the coordinator says [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    limit: Option<u64>,
    /// Wait for workers in this container, print what they tell, end when they have ended
    #[arg(long, conflicts_with_all = ["beside", "keep"])]
    hold: bool,
    /// Tell what happens to the `ablaze worker --hold` of this container as well
    #[arg(long)]
    beside: bool,
}

/// How long a worker tries to say why it ends.
const LAST_LINE_WITHIN: Duration = Duration::from_secs(2);
/// How long it waits for whoever keeps the log of its container: what writes that may be slow.
const LOGGED_WITHIN: Duration = Duration::from_secs(30);
/// How long it waits for a coordinator that is there to take its Run.
const RECEIVED_WITHIN: Duration = Duration::from_secs(60);
/// How long a Run waits that could not be handed over.
const KEEP: Duration = Duration::from_secs(600);

const AFTER_HELP: &str = "\
It is told what to do by a line on standard input and tells what happens in lines on standard
output; docs/fleet.md has them. It opens no port. When its standard input ends before the start, it
ends; later it ends its load within 10 s and keeps the run in a file for ten minutes.
`--hold` is the first process of a pod that `--fleet k8s` makes, `--beside` a worker in it.";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze worker` with the words behind `worker`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("worker", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let done = match line.hold {
        true => hold::hold(line.limit),
        false => assigned(&line),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// Does what it is told to do, if it is.
fn assigned(line: &CommandLine) -> Result<(), CommandError> {
    let channel = Channel::standard(line.beside).map_err(no_thread)?;
    let assignment = channel.assignment().map_err(CommandError::machine);
    let done = match assignment {
        Ok(Some(assignment)) => work(&channel, assignment, line),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = &done {
        channel.tell(&FromWorker::Failed { why: error.line.clone() });
    }
    channel.flush(LAST_LINE_WITHIN);
    channel.flush_log(LOGGED_WITHIN);
    let state = channel.state();
    if done.is_ok() && state.is_received && !state.is_closed {
        return Err(again::become_anew(&channel));
    }
    done
}

/// Carries out what was assigned, and hands over the Run.
fn work(
    channel: &Arc<Channel>,
    assignment: Assignment,
    line: &CommandLine,
) -> Result<(), CommandError> {
    let control = Arc::new(Control::new());
    carry_out::listen_for(&control)?;
    listening::begin(channel, &control, line.limit).map_err(no_thread)?;
    let name = kept::name_of(&assignment.id, assignment.index);
    let Share { spec, secrets } = Share::of(assignment)?;
    let planned = planning::resolve(&spec, &secrets, &OptionNames::NATIVE)?;
    let (machine, ready) = (machine::of(&planned), Arc::clone(channel));
    control.hold(move || ready.tell(&FromWorker::Ready(machine)));
    let mut rows = Rows::to(Arc::clone(channel), name, &planned.plan);
    let (run, _) = ablaze_load::carry_out::carry_out(planned.plan, &spec, &control, &mut rows)?;
    if !channel.state().has_start {
        // It was called off, and there is nothing to hand over.
        channel.tell(&FromWorker::Bye);
        return Ok(());
    }
    hand_over(channel, run, rows.place(), line.keep.map_or(KEEP, Duration::from_nanos))
}

/// Hands the Run over; where that cannot be done, it waits to be fetched.
fn hand_over(
    channel: &Channel,
    run: Run,
    place: Option<Place>,
    keep: Duration,
) -> Result<(), CommandError> {
    let state = channel.state();
    let cut_short = run.ended == Ended::Interrupted && !state.was_stopped;
    let document = ablaze_report::json::write(&verdict::assessed(run));
    // Where nobody is there any more, a log of it may be.
    if !state.is_received {
        channel.tell(&FromWorker::Run { document: document.clone(), cut_short });
    }
    let state = channel.wait(RECEIVED_WITHIN, |state| state.is_received || state.is_closed);
    match place.filter(|_| !state.is_received) {
        None => channel.tell(&FromWorker::Bye),
        Some(place) => {
            // Whoever asks for it here has given up the channel.
            channel.change(|state| state.is_closed = true);
            place.keep(&document, keep).map_err(|error| {
                CommandError::machine(format!("the run cannot be kept here: {error}"))
            })?;
        }
    }
    Ok(())
}

fn no_thread(error: std::io::Error) -> CommandError {
    CommandError::machine(format!("cannot start a thread: {error}"))
}
