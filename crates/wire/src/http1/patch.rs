//! Fills the fields of a [`Template`]'s copy in: once per request, so in few instructions.

use crate::http1::request::{PatchValue, Template};

const TEN_TO_8: u64 = 100_000_000;

/// The fields of one template, ready for the hot path.
#[derive(Debug, Clone)]
pub struct Patcher {
    fields: Box<[Field]>,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    value: PatchValue,
}

/// A small fast source of random digits: wyrand (W. Yi, public domain). Good enough to spread
/// requests over a key space, and for nothing that must be secret.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence number `stream` (a worker's number) of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        // The finalizer of SplitMix64 (Steele, Lea, Flood 2014) keeps neighbouring streams apart.
        let mut state = seed.wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(state ^ (state >> 31))
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// A random number below 10^8, each as likely as the others up to 10^8 / 2^64.
    #[inline(always)]
    fn eight_digits(&mut self) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(TEN_TO_8)) >> 64) as u64
    }
}

impl Patcher {
    /// For copies of this template.
    pub fn new(template: &Template) -> Self {
        let field = |patch: &crate::http1::request::Patch| Field {
            start: patch.offset as usize,
            end: patch.offset as usize + patch.width as usize,
            value: patch.value,
        };
        Self { fields: template.patches.iter().map(field).collect() }
    }

    /// Whether there is nothing to fill in: the template can be sent as it is.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Fills the fields in. `destination` begins with a copy of the template (patched before or
    /// not); `number` is the number of the request in the run. Of a number with more digits than
    /// its field the last ones are written.
    ///
    /// # Panics
    /// When `destination` is shorter than the template.
    #[inline]
    pub fn apply(&self, destination: &mut [u8], number: u64, random: &mut Random) {
        for field in &self.fields {
            let digits = &mut destination[field.start..field.end];
            match field.value {
                PatchValue::Sequence => write_number(digits, number),
                PatchValue::Random => write(digits, || random.eight_digits()),
            }
        }
    }
}

/// Writes a number, padded with zeros on the left.
#[inline(always)]
fn write_number(digits: &mut [u8], mut number: u64) {
    write(digits, || {
        let last = number % TEN_TO_8;
        number /= TEN_TO_8;
        last
    });
}

/// Fills a field from its end, eight digits at a time; `eight_digits` gives numbers below 10^8.
#[inline(always)]
fn write(digits: &mut [u8], mut eight_digits: impl FnMut() -> u64) {
    let mut left = digits.len();
    while let Some(last) = left.checked_sub(8).and_then(|at| digits[at..].first_chunk_mut::<8>()) {
        *last = ascii(eight_digits()).to_le_bytes();
        left -= 8;
    }
    if left > 0 {
        write_last(&mut digits[..left], eight_digits());
    }
}

/// Writes the last digits of a number below 10^8 into a field of at most seven.
#[inline(always)]
fn write_last(digits: &mut [u8], number: u64) {
    if let [tens, units] = digits {
        let last = (number % 100) as u8;
        (*tens, *units) = (b'0' + last / 10, b'0' + last % 10);
        return;
    }
    let eight = ascii(number).to_le_bytes();
    for (digit, value) in digits.iter_mut().rev().zip(eight.into_iter().rev()) {
        *digit = value;
    }
}

/// The eight digits of a number below 10^8 as text, the first in the lowest byte: halved three
/// times, all parts at once. Multiplying and shifting divides: by 100 exactly up to 9,999
/// (10,486 / 2^20), by 10 exactly up to 99 (103 / 2^10).
#[inline(always)]
fn ascii(number: u64) -> u64 {
    let halves = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - hundreds * 100) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - tens * 10) << 8;
    digits | 0x3030_3030_3030_3030
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_those_of_the_standard_library() {
        for part in 0..10_000u64 {
            for number in [part, part * 10_000, part * 10_000 + 9_999 - part] {
                assert_eq!(ascii(number).to_le_bytes(), *format!("{number:08}").as_bytes());
            }
        }
    }

    #[test]
    fn any_number_fits_any_width() {
        for width in 1..=30 {
            for number in [0, 7, 99, 100, 12_345_678, 123_456_789, 4_294_967_296, u64::MAX] {
                let mut digits = vec![b'x'; width];
                write_number(&mut digits, number);
                let all = format!("{number:030}");
                assert_eq!(digits, &all.as_bytes()[30 - width..], "{number} in {width} digits");
            }
        }
    }
}
