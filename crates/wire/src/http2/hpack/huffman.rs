//! The Huffman code of strings (RFC 7541, 5.2 and appendix B).
//!
//! The code is canonical: symbols of equal length have consecutive codes in their own order, and
//! longer codes follow shorter ones. So the lengths say everything, and a code too long for the
//! table is found by comparing with the first code of each length.

use super::HpackFault;

/// Length of each symbol's code in bits; the last symbol ends a string and is never sent.
const CODE_BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const CODE_BITS_MIN: u32 = 5;
const CODE_BITS_MAX: usize = 30;
const END_OF_STRING: u16 = 256;
/// Every code of up to this many bits is in the table, and none has one bit more.
const TABLE_BITS: u32 = 8;

/// The code of each symbol, in its lowest bits.
static CODES: [u32; 257] = CANONICAL.codes;
/// By the next [`TABLE_BITS`] bits: the symbol and, above it, the length of its code; 0 for
/// longer codes.
static TABLE: [u16; 1 << TABLE_BITS] = table();
/// By length: the first code, how many there are, and where their symbols begin.
static LENGTHS: [(u32, u32, u16); CODE_BITS_MAX + 1] = CANONICAL.lengths;
/// All symbols by rising code.
static SYMBOLS: [u16; 257] = CANONICAL.symbols;

struct Canonical {
    codes: [u32; 257],
    lengths: [(u32, u32, u16); CODE_BITS_MAX + 1],
    symbols: [u16; 257],
}

const CANONICAL: Canonical = canonical();

const fn canonical() -> Canonical {
    let mut all =
        Canonical { codes: [0; 257], lengths: [(0, 0, 0); CODE_BITS_MAX + 1], symbols: [0; 257] };
    let (mut code, mut sorted, mut bits) = (0, 0, 1);
    while bits <= CODE_BITS_MAX {
        code <<= 1;
        let (first_code, first_sorted) = (code, sorted);
        let mut symbol = 0;
        while symbol < 257 {
            if CODE_BITS[symbol] as usize == bits {
                all.codes[symbol] = code;
                all.symbols[sorted] = symbol as u16;
                code += 1;
                sorted += 1;
            }
            symbol += 1;
        }
        all.lengths[bits] = (first_code, code - first_code, first_sorted as u16);
        bits += 1;
    }
    all
}

const fn table() -> [u16; 1 << TABLE_BITS] {
    let mut table = [0; 1 << TABLE_BITS];
    let mut symbol = 0;
    while symbol < 256 {
        let bits = CODE_BITS[symbol] as u32;
        if bits <= TABLE_BITS {
            let spare = TABLE_BITS - bits;
            let first = (CANONICAL.codes[symbol] << spare) as usize;
            let mut at = first;
            while at < first + (1 << spare) {
                table[at] = (bits as u16) << 8 | symbol as u16;
                at += 1;
            }
        }
        symbol += 1;
    }
    table
}

/// The most bytes `coded_bytes` can stand for.
pub const fn decoded_bytes_max(coded_bytes: usize) -> usize {
    coded_bytes * 8 / CODE_BITS_MIN as usize
}

/// Decodes `coded` into the beginning of `destination`; the number of bytes.
///
/// # Errors
/// When the string contains the end-of-string symbol, or its padding is not up to seven ones.
///
/// # Panics
/// When `destination` is shorter than [`decoded_bytes_max`].
pub fn decode(coded: &[u8], destination: &mut [u8]) -> Result<usize, HpackFault> {
    let destination = &mut destination[..decoded_bytes_max(coded.len())];
    // The next bits, from the highest one; behind those that count there may be others.
    let mut window = 0u64;
    let mut window_bits = 0u32;
    let (mut at, mut written) = (0, 0);
    loop {
        if let Some(eight) = coded[at..].first_chunk::<8>() {
            // As many whole bytes as there is room for.
            window |= u64::from_be_bytes(*eight) >> window_bits;
            let bytes = (63 - window_bits) / 8;
            at += bytes as usize;
            window_bits += bytes * 8;
        } else {
            while window_bits <= 56 && at < coded.len() {
                window |= u64::from(coded[at]) << (56 - window_bits);
                window_bits += 8;
                at += 1;
            }
        }
        let entry = loop {
            let entry = TABLE[(window >> (64 - TABLE_BITS)) as usize];
            let bits = u32::from(entry >> 8);
            if entry == 0 || bits > window_bits {
                break entry;
            }
            destination[written] = entry as u8;
            written += 1;
            window <<= bits;
            window_bits -= bits;
        };
        if at < coded.len() && (entry != 0 || window_bits < CODE_BITS_MAX as u32) {
            continue;
        }
        // A long code, or the padding: what lacks bits of a code looks like that with ones
        // behind it.
        let padded = window | u64::MAX.checked_shr(window_bits).unwrap_or(0);
        if padded == u64::MAX && window_bits < 8 {
            return Ok(written);
        }
        let (symbol, bits) = long_code(padded);
        if entry != 0 || bits > window_bits {
            return Err(HpackFault::Padding);
        }
        if symbol == END_OF_STRING {
            return Err(HpackFault::EndOfString);
        }
        destination[written] = symbol as u8;
        written += 1;
        window <<= bits;
        window_bits -= bits;
    }
}

