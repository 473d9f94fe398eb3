//! The engine over the simulated driver (`sinks` over sockets, too; `walks` with users), in one program, so that it is linked once.
//! `allocations` is another: it counts what all threads allocate.

mod simulated;
mod sinks;
mod tls;
mod walks;
