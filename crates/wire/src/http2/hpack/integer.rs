//! Numbers: a prefix of some bits, and continuation bytes of seven bits each (RFC 7541, 5.1).

use super::HpackFault;

/// Continuation bytes a number of 32 bits can need. More would be padding.
const CONTINUATION_BYTES_MAX: usize = 5;

/// Reads a number whose first byte, at `at`, gives its lowest `prefix_bits` bits to it, and moves
/// `at` behind it.
///
/// # Errors
/// When the bytes end before the number does, or it does not fit 32 bits.
#[inline(always)]
pub fn read(bytes: &[u8], at: &mut usize, prefix_bits: u32) -> Result<usize, HpackFault> {
    let Some(&first) = bytes.get(*at) else { return Err(HpackFault::Truncated) };
    *at += 1;
    let prefix_max = (1 << prefix_bits) - 1;
    let prefix = usize::from(first) & prefix_max;
    if prefix < prefix_max { Ok(prefix) } else { read_more(bytes, at, prefix_max) }
}

#[inline(never)]
fn read_more(bytes: &[u8], at: &mut usize, prefix_max: usize) -> Result<usize, HpackFault> {
    let mut value = prefix_max as u64;
    for position in 0..CONTINUATION_BYTES_MAX {
        let Some(&byte) = bytes.get(*at) else { return Err(HpackFault::Truncated) };
        *at += 1;
        value += u64::from(byte & 0x7f) << (7 * position);
        if byte & 0x80 == 0 {
            let fits = u32::try_from(value).map_err(|_| HpackFault::Integer)?;
            return Ok(fits as usize);
        }
    }
    Err(HpackFault::Integer)
}

/// Appends a number whose first byte has `pattern` above its lowest `prefix_bits` bits.
pub fn write(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, value: usize) {
    let prefix_max = (1 << prefix_bits) - 1;
    if value < prefix_max {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | prefix_max as u8);
    let mut rest = value - prefix_max;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pattern: u8, prefix_bits: u32, value: usize) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, pattern, prefix_bits, value);
        out
    }

    fn read_all(bytes: &[u8], prefix_bits: u32) -> Result<(usize, usize), HpackFault> {
        let mut at = 0;
        read(bytes, &mut at, prefix_bits).map(|value| (value, at))
    }

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 7541, C.1.1 to C.1.3.
        assert_eq!(written(0, 5, 10), [0b01010]);
        assert_eq!(written(0, 5, 1_337), [0b11111, 0b1001_1010, 0b0000_1010]);
        assert_eq!(written(0, 8, 42), [0b0010_1010]);
        assert_eq!(read_all(&[0b1110_1010], 5), Ok((10, 1)));
        assert_eq!(read_all(&[0b1111_1111, 0b1001_1010, 0b0000_1010], 5), Ok((1_337, 3)));
        assert_eq!(read_all(&[0b0010_1010], 8), Ok((42, 1)));
    }

    #[test]
    fn what_is_written_is_read() {
        for prefix_bits in 4..=8 {
            for value in (0..70_000).chain([1 << 20, u32::MAX as usize]) {
                let bytes = written(0, prefix_bits, value);
                assert_eq!(read_all(&bytes, prefix_bits), Ok((value, bytes.len())));
                for cut in 0..bytes.len() {
                    assert_eq!(read_all(&bytes[..cut], prefix_bits), Err(HpackFault::Truncated));
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_32_bits_are_refused() {
        assert_eq!(read_all(&[0x7f, 0x80, 0xff, 0xff, 0xff, 0x0f], 7), Ok((0xffff_ffff, 6)));
        assert_eq!(read_all(&[0x7f, 0x81, 0xff, 0xff, 0xff, 0x0f], 7), Err(HpackFault::Integer));
        assert_eq!(read_all(&[0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f], 7), Err(HpackFault::Integer));
        // Zeros that never end.
        let endless = [&[0x7f][..], &[0x80; 100]].concat();
        assert_eq!(read_all(&endless, 7), Err(HpackFault::Integer));
        // Some padding fits (nothing in section 5.1 forbids it).
        assert_eq!(read_all(&[0x7f, 0x81, 0x80, 0x00], 7), Ok((128, 4)));
    }
}
