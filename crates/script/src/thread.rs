//! A thread as scripts have it: in `setup` and, if they kept it, in `done`; in its own state as `wrk.thread`.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{
    AnyUserData, Error, Lua, LuaString, Result, UserData, UserDataFields, UserDataMethods, Value,
    WeakLua,
};

use crate::address::Address;

/// What both sides know of a thread.
#[derive(Debug, Default)]
pub struct Shared {
    /// Where its connections go.
    pub address: Mutex<Option<SocketAddr>>,
    /// Whether it was stopped.
    pub stopped: AtomicBool,
}

impl Shared {
    /// Where its connections go.
    pub fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread, in whichever state.
pub struct Thread {
    /// Its own state.
    pub state: WeakLua,
    /// The rest of it.
    pub shared: Arc<Shared>,
}

impl UserData for Thread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, this| Ok(this.shared.address().map(Address)));
        fields.add_field_method_set("addr", |_, this, address: AnyUserData| {
            let Address(address) = *address.borrow::<Address>()?;
            *this.shared.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: LuaString| {
            let own = this.own()?;
            copied(&own.globals().get(own.create_string(name.as_bytes())?)?, lua)
        });
        methods.add_method("set", |_, this, (name, value): (LuaString, Value)| {
            let own = this.own()?;
            own.globals().set(own.create_string(name.as_bytes())?, copied(&value, &own)?)
        });
        methods.add_method("stop", |_, this, ()| {
            this.shared.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
    }
}

impl Thread {
    fn own(&self) -> Result<Lua> {
        self.state.try_upgrade().ok_or_else(|| Error::runtime("the thread has ended"))
    }
}

/// A value of one state in another: nothing, booleans, numbers, strings, and tables of those.
fn copied(value: &Value, to: &Lua) -> Result<Value> {
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(value) => Value::Boolean(*value),
        Value::Integer(value) => Value::Integer(*value),
        Value::Number(value) => Value::Number(*value),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(table) => {
            let copy = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copy.raw_set(copied(&key, to)?, copied(&value, to)?)?;
            }
            Value::Table(copy)
        }
        other => {
            let name = other.type_name();
            return Err(Error::runtime(format!("cannot transfer '{name}' to thread")));
        }
    })
}
