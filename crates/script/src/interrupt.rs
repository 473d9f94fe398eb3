//! Ends a script that does not return: from another thread, by an error at its next instruction.
//!
//! Code that LuaJIT has compiled looks for hooks only if it was built with `LUAJIT_ENABLE_CHECKHOOK`; the workspace's
//! `.cargo/config.toml` sees to that. Built otherwise, a loop that was compiled goes on, and [`Interrupt::now`] does nothing
//! to it: who calls it must not wait for the thread without a bound.

use std::ffi::c_int;

use mlua::{Lua, ffi};

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

    /// Has the script fail at its next instruction, and at every one after that until `done` was called.
    pub fn now(&self) {
        // SAFETY: the state is alive. LuaJIT permits `lua_sethook` from another native thread to interrupt a state that
        // runs (lj_record.c, at LUAJIT_ENABLE_CHECKHOOK).
        unsafe { ffi::lua_sethook(self.state, Some(hook), ffi::LUA_MASKCOUNT, 1) };
    }
}

/// What scripts are told.
const MESSAGE: &std::ffi::CStr = c"the script did not return and was ended";

unsafe extern "C-unwind" fn hook(state: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: called by LuaJIT with its own state, on the thread that runs it; an error is a permitted way out of a hook,
    // and no Rust value is alive here.
    unsafe {
        ffi::lua_sethook(state, None, 0, 0 as c_int);
        ffi::luaL_error(state, MESSAGE.as_ptr());
    }
}
