//! Runs the command with a limit on its time, and reads its JSON.

use std::process::{Command, Stdio};

use ablaze_target::{Options, Running as Served, Server};
pub use ablaze_testing::process::eventually;
use ablaze_testing::{Bounded, Running};
pub use ablaze_testing::{Ran, ScratchFile as Scratch};
use serde_json::Value;

/// Every test that can is run over each of these.
pub const BACKENDS: [&str; 2] = ["uring", "epoll"];

/// The command with these words.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words);
    command
}

/// Runs the command to its end.
pub fn ablaze(words: &[&str]) -> Ran {
    run(&mut command(words))
}

/// Runs the command with `--json` and reads what it printed.
pub fn measured(words: &[&str]) -> (Ran, Value) {
    let ran = ablaze(&[words, &["--json"]].concat());
    let json = ran.json();
    (ran, json)
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Ran {
    command.ran()
}

/// Starts a program whose output is kept.
pub fn start(command: &mut Command) -> Running {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The built-in server on a free port of this address.
pub fn serve_on(address: &str) -> Served {
    let options = Options { address: address.parse().unwrap(), threads: 1, ..Options::default() };
    Server::start(options).unwrap()
}

/// The built-in server on a free port.
pub fn serve() -> Served {
    serve_on("127.0.0.1:0")
}

/// A URL of a server.
pub fn url(server: &Served, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

/// A number of the JSON report by its path, such as `/failed/total`.
pub fn number(json: &Value, pointer: &str) -> u64 {
    let value = json.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {json}"));
    value.as_u64().unwrap_or_else(|| panic!("{pointer} is {value}"))
}
