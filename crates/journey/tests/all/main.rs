//! The crate from the outside, in one program, so that it is linked once.

mod parse;

#[global_allocator]
static COUNTING: ablaze_testing::allocations::Counting = ablaze_testing::allocations::Counting;
