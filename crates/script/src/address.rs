//! An address as scripts have it: from `wrk.lookup`, for `wrk.connect` and `thread.addr`.

use std::net::SocketAddr;

use mlua::{MetaMethod, UserData, UserDataMethods};

/// What `wrk.lookup` gives.
#[derive(Debug, Clone, Copy)]
pub struct Address(pub SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        // Without brackets, as in wrk.
        methods.add_meta_method(MetaMethod::ToString, |_, Self(address), ()| {
            Ok(format!("{}:{}", address.ip(), address.port()))
        });
    }
}
