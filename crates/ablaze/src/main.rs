//! The command `ablaze`: finds the word that says what to do ([`front_ends`]), and hands the rest to its
//! front end. Front ends turn command lines into a LoadSpec, have it resolved to a Plan by `ablaze-load`
//! and run ([`carry_out`]).

#[cfg(panic = "abort")]
compile_error!(
    "built with panic = \"abort\", a worker that panics would lose the results of all workers: \
     build with panic = \"unwind\""
);

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_wire::url::is_url_like;

mod borrowed;
mod carry_out;
mod doctor;
mod error;
mod experiments;
mod exports;
mod fleet;
mod front_ends;
mod help;
mod http_server;
mod lengths;
mod live;
mod native;
mod outcome;
mod outlets;
mod outputs;
mod profile;
mod progress;
mod report_options;
mod servers;
mod shell;
mod suggest;
mod terminal;
mod usage;
mod values;
mod verdict;
mod version;
mod watchers;
mod web;

pub use error::CommandError;

fn main() -> ExitCode {
    ablaze_sys::signals::ignore_broken_pipes();
    ablaze_sys::signals::outlive_file_size_limits();
    carry_out::end_at_second_interrupt(fleet::end_all);
    let words: Vec<OsString> = std::env::args_os().collect();
    outlets::status(match words.split_first() {
        None => help::main(&[]),
        Some((program, arguments)) => match front_ends::called_as(program) {
            Some(command) => (command.run)(arguments),
            None => dispatch(arguments),
        },
    })
}

/// What the first word asks for.
fn dispatch(arguments: &[OsString]) -> ExitCode {
    let Some((first, rest)) = arguments.split_first() else { return help::main(&[]) };
    let word = first.to_string_lossy();
    match word.as_ref() {
        "help" | "-h" | "--help" => help::main(rest),
        "-V" | "--version" | "version" => help::version(),
        // `ablaze -c 100 URL` and `ablaze URL` are `ablaze load …`; an empty word was to be a URL.
        _ if word.is_empty() || word.starts_with('-') || is_url_like(&word) => {
            front_ends::carried_out("load", arguments)
        }
        _ => front_ends::carried_out(&word, rest),
    }
}
