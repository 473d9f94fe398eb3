//! Fills the fields of a [`Template`]'s copy in: once per request, so in few instructions.
//!
//! A [`Patcher`] belongs to a template, [`Digits`] to a worker, which patches all its templates
//! with it: its counter is quick when numbers mostly follow each other.

use ablaze_random::Wyrand;

use crate::http1::request::{Patch, PatchValue, Template};

const TEN_TO_8: u64 = 100_000_000;

/// The fields of one template, ready for the hot path.
#[derive(Debug, Clone)]
pub struct Patcher {
    /// Where the first field for a number is, if it is ten wide, or [`NOWHERE`]: this and the next are what people write.
    number_of_ten: u32,
    /// Where the first random field is, if it is eight wide, or [`NOWHERE`].
    random_of_eight: u32,
    /// All others, in their order.
    others: Box<[Field]>,
}

/// No template is as long.
const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    start: u32,
    width: u32,
    kind: Kind,
}

/// The widths people use most have their own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    SequenceOfTen,
    RandomOfEight,
    Sequence,
    Random,
}

/// Where the digits come from: a counter of requests and a source of random numbers.
#[derive(Debug, Clone)]
pub struct Digits {
    counter: Counter,
    random: Random,
}

impl Digits {
    /// The random digits are those of stream `stream` (a worker's number) of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { counter: Counter::new(0), random: Random::new(seed, stream) }
    }
}

impl Patcher {
    /// For copies of this template.
    pub fn new(template: &Template) -> Self {
        Self::from_patches(&template.patches)
    }

    /// For copies of bytes that have these places.
    pub fn from_patches(patches: &[Patch]) -> Self {
        let fields = patches
            .iter()
            .filter_map(|patch| Some(Field { start: patch.offset, ..Field::of(patch)? }));
        let mut others: Vec<Field> = fields.collect();
        let mut take_first = |alike: [Kind; 2]| {
            let first = others.iter().position(|field| alike.contains(&field.kind))?;
            (others[first].kind == alike[0]).then(|| others.remove(first).start)
        };
        let number_of_ten = take_first([Kind::SequenceOfTen, Kind::Sequence]).unwrap_or(NOWHERE);
        let random_of_eight = take_first([Kind::RandomOfEight, Kind::Random]).unwrap_or(NOWHERE);
        Self { number_of_ten, random_of_eight, others: others.into() }
    }

    /// Whether there is nothing to fill in: the template can be sent as it is.
    pub fn is_empty(&self) -> bool {
        self.number_of_ten == NOWHERE && self.random_of_eight == NOWHERE && self.others.is_empty()
    }

    /// Fills the fields in. `destination` begins with a copy of the template (patched before or
    /// not); `number` is the number of the request in the run. Of a number with more digits than
    /// its field the last ones are written.
    ///
    /// # Panics
    /// When `destination` is shorter than the template.
    #[inline(always)]
    pub fn apply(&self, destination: &mut [u8], number: u64, digits: &mut Digits) {
        if self.number_of_ten != NOWHERE {
            let start = self.number_of_ten as usize;
            digits.counter.write_ten(number, &mut destination[start..start + 10]);
        }
        if self.random_of_eight != NOWHERE {
            let start = self.random_of_eight as usize;
            let eight = digits.random.eight_digits().to_le_bytes();
            destination[start..start + 8].copy_from_slice(&eight);
        }
        if !self.others.is_empty() {
            self.fill_others(destination, number, digits);
        }
    }

    #[inline(never)]
    fn fill_others(&self, destination: &mut [u8], number: u64, digits: &mut Digits) {
        self.others.iter().for_each(|field| field.fill(destination, number, digits));
    }
}

impl Field {
    /// For a place that begins where this patch does; `None` if it is no digits.
    pub(super) fn of(patch: &Patch) -> Option<Self> {
        let kind = match (patch.value, patch.width) {
            (PatchValue::Sequence, 10) => Kind::SequenceOfTen,
            (PatchValue::Sequence, _) => Kind::Sequence,
            (PatchValue::Random, 8) => Kind::RandomOfEight,
            (PatchValue::Random, _) => Kind::Random,
            (PatchValue::Cell(_) | PatchValue::BodyLength, _) => return None,
        };
        Some(Self { start: 0, width: patch.width, kind })
    }

    /// Bytes that it fills.
    pub(super) fn width(&self) -> usize {
        self.width as usize
    }

    #[inline(always)]
    pub(super) fn fill(&self, destination: &mut [u8], number: u64, digits: &mut Digits) {
        let start = self.start as usize;
        if self.kind == Kind::SequenceOfTen {
            digits.counter.write_ten(number, &mut destination[start..start + 10]);
        } else if self.kind == Kind::RandomOfEight {
            let eight = digits.random.eight_digits().to_le_bytes();
            destination[start..start + 8].copy_from_slice(&eight);
        } else {
            self.write(destination, number, digits);
        }
    }

