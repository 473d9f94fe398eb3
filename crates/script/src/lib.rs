//! wrk's Lua scripts without a socket: what a script says is to be sent, what it is told of responses, and what it is told at
//! the end. The interface is that of wrk 4.2 (its SCRIPTING), on LuaJIT with all standard libraries.
//!
//! As in wrk, there is a state for `setup` and `done` ([`Script`]) and one more for each thread ([`Worker`]), which is the
//! only one that runs while requests are sent. Globals are shared by all connections of a thread. Who uses this crate
//! sends the requests, and hands in what a script can ask of the network ([`Network`]).
//!
//! Reading order: [`script`] (setup and done), [`worker`] (one thread), `state` (what a script finds), `address`, `thread`,
//! `figures` (what it is handed), `shims` and `json` (modules that are built in), [`requests`] (several requests in one
//! string), [`interrupt`] (a script that does not return).

mod address;
mod figures;
pub mod interrupt;
mod json;
pub mod requests;
pub mod script;
mod shims;
mod state;
mod thread;
pub mod worker;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub use figures::{Distribution, Errors, Summary};
pub use interrupt::Interrupt;
pub use script::Script;
pub use worker::Worker;

/// What a script runs in.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The file; `None` has only what wrk does by itself.
    pub file: Option<PathBuf>,
    /// `http` or `https`.
    pub scheme: String,
    /// Host of the URL, without brackets.
    pub host: String,
    /// Its port, if one was typed.
    pub port: Option<String>,
    /// Its path with all that follows.
    pub path: Vec<u8>,
    /// Fields of the command line, names and values.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// What `init` is given: the URL, and the words behind it.
    pub arguments: Vec<OsString>,
    /// What it can ask of the network.
    pub network: Network,
}

/// What a script can ask of the network.
#[derive(Clone)]
pub struct Network {
    /// The addresses of a host and a service (a port, or a name such as `http`).
    pub lookup: Arc<Lookup>,
    /// Whether an address accepts a connection.
    pub connect: Arc<Connect>,
}

/// Finds addresses, or says why there are none.
pub type Lookup = dyn Fn(&str, &str) -> Result<Vec<SocketAddr>, String> + Send + Sync;
/// Tries an address.
pub type Connect = dyn Fn(SocketAddr) -> bool + Send + Sync;

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Network")
    }
}

/// What went wrong in a script: Lua's message, with the file and the line where it knows them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub String);

impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        // The first line; the traceback below it is of this program as much as of the script.
        let text = match &error {
            mlua::Error::RuntimeError(text) => text.clone(),
            mlua::Error::SyntaxError { message, .. } => message.clone(),
            mlua::Error::CallbackError { cause, .. } => return Self::from(cause.as_ref().clone()),
            other => other.to_string(),
        };
        let line = text.lines().next().unwrap_or_default();
        Self(line.trim_start_matches("runtime error: ").to_owned())
    }
}
