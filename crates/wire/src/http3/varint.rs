//! Numbers of QUIC: the two highest bits of the first byte say how many bytes there are (RFC 9000, 16).

/// The largest number there is.
pub const MAX: u64 = (1 << 62) - 1;

/// Bytes of the longest.
pub const BYTES_MAX: usize = 8;

/// Reads a number and moves `at` behind it; None if the bytes end before it does, with `at` where it was.
#[inline]
pub fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    let len = 1 << (first >> 6);
    let rest = bytes.get(*at + 1..*at + len)?;
    *at += len;
    Some(rest.iter().fold(u64::from(first & 0x3f), |number, &byte| number << 8 | u64::from(byte)))
}

/// Appends a number in as few bytes as it needs.
///
/// # Panics
/// When it is above [`MAX`].
pub fn write(out: &mut Vec<u8>, number: u64) {
    assert!(number <= MAX, "{number} is no number of QUIC");
    let bytes = number.to_be_bytes();
    let len = len(number);
    let start = out.len();
    out.extend_from_slice(&bytes[8 - len..]);
    out[start] |= (len.trailing_zeros() as u8) << 6;
}

/// Bytes that [`write()`] appends.
#[inline]
pub fn len(number: u64) -> usize {
    match number {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 9000, A.1; the last is 37 in two bytes.
        let examples: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, number) in examples {
            let mut at = 0;
            assert_eq!(read(bytes, &mut at), Some(number));
            assert_eq!(at, bytes.len());
            for cut in 0..bytes.len() {
                let mut at = 0;
                assert_eq!((read(&bytes[..cut], &mut at), at), (None, 0));
            }
        }
    }

    #[test]
    fn what_is_written_is_read_and_as_short_as_it_can_be() {
        let edges = [0x3f, 0x3fff, 0x3fff_ffff].into_iter().flat_map(|edge| [edge, edge + 1]);
        for (number, bytes) in edges.chain([0, MAX]).zip([1, 2, 2, 4, 4, 8, 1, 8]) {
            let mut out = vec![7];
            write(&mut out, number);
            assert_eq!((out.len() - 1, len(number)), (bytes, bytes), "{number}");
            let mut at = 1;
            assert_eq!(read(&out, &mut at), Some(number));
        }
    }
}