    /// Any width.
    #[inline(never)]
    fn write(&self, destination: &mut [u8], number: u64, digits: &mut Digits) {
        let start = self.start as usize;
        let place = &mut destination[start..start + self.width as usize];
        match self.kind {
            Kind::Sequence | Kind::SequenceOfTen => write_number(place, number),
            Kind::Random | Kind::RandomOfEight => digits.random.write(place),
        }
    }
}

/// Numbers as text, a hundred at a time: only the last two digits differ among them.
#[derive(Debug, Clone)]
struct Counter {
    /// The first number of the hundred.
    hundred: u64,
    /// Its last ten digits but the last two, which every number of it has its own of.
    text: [u8; 8],
}

impl Counter {
    fn new(number: u64) -> Self {
        let hundred = number - number % 100;
        let mut text = [0; 8];
        write_number(&mut text, hundred / 100);
        Self { hundred, text }
    }

    /// Writes the last ten digits of `number`. (No run gets from the last hundred of 64 bits back
    /// to the first.)
    #[inline(always)]
    fn write_ten(&mut self, number: u64, place: &mut [u8]) {
        let mut units = number.wrapping_sub(self.hundred) as usize;
        if units >= 100 {
            units = self.carry(number);
        }
        place[..8].copy_from_slice(&self.text);
        place[8..].copy_from_slice(&PAIRS[units]);
    }

    /// Goes to the hundred of another number; its place in it.
    #[inline(never)]
    fn carry(&mut self, number: u64) -> usize {
        *self = Self::new(number);
        (number % 100) as usize
    }
}

/// A source of random digits.
#[derive(Debug, Clone)]
struct Random(Wyrand);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        Self(Wyrand::new(seed, stream))
    }

    /// Eight random digits as text, the first in the lowest byte: each quarter of the random bits,
    /// taken as a fraction, times 100. No pair of digits is likelier than another by more than 1
    /// in 655.
    #[inline(always)]
    fn eight_digits(&mut self) -> u64 {
        const QUARTERS: u64 = 0x0000_ffff_0000_ffff;
        let bits = self.0.next_u64();
        let even = (((bits & QUARTERS) * 100) >> 16) & 0x0000_007f_0000_007f;
        let odd = (((bits >> 16) & QUARTERS) * 100) & 0x007f_0000_007f_0000;
        text_of_pairs(even | odd)
    }

    fn write(&mut self, place: &mut [u8]) {
        for piece in place.chunks_mut(8) {
            piece.copy_from_slice(&self.eight_digits().to_le_bytes()[..piece.len()]);
        }
    }
}

/// 00 to 99 as text.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Writes a number, padded with zeros on the left.
fn write_number(digits: &mut [u8], mut number: u64) {
    for eight in digits.rchunks_mut(8) {
        let text = eight_digits(number % TEN_TO_8).to_le_bytes();
        eight.copy_from_slice(&text[8 - eight.len()..]);
        number /= TEN_TO_8;
    }
}

/// The eight digits of a number below 10^8 as text, the first in the lowest byte: halved three
/// times, all parts at once. Multiplying and shifting divides: by 100 exactly up to 9,999
/// (10,486 / 2^20), by 10 exactly up to 99 (103 / 2^10).
fn eight_digits(number: u64) -> u64 {
    let halves = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    text_of_pairs(hundreds | (halves - hundreds * 100) << 16)
}

/// Four numbers below 100, one in each quarter, as text of eight digits.
#[inline(always)]
fn text_of_pairs(pairs: u64) -> u64 {
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    // The tens stay, the units (pairs - 10 * tens) go a byte higher: tens + 256 * units.
    let digits = (pairs << 8) - tens * 2_559;
    digits + 0x3030_3030_3030_3030
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_those_of_the_standard_library() {
        for part in 0..10_000u64 {
            for number in [part, part * 10_000, part * 10_000 + 9_999 - part] {
                assert_eq!(eight_digits(number).to_le_bytes(), *format!("{number:08}").as_bytes());
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

    #[test]
    fn the_counter_counts_by_any_steps() {
        let mut counter = Counter::new(0);
        let one_by_one = 0..12_000;
        let leaps = (0..5_000u64).map(|i| i * i * 1_000 + i % 13);
        let borders = [99_999_999, 100_000_000, 9_999_999_999, 10_000_000_000, 9, 10, u64::MAX];
        for number in one_by_one.chain(leaps).chain(borders) {
            let mut text = [0; 10];
            counter.write_ten(number, &mut text);
            assert_eq!(text, *format!("{:010}", number % 10_000_000_000).as_bytes());
        }
    }

    #[test]
    fn streams_of_a_seed_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).eight_digits();
        assert_eq!(first(1, 2), first(1, 2));
        let all: std::collections::HashSet<u64> =
            (0..8).flat_map(|seed| (0..8).map(move |stream| first(seed, stream))).collect();
        assert_eq!(all.len(), 64);
    }
}
