//! The chunked coding against RFC 9112, 7.1, and against a decoder too simple to be wrong.

use ablaze_wire::http1::chunked::{ChunkError, Chunked, LINE_BYTES_MAX, Step, TRAILER_BYTES_MAX};
use proptest::prelude::*;

fn whole(bytes: &[u8]) -> Result<Step, ChunkError> {
    Chunked::new().feed(bytes)
}

fn done(consumed: usize, body_bytes: u64) -> Result<Step, ChunkError> {
    Ok(Step { consumed, body_bytes, done: true })
}

#[test]
fn bodies() {
    let reads = |bytes: &[u8], body_bytes| assert_eq!(whole(bytes), done(bytes.len(), body_bytes));
    reads(b"0\r\n\r\n", 0);
    assert_eq!(whole(b"5\r\nHello\r\n0\r\n\r\nHTTP"), done(15, 5));
    reads(b"a\r\n0123456789\r\n00000\r\n\r\n", 10);
    reads(b"00000000000000000000001\r\nx\r\n0\r\n\r\n", 1);
    // RFC 9112, 7.1.1 and 7.1.2.
    reads(b"1;a=b;c=\"d;\"\r\nx\r\n0;last\r\nDigest: y\r\nA:\r\n\r\n", 1);
    reads(b"1 \t;a\r\nx\r\n0  \r\n\r\n", 1);
    reads(b"1\nx\n0\nA: b\n\n", 1);
}

#[test]
fn an_unfinished_body_uses_every_byte() {
    let text = b"5\r\nHello\r\n0\r\nA: b\r\n\r";
    for len in 0..=text.len() {
        let step = whole(&text[..len]).unwrap();
        assert_eq!((step.consumed, step.done), (len, false));
    }
}

#[test]
fn behind_the_end_nothing_is_used() {
    let mut chunked = Chunked::new();
    assert_eq!(chunked.feed(b"0\r\n\r\n"), done(5, 0));
    assert_eq!(chunked.feed(b"more"), done(0, 0));
}

