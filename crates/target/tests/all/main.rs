//! What servers do, in one program, so that it is linked once. `matrix` is another: its tests start it again as the
//! server, and watch what that holds.

mod http2;
mod http2_allocations;
mod http3;
mod over_sockets;
mod protocol;
mod shop;
mod tls;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
