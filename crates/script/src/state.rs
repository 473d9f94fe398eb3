//! A Lua state as a script finds it: the standard libraries, the table `wrk`, the modules that are built in, and then the
//! script itself.

use mlua::{AnyUserData, Error, Function, Lua, LuaOptions, LuaString, Result, StdLib, Table};

use crate::address::Address;
use crate::{Network, ScriptError, Setting, shims};

/// wrk's own part, in Lua.
const PRELUDE: &str = include_str!("prelude.lua");

/// Makes a state and runs the script's file in it.
///
/// # Errors
/// When the file cannot be read or run.
pub fn state(setting: &Setting) -> std::result::Result<Lua, ScriptError> {
    let options = LuaOptions::new().catch_rust_panics(true);
    // SAFETY: scripts are programs of whoever runs them, as in wrk, with `ffi` and `debug`; what they may do with these
    // is what any other program of theirs may do. Nothing else makes this call unsafe.
    let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, options) };
    shims::preload(&lua)?;
    let wrk: Table = lua.load(PRELUDE).set_name("=wrk").eval()?;
    network(&lua, &wrk, &setting.network)?;
    wrk.set("scheme", setting.scheme.as_str())?;
    wrk.set("host", setting.host.as_str())?;
    wrk.set("port", setting.port.as_deref())?;
    wrk.set("path", lua.create_string(&setting.path)?)?;
    let headers: Table = wrk.get("headers")?;
    for (name, value) in &setting.headers {
        headers.set(lua.create_string(name)?, lua.create_string(value)?)?;
    }
    lua.globals().set("wrk", &wrk)?;
    let loaded: Table = lua.globals().get::<Table>("package")?.get("loaded")?;
    loaded.set("wrk", wrk)?;
    if let Some(file) = &setting.file {
        use std::os::unix::ffi::OsStrExt;
        let path = lua.create_string(file.as_os_str().as_bytes())?;
        lua.globals().get::<Function>("dofile")?.call::<()>(path)?;
    }
    Ok(lua)
}

/// `wrk.lookup` and `wrk.connect`.
fn network(lua: &Lua, wrk: &Table, network: &Network) -> Result<()> {
    let lookup = network.lookup.clone();
    let lookup = lua.create_function(move |lua, (host, service): (LuaString, LuaString)| {
        let found = lookup(&host.to_string_lossy(), &service.to_string_lossy());
        let found = found.map_err(Error::runtime)?;
        lua.create_sequence_from(found.into_iter().map(Address))
    })?;
    wrk.set("lookup", lookup)?;
    let connect = network.connect.clone();
    let connect = lua.create_function(move |_, address: AnyUserData| {
        let Address(address) = *address.borrow::<Address>()?;
        Ok(connect(address))
    })?;
    wrk.set("connect", connect)
}

/// Has everything that the script printed stand before what this program prints next.
pub fn flush(lua: &Lua) {
    // A script that closed its standard output has nothing to be flushed.
    let _ = lua.load("io.stdout:flush()").exec();
}
