//! `ablaze worker`: carries out a share of a load for a coordinator, which tells it what to do over standard input and is
//! told what happens over standard output. Whoever can start a process elsewhere and carry its input and output starts it;
//! people do not. What is said is `ablaze-fleet`'s, the load and its run are those of every other command.

mod channel;
mod facts;
mod listening;
mod rows;
mod share;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ablaze_engine::Control;
use ablaze_fleet::message::{Assignment, FromWorker};
use ablaze_load::planning::{self, OptionNames};
use clap::{CommandFactory, Parser};

use self::channel::Channel;
use self::rows::Rows;
use self::share::Share;
use crate::{CommandError, carry_out, usage, verdict};

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
struct CommandLine {}

/// How long a worker tries to say why it ends.
const LAST_LINE_WITHIN: Duration = Duration::from_secs(2);
/// How long it waits for a coordinator that is there to take its Run.
const RECEIVED_WITHIN: Duration = Duration::from_secs(60);

const AFTER_HELP: &str = "\
It is told what to do by a line on standard input and tells what happens in lines on standard
output; docs/fleet.md has them. It opens no port, and ends when its standard input does.";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze worker` with the words behind `worker`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    if let Err(status) = usage::parsed::<CommandLine>("worker", arguments) {
        return status;
    }
    match assigned() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// Does what it is told to do, if it is.
fn assigned() -> Result<(), CommandError> {
    let channel = Channel::standard().map_err(no_thread)?;
    let assignment = channel.assignment().map_err(CommandError::machine);
    let done = match assignment {
        Ok(Some(assignment)) => work(&channel, assignment),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = &done {
        channel.tell(&FromWorker::Failed { why: error.line.clone() });
    }
    channel.flush(LAST_LINE_WITHIN);
    done
}

/// Carries out what was assigned, and hands over the Run.
fn work(channel: &Arc<Channel>, assignment: Assignment) -> Result<(), CommandError> {
    let control = Arc::new(Control::new());
    carry_out::listen_for(&control)?;
    listening::begin(channel, &control).map_err(no_thread)?;
    let Share { spec, secrets } = Share::of(assignment)?;
    let planned = planning::resolve(&spec, &secrets, &OptionNames::NATIVE)?;
    let (facts, ready) = (facts::of(&planned), Arc::clone(channel));
    control.hold(move || ready.tell(&FromWorker::Ready(facts)));
    let mut rows = Rows::to(Arc::clone(channel));
    let (run, _) = ablaze_load::carry_out::carry_out(planned.plan, &spec, &control, &mut rows)?;
    if !channel.state().has_start {
        // It was called off, and there is nothing to hand over.
        channel.tell(&FromWorker::Bye);
        return Ok(());
    }
    let document = ablaze_report::json::write(&verdict::assessed(run));
    channel.tell(&FromWorker::Run { document });
    channel.wait(RECEIVED_WITHIN, |state| state.is_received || state.is_closed);
    channel.tell(&FromWorker::Bye);
    Ok(())
}

fn no_thread(error: std::io::Error) -> CommandError {
    CommandError::machine(format!("cannot start a thread: {error}"))
}
