//! A script before and after the run: `setup` once per thread, `done` at the end, in a state of their own.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use mlua::{Function, Lua, Table, Value};

use crate::figures::{self, Distribution, Summary};
use crate::state::{flush, state};
use crate::thread::{Shared, Thread};
use crate::{Interrupt, ScriptError, Setting, Worker, interrupt};

/// A script and its threads.
pub struct Script {
    setting: Setting,
    lua: Lua,
    /// Kept for `thread:get` in `done`.
    threads: Vec<Lua>,
}

impl Script {
    /// Loads it, and looks for the addresses that accept connections.
    ///
    /// # Errors
    /// When it cannot be loaded, the host has no address, or none accepts a connection.
    pub fn load(setting: Setting) -> Result<Self, ScriptError> {
        let lua = state(&setting)?;
        let wrk: Table = lua.globals().get("wrk")?;
        let service = setting.port.clone().unwrap_or_else(|| setting.scheme.clone());
        wrk.get::<Function>("resolve")?.call::<()>((setting.host.as_str(), service.as_str()))?;
        if wrk.get::<Table>("addrs")?.raw_len() == 0 {
            let host = &setting.host;
            return Err(ScriptError(format!("unable to connect to {host}:{service}")));
        }
        Ok(Self { setting, lua, threads: Vec::new() })
    }

    /// Makes the next thread: its state, `setup` for it and its `init`.
    ///
    /// # Errors
    /// When the script fails.
    pub fn thread(&mut self) -> Result<Worker, ScriptError> {
        let own = state(&self.setting)?;
        self.threads.push(own.clone());
        let shared = Arc::new(Shared::default());
        let thread = || Thread { state: own.weak(), shared: Arc::clone(&shared) };
        let its_wrk: Table = own.globals().get("wrk")?;
        its_wrk.set("thread", own.create_userdata(thread())?)?;
        let wrk: Table = self.lua.globals().get("wrk")?;
        wrk.get::<Function>("setup")?.call::<()>(self.lua.create_userdata(thread())?)?;
        let arguments = own.create_table()?;
        for (at, word) in self.setting.arguments.iter().enumerate() {
            arguments.raw_set(at, own.create_string(word.as_bytes())?)?;
        }
        its_wrk.get::<Function>("init")?.call::<()>(arguments)?;
        Worker::new(own, shared)
    }

    /// Has everything that the script has printed so far stand before what this program prints next.
    pub fn flush(&self) {
        flush(&self.lua);
    }

    /// What ends a `done` that does not return.
    ///
    /// # Errors
    /// When it has no memory left.
    pub fn interrupt(&self) -> Result<Interrupt, ScriptError> {
        Ok(Interrupt::of(&self.lua)?)
    }

    /// Calls `done`, if there is one.
    ///
    /// # Errors
    /// When the script fails.
    pub fn done(
        &self,
        summary: &Summary,
        latency: Distribution,
        requests: Distribution,
    ) -> Result<(), ScriptError> {
        let Value::Function(done) = self.lua.globals().get("done")? else { return Ok(()) };
        let summary = figures::summary(&self.lua, summary)?;
        let result = interrupt::call::<()>(&self.lua, &done, (summary, latency, requests));
        self.flush();
        Ok(result?)
    }
}
