//! The codecs from the outside, in one program, so that it is linked once.

mod chunked;
mod http2;
mod http2_allocations;
mod http3;
mod multipart;
mod request;
mod response;
mod url;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
