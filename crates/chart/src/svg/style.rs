//! How charts look: colours for light and dark that people tell apart whatever colours they see,
//! and for those who see none a marker and a dash for each series.

use std::fmt::Write;

/// Colours of the series on white, by slot. Neighbours and all others differ by a CIE76 distance of
/// 25 or more for normal sight, protanopia, deuteranopia and tritanopia (G. M. Machado et al., "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009), and each has
/// a contrast of 3 to 1 to its ground (WCAG 2.1, 1.4.11). A test computes both.
pub(crate) const LIGHT: [&str; 6] =
    ["#2a4fbc", "#d46a00", "#00a074", "#a571be", "#652a08", "#1b1420"];
/// The same on the dark ground.
pub(crate) const DARK: [&str; 6] =
    ["#6a94ff", "#e0702f", "#2fe3a0", "#c07ab8", "#ffde4a", "#e4f6ff"];

/// Parts of a bar on white: told apart by how light they are.
const PARTS_LIGHT: [&str; 4] = ["#24508f", "#3f9bb0", "#e0b252", "#b3bcc6"];
/// The same on the dark ground.
const PARTS_DARK: [&str; 4] = ["#4a7fd4", "#78c2c4", "#fbeab5", "#75808b"];

/// Ground and texts, light and dark: ground, text, quiet text, grid, axis.
const INK_LIGHT: [&str; 5] = ["#ffffff", "#1c2127", "#59636e", "#e3e7eb", "#8b949e"];
const INK_DARK: [&str; 5] = ["#15181c", "#e6eaee", "#9ba6b1", "#2c3238", "#6b7580"];

/// The dashes of a series' line, by slot.
const DASHES: [&str; 6] = ["", "7 3", "2 3", "9 3 2 3", "14 4", "4 2"];

/// The dashes of this slot.
pub(super) fn dashes(slot: usize) -> &'static str {
    DASHES[slot % DASHES.len()]
}

/// The class that gives things the colour of this slot.
pub(super) fn colour(slot: usize) -> String {
    format!("s{}", slot % LIGHT.len())
}

/// The class that gives things the colour of this part of a bar.
pub(super) fn part(index: usize) -> String {
    format!("p{}", index % PARTS_LIGHT.len())
}

/// The outline of a marker around 0, 0, by slot. Eight shapes over six colours: no two of 24 series
/// are the same.
pub(super) fn marker(slot: usize) -> &'static str {
    const SHAPES: [&str; 8] = [
        "M-3.6,0a3.6,3.6 0 1,0 7.2,0a3.6,3.6 0 1,0 -7.2,0z",
        "M-3.3,-3.3h6.6v6.6h-6.6z",
        "M0,-4.4L4.2,3.4H-4.2z",
        "M0,-4.8L4.4,0L0,4.8L-4.4,0z",
        "M-4,-2.4L-2.4,-4L0,-1.6L2.4,-4L4,-2.4L1.6,0L4,2.4L2.4,4L0,1.6L-2.4,4L-4,2.4L-1.6,0z",
        "M0,4.4L4.2,-3.4H-4.2z",
        "M-1.2,-4.4h2.4v3.2h3.2v2.4h-3.2v3.2h-2.4v-3.2h-3.2v-2.4h3.2z",
        "M-4.2,-1.8h8.4v3.6h-8.4z",
    ];
    SHAPES[slot % SHAPES.len()]
}

