//! The drivers from the outside, in one program, so that it is linked once.

mod allocations;
mod conformance;
mod simulated;
mod system_calls;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
