//! The server's protocol without I/O: what is answered, on which conditions, and that it does not
//! matter in which pieces bytes come and go.

#![allow(clippy::unwrap_used)]

mod conditions;
mod connections;
mod conversation;
mod cuts;
mod faults;
mod own_handlers;
mod responses;