#[test]
fn what_breaks_the_coding_is_refused() {
    for wrong in [
        &b"\r\n"[..],
        b"g\r\n",
        b" 5\r\n",
        b";a\r\n",
        b"0x5\r\n",
        b"-1\r\n",
        b"5 5\r\n",
        b"5\rx",
        b"5;a\rb",
        b"5;\0",
        b"1\r\nxx",
        b"1\r\nx\rx",
        b"1\r\nx0\r\n",
        b"0\r\n\rx",
        b"0\r\nno colon\r\n",
        b"0\r\nnocolon\r\n",
        b"0\r\n: x\r\n",
        b"0\r\n folded\r\n",
        b"0\r\nA: b\rc",
        b"0\r\nA: \0",
        b"10000000000000000\r\n",
        b"fffffffffffffffff\r\n",
    ] {
        assert!(whole(wrong).is_err(), "{:?}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn the_largest_size_is_no_overflow() {
    let mut chunked = Chunked::new();
    assert!(chunked.feed(b"ffffffffffffffff\r\n").is_ok());
    assert_eq!(chunked.remaining_in_chunk(), u64::MAX);
    chunked.skip(u64::MAX - 3);
    assert_eq!(chunked.remaining_in_chunk(), 3);
    assert_eq!(chunked.feed(b"abc\r\n0\r\n\r\n"), done(10, 3));
}

#[test]
fn lines_and_trailers_are_bounded() {
    let line = |extension: u32| [b"1;", &vec![b'a'; extension as usize][..], b"\r\n"].concat();
    assert!(whole(&line(LINE_BYTES_MAX - 4)).is_ok());
    assert!(whole(&line(LINE_BYTES_MAX - 3)).is_err());
    assert!(whole(&vec![b'0'; LINE_BYTES_MAX as usize + 1]).is_err());
    let trailers = |value: u32| [b"0\r\nA:", &vec![b'b'; value as usize][..], b"\r\n\r\n"].concat();
    assert!(whole(&trailers(TRAILER_BYTES_MAX - 6)).is_ok());
    assert!(whole(&trailers(TRAILER_BYTES_MAX - 5)).is_err());
    // The bound is for one body's lines each, not for all of them together.
    let many = b"1\r\nx\r\n".repeat(LINE_BYTES_MAX as usize);
    assert!(whole(&many).is_ok());
}

/// Skipping is the same as reading: fed in pieces of `piece` bytes, with all data dropped unread.
fn with_skips(bytes: &[u8], piece: usize) -> Result<Step, ChunkError> {
    let mut chunked = Chunked::new();
    let mut total = Step { consumed: 0, body_bytes: 0, done: false };
    while total.consumed < bytes.len() && !total.done {
        let rest = &bytes[total.consumed..];
        let skipped = chunked.remaining_in_chunk().min(rest.len() as u64);
        chunked.skip(skipped);
        total.consumed += skipped as usize;
        total.body_bytes += skipped;
        let rest = &rest[skipped as usize..];
        let step = chunked.feed(&rest[..piece.min(rest.len())])?;
        total.consumed += step.consumed;
        total.body_bytes += step.body_bytes;
        total.done = step.done;
    }
    Ok(total)
}

/// A decoder of complete, strictly written bodies: no state, no tolerance.
fn decode(mut bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let all = bytes.len();
    let mut body = Vec::new();
    let line = |bytes: &[u8]| bytes.windows(2).position(|w| w == b"\r\n");
    loop {
        let end = line(bytes)?;
        let text = std::str::from_utf8(&bytes[..end]).ok()?;
        let size = usize::from_str_radix(text.split(';').next()?, 16).ok()?;
        bytes = &bytes[end + 2..];
        if size == 0 {
            break;
        }
        body.extend_from_slice(bytes.get(..size)?);
        bytes = bytes.get(size..)?.strip_prefix(b"\r\n")?;
    }
    loop {
        let end = line(bytes)?;
        bytes = &bytes[end + 2..];
        if end == 0 {
            return Some((all - bytes.len(), body));
        }
    }
}

prop_compose! {
    fn encoded()(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..6),
        extension in prop_oneof![Just(""), Just(";a=b"), Just(";\"x y\"")],
        trailers in prop_oneof![Just(""), Just("A: b\r\n"), Just("A:\r\nB: c\r\n")],
        behind in proptest::collection::vec(any::<u8>(), 0..6),
    ) -> (Vec<u8>, usize, u64) {
        let mut bytes = Vec::new();
        for chunk in &chunks {
            bytes.extend(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend(format!("0\r\n{trailers}\r\n").as_bytes());
        let len = bytes.len();
        bytes.extend(behind);
        (bytes, len, chunks.iter().map(|c| c.len() as u64).sum())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_was_encoded_is_read((bytes, len, body_bytes) in encoded()) {
        prop_assert_eq!(decode(&bytes).map(|(len, body)| (len, body.len() as u64)),
            Some((len, body_bytes)));
        prop_assert_eq!(whole(&bytes), done(len, body_bytes));
        for piece in [1, 2, 3, 7, 64] {
            prop_assert_eq!(with_skips(&bytes, piece), done(len, body_bytes));
        }
    }

    #[test]
    fn every_split_gives_the_same_as_the_whole(
        (mut bytes, ..) in encoded(),
        spoiled in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
    ) {
        if let Some((at, byte)) = spoiled {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let expected = whole(&bytes);
        for cut in 0..=bytes.len() {
            let mut chunked = Chunked::new();
            let got = chunked.feed(&bytes[..cut]).and_then(|first| {
                let second = chunked.feed(&bytes[first.consumed..])?;
                Ok(Step {
                    consumed: first.consumed + second.consumed,
                    body_bytes: first.body_bytes + second.body_bytes,
                    done: second.done,
                })
            });
            prop_assert_eq!(&got, &expected, "cut at {}", cut);
        }
    }
}
