//! The bytes of an input, taken as choices one after the other.

/// What is left of an input. Behind its end every choice is 0, which always means the usual.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    bytes: Vec<u8>,
    next: usize,
}

impl Choices {
    /// The choices that these bytes are.
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), next: 0 }
    }

    /// Whether every choice to come is 0.
    pub fn are_over(&self) -> bool {
        self.bytes[self.next..].iter().all(|byte| *byte == 0)
    }

    /// The next one.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1).min(self.bytes.len());
        byte
    }

    /// One of `0..=most`: small numbers as they are, from 128 on as a share of `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        match usize::from(self.byte()) {
            number @ 0..128 => number.min(most),
            number => most * (number - 127) / 129,
        }
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::from(self.byte()) % all.len()]
    }

    /// As many of the bytes themselves as the next one says, up to `most`.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = usize::from(self.byte()).min(most);
        (0..count).map(|_| self.byte()).collect()
    }
}
