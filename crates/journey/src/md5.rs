//! MD5 (RFC 1321), for the query of that name: it proves nothing, it tells bodies apart.

use std::sync::LazyLock;

/// The integer part of 2^32 × |sin(step)|, as the RFC has its table.
static SINES: LazyLock<[u32; 64]> = LazyLock::new(|| {
    std::array::from_fn(|step| (f64::sin(step as f64 + 1.0).abs() * 4_294_967_296.0) as u32)
});

/// The digest of `bytes`.
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut blocks = bytes.chunks_exact(64);
    for block in &mut blocks {
        mix(&mut state, block);
    }
    let mut last = blocks.remainder().to_vec();
    last.push(0x80);
    while last.len() % 64 != 56 {
        last.push(0);
    }
    last.extend((bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in last.chunks_exact(64) {
        mix(&mut state, block);
    }
    let mut digest = [0; 16];
    for (out, word) in digest.chunks_exact_mut(4).zip(state) {
        out.copy_from_slice(&u32::to_le_bytes(word));
    }
    digest
}

fn mix(state: &mut [u32; 4], block: &[u8]) {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let word = |index: usize| {
        let at = index * 4;
        u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
    };
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, index) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(word(index)).wrapping_add(SINES[step]);
        let turned = sum.rotate_left(SHIFTS[step / 16][step % 4]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    for (own, new) in state.iter_mut().zip([a, b, c, d]) {
        *own = own.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1321, A.5.
    #[test]
    fn the_test_suite_of_the_rfc() {
        let hex = |text: &str| md5(text.as_bytes()).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(&"1234567890".repeat(8)), "57edf4a22be3c955ac49da2e2107b67a");
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        assert_eq!(hex(alphabet), "d174ab98d277d9f5a5611c2c9f419d9f");
    }
}
