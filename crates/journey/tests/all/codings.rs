//! Bodies with content codings: decoded as Hurl does, and never longer than the limit.

use std::io::Write;

use ablaze_journey::{Headers, decoded};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

/// `brotli -c` of `{"a":1}`, and of 5,000,000 spaces.
const BROTLI: &[u8] = &[0x0b, 0x03, 0x80, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d, 0x03];
const BROTLI_BOMB: &[u8] =
    &[0x9b, 0x3f, 0x4b, 0x4c, 0xf8, 0x25, 0x40, 0xe2, 0xb1, 0x40, 0x20, 0x5f, 0x88, 0x09];

/// The same of `zstd -c`.
const ZSTD: &[u8] = &[
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x39, 0x00, 0x00, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d,
    0x48, 0x8b, 0xfc, 0x32,
];

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn of(coding: &str, body: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let fields = format!("Content-Encoding: {coding}\r\n");
    decoded(Headers::Lines(fields.as_bytes()), body, most).map(|body| body.into_owned())
}

const BODY: &[u8] = b"{\"a\":1}";

#[test]
fn codings_are_undone_in_their_order() {
    for (coding, body) in [
        ("gzip", gzip(BODY)),
        ("x-gzip", gzip(BODY)),
        ("GZIP", gzip(BODY)),
        ("gzip", [&gzip(BODY)[..], b"behind"].concat()),
        ("deflate", deflate(BODY)),
        ("br", BROTLI.to_vec()),
        ("zstd", ZSTD.to_vec()),
        ("identity", BODY.to_vec()),
        ("", BODY.to_vec()),
        ("gzip, deflate", deflate(&gzip(BODY))),
        ("br, identity,gzip", gzip(BROTLI)),
        ("zstd, gzip", gzip(ZSTD)),
    ] {
        assert_eq!(of(coding, &body, 100).as_deref(), Ok(BODY), "{coding}");
    }
    let two = b"Content-Encoding: deflate\r\nContent-Encoding: gzip\r\n";
    let body = gzip(&deflate(BODY));
    assert_eq!(&*decoded(Headers::Lines(two), &body, 100).unwrap(), BODY);
    // One frame behind the other is one body.
    assert_eq!(of("zstd", &[ZSTD, ZSTD].concat(), 100), Ok([BODY, BODY].concat()));
    // A frame of no bytes is a body of none.
    let empty = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00];
    assert_eq!(of("zstd", &empty, 100), Ok(Vec::new()));
}

#[test]
fn what_cannot_be_decoded_is_named() {
    for (coding, body) in [
        ("gzip", BODY.to_vec()),
        ("gzip", Vec::new()),
        ("gzip", gzip(&BODY.repeat(50))[..30].to_vec()),
        ("deflate", deflate(BODY)[2..].to_vec()),
        ("br", BROTLI[..5].to_vec()),
        ("zstd", ZSTD[..15].to_vec()),
        ("zstd", [ZSTD, b"behind"].concat()),
        ("zstd", Vec::new()),
    ] {
        let message = of(coding, &body, 1000).unwrap_err();
        assert_eq!(
            message,
            format!("the body says that it is {coding}, and cannot be decoded as that")
        );
    }
    assert_eq!(
        of("zst\u{7}", BODY, 100).unwrap_err(),
        "the body has the content coding zst\\u{7}, which is not supported (gzip, deflate, br, zstd are)"
    );
}

#[test]
fn a_body_that_unfolds_into_a_huge_one_is_cut_at_the_limit() {
    let huge = vec![b' '; 5_000_000];
    for (coding, body) in
        [("gzip", gzip(&huge)), ("deflate", deflate(&huge)), ("br", BROTLI_BOMB.to_vec())]
    {
        let message = of(coding, &body, 1 << 20).unwrap_err();
        assert!(
            message.starts_with("the body has more than 1048576 bytes when decoded, "),
            "{message}"
        );
        assert_eq!(of(coding, &body, huge.len()).unwrap().len(), huge.len(), "{coding}");
    }
    assert!(of("gzip, gzip", &gzip(&gzip(&huge)), 1 << 20).unwrap_err().contains("more than"));
}
