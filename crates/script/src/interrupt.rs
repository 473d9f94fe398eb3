//! Ends a script that does not return: from another thread, by an error at its next instruction.
//!
//! Code that LuaJIT has compiled looks for hooks only if it was built with `LUAJIT_ENABLE_CHECKHOOK`; the workspace's
//! `.cargo/config.toml` sees to that. Built otherwise, a loop that was compiled goes on, and [`Interrupt::now`] does nothing
//! to it: who calls it must not wait for the thread without a bound.

use std::ffi::c_int;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, ffi};

/// Ends what a state is doing.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// Keeps the state.
    _lua: Lua,
    state: *mut ffi::lua_State,
}

// SAFETY: the pointer is only given to `lua_sethook`, which LuaJIT lets other threads call, and the state it points to
// lives as long as `_lua`, which is `Send` and `Sync`.
unsafe impl Send for Interrupt {}
// SAFETY: as above.
unsafe impl Sync for Interrupt {}

impl Interrupt {
    /// For this state.
    ///
    /// # Errors
    /// When the state has no memory left.
    pub fn of(lua: &Lua) -> mlua::Result<Self> {
        let mut state = std::ptr::null_mut();
        // SAFETY: the closure reads the pointer and leaves the stack as it is.
        unsafe { lua.exec_raw::<()>((), |own| state = own) }?;
        Ok(Self { _lua: lua.clone(), state })
    }

    /// Has the script fail at its next instruction, and at every one after that until the call of it has failed.
    pub fn now(&self) {
        // SAFETY: the state is alive. LuaJIT permits `lua_sethook` from another native thread to interrupt a state that
        // runs (lj_record.c, at LUAJIT_ENABLE_CHECKHOOK).
        unsafe { ffi::lua_sethook(self.state, Some(hook), ffi::LUA_MASKCOUNT, 1) };
    }
}

/// Whether the script is to fail at its next instruction: a function that waits has to return.
pub(crate) fn is_asked(lua: &Lua) -> bool {
    let mut set = None;
    // SAFETY: called on the thread that has the state, which is alive; the stack stays as it is.
    let looked = unsafe { lua.exec_raw::<()>((), |own| set = ffi::lua_gethook(own)) };
    looked.is_ok() && set.is_some_and(|set| set as usize == hook as *const () as usize)
}

/// What scripts are told.
const MESSAGE: &std::ffi::CStr = c"the script did not return and was ended";

/// Calls a function. One that was interrupted has failed for good when it is back here; later calls go on.
///
/// # Errors
/// When it fails.
pub(crate) fn call<T: FromLuaMulti>(
    lua: &Lua,
    function: &Function,
    arguments: impl IntoLuaMulti,
) -> mlua::Result<T> {
    function.call(arguments).inspect_err(|_| {
        // SAFETY: the state is alive, and on the thread that has it; the stack stays as it is. Without memory for the call the
        // next one fails, too.
        let _ = unsafe {
            lua.exec_raw::<()>((), |own| {
                ffi::lua_sethook(own, None, 0, 0 as c_int);
            })
        };
    })
}

/// It stays: an error that the script catches, with pcall in a loop, is followed by the next one outside of pcall.
unsafe extern "C-unwind" fn hook(state: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: called by LuaJIT with its own state, on the thread that runs it; an error is a permitted way out of a hook,
    // and no Rust value is alive here.
    unsafe {
        ffi::luaL_error(state, MESSAGE.as_ptr());
    }
}
