//! One thread's script: what it sends, when, and what it is told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::{Function, Lua, LuaString, Table, Value};

use crate::thread::Shared;
use crate::{Interrupt, ScriptError, interrupt};

/// The state of one thread, after `init`.
pub struct Worker {
    lua: Lua,
    shared: Arc<Shared>,
    request: Option<Function>,
    response: Option<Function>,
    delay: Option<Function>,
}

impl Worker {
    /// Looks for the script's functions.
    pub(crate) fn new(lua: Lua, shared: Arc<Shared>) -> Result<Self, ScriptError> {
        let function = |name: &str| match lua.globals().get(name)? {
            Value::Function(function) => Ok::<_, mlua::Error>(Some(function)),
            _ => Ok(None),
        };
        let (request, response, delay) =
            (function("request")?, function("response")?, function("delay")?);
        Ok(Self { lua, shared, request, response, delay })
    }

    /// Whether all requests are the same: there is no global `request`.
    pub fn is_static(&self) -> bool {
        self.request.is_none()
    }

    /// Whether responses are to be told.
    pub fn wants_responses(&self) -> bool {
        self.response.is_some()
    }

    /// Whether there is a pause before each request.
    pub fn has_delay(&self) -> bool {
        self.delay.is_some()
    }

    /// Whether `thread:stop()` was called.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// Where its connections go.
    pub fn address(&self) -> Option<SocketAddr> {
        self.shared.address()
    }

    /// What ends it if it does not return.
    ///
    /// # Errors
    /// When it has no memory left.
    pub fn interrupt(&self) -> Result<Interrupt, ScriptError> {
        Ok(Interrupt::of(&self.lua)?)
    }

    /// Appends the next request, or requests, to `out`: that of `request`, or else the constant one.
    ///
    /// # Errors
    /// When the script fails, or gives no string.
    pub fn request(&self, out: &mut Vec<u8>) -> Result<(), ScriptError> {
        let value: Value = match &self.request {
            Some(request) => interrupt::call(&self.lua, request, ())?,
            None => {
                let wrk: Table = self.lua.globals().get("wrk")?;
                interrupt::call(&self.lua, &wrk.get("request")?, ())?
            }
        };
        match value {
            Value::String(text) => {
                out.extend_from_slice(&text.as_bytes());
                Ok(())
            }
            other => Err(ScriptError(format!(
                "request() returned a {}: it has to return a string",
                other.type_name()
            ))),
        }
    }

    /// Tells a response: its status, its head and its body.
    ///
    /// # Errors
    /// When the script fails.
    pub fn response(&self, status: u16, head: &[u8], body: &[u8]) -> Result<(), ScriptError> {
        let Some(response) = &self.response else { return Ok(()) };
        let headers = self.lua.create_table()?;
        for (name, value) in fields(head) {
            headers.raw_set(self.lua.create_string(name)?, self.lua.create_string(value)?)?;
        }
        let body: LuaString = self.lua.create_string(body)?;
        Ok(interrupt::call(&self.lua, response, (status, headers, body))?)
    }

    /// How long to wait before the next request, ns; 0 without a `delay`.
    ///
    /// # Errors
    /// When the script fails.
    pub fn delay_ns(&self) -> Result<u64, ScriptError> {
        let Some(delay) = &self.delay else { return Ok(0) };
        let ms = match interrupt::call(&self.lua, delay, ())? {
            Value::Integer(ms) => ms as f64,
            Value::Number(ms) => ms,
            Value::String(text) => text.to_string_lossy().trim().parse().unwrap_or(0.0),
            _ => 0.0,
        };
        // Whole milliseconds, as in wrk.
        Ok((ms.max(0.0) as u64).saturating_mul(1_000_000))
    }
}

/// Names and values of a response's fields.
fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}
