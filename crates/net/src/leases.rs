//! Buffers that a driver lends to its handler for bytes that are not constant.
//!
//! A buffer's bytes keep their place in memory until the pool is dropped, and a buffer given back
//! is lent again, so that leasing per connection allocates only while connections become more.

use crate::driver::OutBuffer;

/// The smallest buffer, bytes.
const SMALLEST_BYTES: usize = 256;

/// A pool of leased buffers.
#[derive(Debug)]
pub struct Leases {
    buffers: Vec<Box<[u8]>>,
    /// Numbers of the buffers given back, by the power of two that is their size.
    free: [Vec<u32>; usize::BITS as usize],
}

impl Default for Leases {
    fn default() -> Self {
        Self { buffers: Vec::new(), free: std::array::from_fn(|_| Vec::new()) }
    }
}

impl Leases {
    /// A buffer of at least `bytes` bytes: one given back, or a new one.
    pub fn lease(&mut self, bytes: usize) -> OutBuffer {
        let size = bytes.max(SMALLEST_BYTES).next_power_of_two();
        let number = self.free[size.trailing_zeros() as usize].pop().unwrap_or_else(|| {
            self.buffers.push(vec![0; size].into_boxed_slice());
            (self.buffers.len() - 1) as u32
        });
        OutBuffer(number)
    }

    /// The bytes of a leased buffer.
    pub fn bytes(&self, buffer: OutBuffer) -> &[u8] {
        &self.buffers[buffer.0 as usize]
    }

    /// The bytes of a leased buffer, for writing.
    pub fn bytes_mut(&mut self, buffer: OutBuffer) -> &mut [u8] {
        &mut self.buffers[buffer.0 as usize]
    }

    /// Takes a buffer back.
    pub fn release(&mut self, buffer: OutBuffer) {
        let size = self.buffers[buffer.0 as usize].len();
        self.free[size.trailing_zeros() as usize].push(buffer.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_buffer_is_lent_again_to_who_fits() {
        let mut leases = Leases::default();
        let small = leases.lease(1);
        let large = leases.lease(5000);
        assert!(leases.bytes(large).len() >= 5000);
        leases.release(small);
        assert_ne!(leases.lease(5000), small);
        assert_eq!(leases.lease(SMALLEST_BYTES), small);
        leases.release(large);
        assert_eq!(leases.lease(8192), large);
    }
}
