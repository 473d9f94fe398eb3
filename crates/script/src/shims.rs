//! Modules that scripts of wrk load most and that are C libraries elsewhere: `socket` as far as it tells the time and
//! sleeps, `json` and `cjson`. A program without a dynamic Lua cannot load those libraries.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mlua::{Lua, Result, Table, Value};

use crate::{interrupt, json};

/// How often one that sleeps looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Has `require` find them.
pub fn preload(lua: &Lua) -> Result<()> {
    lua.preload_module("socket", lua.create_function(|lua, _: Value| socket(lua))?)?;
    for name in ["json", "cjson", "cjson.safe", "dkjson"] {
        let safe = name == "cjson.safe";
        lua.preload_module(
            name,
            lua.create_function(move |lua, _: Value| json::module(lua, safe))?,
        )?;
    }
    Ok(())
}

fn socket(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    let gettime = |_: &Lua, ()| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(since.as_secs_f64())
    };
    table.raw_set("gettime", lua.create_function(gettime)?)?;
    let sleep = |lua: &Lua, seconds: f64| {
        let asked = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let begun = Instant::now();
        while let Some(rest) = asked.checked_sub(begun.elapsed()).filter(|rest| !rest.is_zero()) {
            std::thread::sleep(rest.min(LOOK));
            if interrupt::is_asked(lua) {
                break;
            }
        }
        Ok(())
    };
    table.raw_set("sleep", lua.create_function(sleep)?)?;
    Ok(table)
}
