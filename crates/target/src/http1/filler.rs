//! The bytes that bodies of a wanted size are made of: one block, repeated. It is written from
//! the same memory over and over, so a body of any size costs neither memory nor a copy of ours,
//! and the block stays in the processor's cache.

/// Length of the block.
pub const BLOCK_BYTES: usize = 64 * 1024;

const LINE_BYTES: usize = 64;

/// The block: lines of 64 bytes that begin with their number, so that a byte that is missing,
/// doubled or out of place shows.
pub static BLOCK: [u8; BLOCK_BYTES] = block();

const fn block() -> [u8; BLOCK_BYTES] {
    let text = *b"0000 abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012345\n";
    let mut block = [0; BLOCK_BYTES];
    let mut at = 0;
    while at < BLOCK_BYTES {
        let line = at / LINE_BYTES;
        block[at] = match at % LINE_BYTES {
            0 => b'0' + (line / 1000 % 10) as u8,
            1 => b'0' + (line / 100 % 10) as u8,
            2 => b'0' + (line / 10 % 10) as u8,
            3 => b'0' + (line % 10) as u8,
            column => text[column],
        };
        at += 1;
    }
    block
}

/// As much of a body, from `offset` on, as stands in the block in one piece, and at most this many
/// bytes.
#[inline]
pub fn piece(offset: u64, bytes: u64) -> &'static [u8] {
    let from = (offset % BLOCK_BYTES as u64) as usize;
    let len = bytes.min((BLOCK_BYTES - from) as u64) as usize;
    &BLOCK[from..from + len]
}

/// The byte at this offset of a body.
pub fn byte_at(offset: u64) -> u8 {
    BLOCK[(offset % BLOCK_BYTES as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_the_block_repeats() {
        assert!(BLOCK.starts_with(b"0000 abc"));
        assert!(BLOCK.ends_with(b"345\n"));
        assert_eq!(&BLOCK[1023 * LINE_BYTES..][..5], b"1023 ");
        assert_eq!(byte_at(BLOCK_BYTES as u64 + 5), b'a');
    }
}
