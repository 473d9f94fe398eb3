//! Cells to draw into: lines by dots, two by four in a cell as braille has them (Unicode, 2800 to
//! 28FF), and signs over them.

use super::Characters;

/// A grid of cells.
pub(super) struct Canvas {
    pub columns: usize,
    pub rows: usize,
    characters: Characters,
    /// Eight dots of a cell, in the order of their bits in braille.
    dots: Vec<u8>,
    signs: Vec<Option<char>>,
}

impl Canvas {
    pub fn new(columns: usize, rows: usize, characters: Characters) -> Self {
        let cells = columns * rows;
        Self { columns, rows, characters, dots: vec![0; cells], signs: vec![None; cells] }
    }

    /// What it is drawn in.
    pub fn characters(&self) -> Characters {
        self.characters
    }

    /// A straight line between two places, each 0 to 1 from the left and from the bottom.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (from, to) = (self.dot(from), self.dot(to));
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            let (x, y) = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.set(x.round() as usize, y.round() as usize);
        }
    }

    /// A sign over whatever is there.
    pub fn sign(&mut self, at: (f64, f64), sign: char) {
        let (x, y) = self.dot(at);
        let cell = (y.round() as usize / 4) * self.columns + x.round() as usize / 2;
        if let Some(place) = self.signs.get_mut(cell) {
            *place = Some(sign);
        }
    }

    /// The characters of a row, from the top.
    pub fn row(&self, row: usize) -> String {
        let cell = |column: usize| {
            let cell = row * self.columns + column;
            match (self.signs[cell], self.dots[cell], self.characters) {
                (Some(sign), _, _) => sign,
                (None, 0, _) => ' ',
                (None, dots, Characters::Unicode) => {
                    char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ')
                }
                (None, _, Characters::Ascii) => '.',
            }
        };
        (0..self.columns).map(cell).collect()
    }

    fn dot(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let place = |share: f64, dots: usize| share.clamp(0.0, 1.0) * (dots as f64 - 1.0).max(0.0);
        (place(x, self.columns * 2), place(1.0 - y, self.rows * 4))
    }

    fn set(&mut self, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let cell = (y / 4) * self.columns + x / 2;
        if let Some(dots) = self.dots.get_mut(cell) {
            *dots |= BITS[y % 4][x % 2];
        }
    }
}
