//! Lines of a peer that may send anything: each is read up to a bound, and what is longer is an error, not memory.

use std::io::{self, BufRead};

/// Longest line but for those that are named below, bytes: rows of many groups, findings.
pub const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest assignment, bytes: the files of a load are in it.
pub const ASSIGNMENT_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Longest line with a Run, bytes.
pub const RUN_BYTES_MAX: usize = 128 * 1024 * 1024;

/// The next line without its end, `None` at the end of the stream. A last line without an end is a line.
///
/// # Errors
/// When the stream fails, the line is longer than `bytes_max`, or it is not UTF-8.
pub fn next(from: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let part = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part?,
        };
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(part.len());
        if line.len() + taken > bytes_max {
            let text = format!("a line is longer than {bytes_max} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let has_ended = part.is_empty();
        line.extend_from_slice(&part[..taken]);
        from.consume(taken + usize::from(end.is_some()));
        if has_ended && line.is_empty() {
            return Ok(None);
        }
        if has_ended || end.is_some() {
            let text = String::from_utf8(line);
            return text.map(Some).map_err(|_| {
                io::Error::new(io::ErrorKind::InvalidData, "a line is not UTF-8 text")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_sent_is_cut_at_its_ends(
            lines in prop::collection::vec("[^\\n]{0,40}", 0..8),
            buffer_bytes in 1..20usize,
        ) {
            let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let mut from = BufReader::with_capacity(buffer_bytes, text.as_bytes());
            let read: Vec<String> =
                std::iter::from_fn(|| next(&mut from, 1000).unwrap()).collect();
            prop_assert_eq!(read, lines);
        }

        #[test]
        fn any_bytes_are_lines_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut from = BufReader::with_capacity(7, bytes.as_slice());
            while let Ok(Some(line)) = next(&mut from, 50) {
                prop_assert!(line.len() <= 50);
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_is_in_memory() {
        let mut from = BufReader::new(io::repeat(b'x'));
        assert!(next(&mut from, 100_000).unwrap_err().to_string().contains("100000 bytes"));
        let mut last = BufReader::new(b"no end".as_slice());
        assert_eq!(next(&mut last, 100).unwrap().as_deref(), Some("no end"));
        assert_eq!(next(&mut last, 100).unwrap(), None);
    }
}
