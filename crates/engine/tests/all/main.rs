//! The engine over the simulated driver, in one program, so that it is linked once. `allocations` is another: it
//! counts what all threads allocate.

mod simulated;
mod tls;
