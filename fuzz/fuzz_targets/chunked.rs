//! The chunked reader: never panics, sees the same in pieces as at once, with data skipped as
//! with data read, and agrees with a decoder of strictly written bodies where that accepts.
#![no_main]

use ablaze_wire::http1::chunked::{ChunkError, Chunked, Step};
use libfuzzer_sys::fuzz_target;

// The first byte chooses how, the others are the body.
fuzz_target!(|input: &[u8]| {
    let Some((piece, bytes)) = input.split_first() else { return };
    let whole = Chunked::new().feed(bytes);
    assert_eq!(in_pieces(bytes, usize::from(piece % 9) + 1, false), whole);
    assert_eq!(in_pieces(bytes, usize::from(piece % 9) + 1, true), whole);
    if let Some((len, body_bytes)) = decode(bytes) {
        assert_eq!(whole, Ok(Step { consumed: len, body_bytes, done: true }));
    }
});

fn in_pieces(bytes: &[u8], piece: usize, skip: bool) -> Result<Step, ChunkError> {
    let mut chunked = Chunked::new();
    let mut total = Step { consumed: 0, body_bytes: 0, done: false };
    while total.consumed < bytes.len() && !total.done {
        let rest = bytes.len() - total.consumed;
        if skip {
            let skipped = chunked.remaining_in_chunk().min(rest as u64);
            chunked.skip(skipped);
            total.consumed += skipped as usize;
            total.body_bytes += skipped;
        }
        let rest = &bytes[total.consumed..];
        let step = chunked.feed(&rest[..piece.min(rest.len())])?;
        total.consumed += step.consumed;
        total.body_bytes += step.body_bytes;
        total.done = step.done;
    }
    Ok(total)
}

/// Length of a complete, strictly written body, and of its data.
fn decode(mut bytes: &[u8]) -> Option<(usize, u64)> {
    let all = bytes.len();
    let mut body_bytes = 0;
    let line = |bytes: &[u8]| bytes.windows(2).position(|w| w == b"\r\n");
    loop {
        let end = line(bytes)?;
        let digits = &bytes[..end];
        if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        bytes = &bytes[end + 2..];
        if size == 0 {
            break;
        }
        body_bytes += size as u64;
        bytes = bytes.get(size..)?.strip_prefix(b"\r\n")?;
    }
    loop {
        let end = line(bytes)?;
        let (name, value) = bytes.split_at(end);
        bytes = &value[2..];
        if end == 0 {
            return Some((all - bytes.len(), body_bytes));
        }
        let colon = name.iter().position(|&b| b == b':')?;
        let plain = name[..colon].iter().all(u8::is_ascii_alphanumeric)
            && name[colon..].iter().all(|b| (0x20..0x7f).contains(b));
        if colon == 0 || !plain {
            return None;
        }
    }
}