/// The symbol whose code begins the window, and the length of the code, which is longer than the
/// table knows.
#[inline(never)]
fn long_code(window: u64) -> (u16, u32) {
    for (bits, &(first, count, sorted)) in LENGTHS.iter().enumerate().skip(TABLE_BITS as usize + 1)
    {
        let place = ((window >> (64 - bits)) as u32).wrapping_sub(first);
        if place < count {
            return (SYMBOLS[usize::from(sorted) + place as usize], bits as u32);
        }
    }
    // The code is complete: every sequence of 30 bits begins with one of its codes.
    (END_OF_STRING, CODE_BITS_MAX as u32)
}

/// Length of `bytes` when coded.
pub fn encoded_bytes(bytes: &[u8]) -> usize {
    let bits: usize = bytes.iter().map(|&byte| usize::from(CODE_BITS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Appends `bytes`, coded and padded with ones.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let mut window = 0u64;
    let mut window_bits = 0u32;
    for &byte in bytes {
        let bits = u32::from(CODE_BITS[usize::from(byte)]);
        window = window << bits | u64::from(CODES[usize::from(byte)]);
        window_bits += bits;
        while window_bits >= 8 {
            window_bits -= 8;
            out.push((window >> window_bits) as u8);
        }
    }
    if window_bits > 0 {
        out.push((window << (8 - window_bits)) as u8 | 0xff >> window_bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, HpackFault> {
        let mut destination = vec![0; decoded_bytes_max(coded.len())];
        let written = decode(coded, &mut destination)?;
        destination.truncate(written);
        Ok(destination)
    }

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        assert_eq!(out.len(), encoded_bytes(bytes));
        out
    }

    #[test]
    fn codes_of_appendix_b() {
        let code = |symbol: usize| (CODES[symbol], CODE_BITS[symbol]);
        assert_eq!(code(0), (0x1ff8, 13));
        assert_eq!(code(b'\n'.into()), (0x3fff_fffc, 30));
        assert_eq!(code(b' '.into()), (0x14, 6));
        assert_eq!(code(b'0'.into()), (0x0, 5));
        assert_eq!(code(b'Z'.into()), (0xfd, 8));
        assert_eq!(code(b'\\'.into()), (0x7fff0, 19));
        assert_eq!(code(127), (0xfff_fffc, 28));
        assert_eq!(code(255), (0x3ff_ffee, 26));
        assert_eq!(code(256), (0x3fff_ffff, 30));
    }

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encoded(&all)).unwrap(), all);
        for a in 0..=255u8 {
            for b in (0..=255u8).step_by(5) {
                assert_eq!(decoded(&encoded(&[a, b, a])).unwrap(), [a, b, a]);
            }
        }
    }

    #[test]
    fn lengths_around_the_window() {
        for len in 0..40 {
            for byte in [b'a', b'Z', b'!', b'\n', 0xff] {
                let text = vec![byte; len];
                assert_eq!(decoded(&encoded(&text)).unwrap(), text);
            }
        }
    }

    #[test]
    fn padding_is_up_to_seven_ones() {
        // 'a' is 00011, '0' is 00000: three bits of padding.
        assert_eq!(decoded(&[0b0001_1111]).unwrap(), b"a");
        assert_eq!(decoded(&[0b0001_1110]), Err(HpackFault::Padding));
        assert_eq!(decoded(&[0b0001_1000]), Err(HpackFault::Padding));
        // Eight ones and more are no padding (5.2).
        assert_eq!(decoded(&[0xff]), Err(HpackFault::Padding));
        assert_eq!(decoded(&[0b0001_1111, 0xff]), Err(HpackFault::Padding));
        assert_eq!(decoded(&[0b0001_1111, 0xff, 0xff]), Err(HpackFault::Padding));
        // Seven ones are: ':' is 1011100, 'Z' is 11111101.
        assert_eq!(decoded(&[0xfd]).unwrap(), b"Z");
        assert_eq!(decoded(&[0b1011_1001, 0b0111_0011, 0xff]), Err(HpackFault::Padding));
        assert_eq!(decoded(&encoded(b"::1111")[..]).unwrap(), b"::1111");
    }

    #[test]
    fn the_end_of_string_symbol_is_refused() {
        assert_eq!(decoded(&[0xff; 4]), Err(HpackFault::EndOfString));
        assert_eq!(decoded(&[0xff; 8]), Err(HpackFault::EndOfString));
        assert_eq!(decoded(&[0b0001_1111, 0xff, 0xff, 0xff, 0xff]), Err(HpackFault::EndOfString));
    }
}