/// The style sheet of every chart: for the file of one, and once for a page of many. Without
/// variables, which viewers other than browsers do not know. Paper is always white.
pub fn css() -> String {
    let mut css = String::from(
        ".ablaze-chart{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\
         Arial,\"Noto Sans\",sans-serif;font-size:12px;font-variant-numeric:tabular-nums}\
         .ablaze-chart text{fill:currentColor;stroke:none}\
         .ablaze-chart .t{font-size:15px;font-weight:600}\
         .ablaze-chart .n{font-size:11px}\
         .ablaze-chart .l{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}\
         .ablaze-chart .e{fill:none;stroke:currentColor;stroke-width:1.25}\
         .ablaze-chart .k{fill:currentColor;stroke:none}\
         .ablaze-chart .b{fill:currentColor;stroke:none;opacity:.14}\
         .ablaze-chart .h{fill:transparent;stroke:none}\
         .ablaze-chart .h:hover{fill:currentColor;opacity:.25}\
         .ablaze-chart .d{fill:none;stroke:currentColor;stroke-width:1;stroke-dasharray:3 3}\
         .ablaze-chart .g line,.ablaze-chart .x line{stroke:currentColor;stroke-width:1}",
    );
    css.push_str(&colours(&INK_LIGHT, &LIGHT, &PARTS_LIGHT));
    let dark = colours(&INK_DARK, &DARK, &PARTS_DARK);
    let _ = write!(css, "@media screen and (prefers-color-scheme:dark){{{dark}}}");
    css
}

fn colours(ink: &[&str; 5], slots: &[&str], parts: &[&str]) -> String {
    let [ground, text, quiet, grid, axis] = ink;
    let mut css = format!(
        ".ablaze-chart{{color:{text}}}.ablaze-chart .ground{{fill:{ground}}}\
         .ablaze-chart .m,.ablaze-chart .m text{{color:{quiet}}}\
         .ablaze-chart .g{{color:{grid}}}.ablaze-chart .x{{color:{axis}}}\
         .ablaze-chart .o{{stroke:{ground};stroke-width:3;paint-order:stroke;\
         stroke-linejoin:round}}"
    );
    for (slot, colour) in slots.iter().enumerate() {
        let _ = write!(css, ".ablaze-chart .s{slot}{{color:{colour}}}");
    }
    for (index, colour) in parts.iter().enumerate() {
        let _ = write!(css, ".ablaze-chart .p{index}{{color:{colour}}}");
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// Linear light of `#rrggbb` (IEC 61966-2-1).
    fn linear(colour: &str) -> Rgb {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        [channel(1), channel(3), channel(5)]
    }

    fn luminance([r, g, b]: Rgb) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(left: &str, right: &str) -> f64 {
        let (left, right) = (luminance(linear(left)), luminance(linear(right)));
        (left.max(right) + 0.05) / (left.min(right) + 0.05)
    }

    /// CIE L*a*b*, D65.
    fn lab(rgb: Rgb) -> Rgb {
        let [r, g, b] = rgb.map(|value| value.clamp(0.0, 1.0));
        let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(luminance([r, g, b]));
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn seen(matrix: &[[f64; 3]; 3], rgb: Rgb) -> Rgb {
        matrix.map(|row| row.iter().zip(rgb).map(|(factor, value)| factor * value).sum())
    }

    /// Normal sight, and protanopia, deuteranopia and tritanopia at full severity (Machado 2009,
    /// table 1).
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    #[test]
    fn everyone_tells_the_series_apart() {
        for colours in [LIGHT, DARK] {
            for matrix in &SIGHTS {
                let seen = colours.map(|colour| lab(seen(matrix, linear(colour))));
                for (index, left) in seen.iter().enumerate() {
                    for right in &seen[..index] {
                        let squares = left.iter().zip(right).map(|(l, r)| (l - r).powi(2));
                        let distance = squares.sum::<f64>().sqrt();
                        assert!(distance >= 25.0, "{distance} {colours:?} {index}");
                    }
                }
            }
        }
    }

    #[test]
    fn everything_stands_out_from_its_ground() {
        for (ink, colours) in [(INK_LIGHT, LIGHT), (INK_DARK, DARK)] {
            for colour in colours {
                assert!(contrast(colour, ink[0]) >= 3.0, "{colour}");
            }
            // Text: WCAG 2.1, 1.4.3.
            assert!(contrast(ink[1], ink[0]) >= 7.0 && contrast(ink[2], ink[0]) >= 4.5);
        }
    }

    #[test]
    fn parts_differ_without_colour() {
        for parts in [PARTS_LIGHT, PARTS_DARK] {
            let light = parts.map(|part| lab(linear(part))[0]);
            for pair in light[..3].windows(2) {
                assert!(pair[1] - pair[0] >= 12.0, "{light:?}");
            }
        }
    }
}
