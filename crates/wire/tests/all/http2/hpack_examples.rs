//! RFC 7541, appendix C: every example, decoded; C.1 (numbers) is tested where numbers are read.

use ablaze_wire::http2::hpack::decoder::{Decoder, Field};
use ablaze_wire::http2::hpack::encoder::{self, Indexing, Name};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

type Fields = [(&'static str, &'static str)];

/// Decodes a block and compares its fields, then the table, newest first, and its size.
fn check(decoder: &mut Decoder<()>, hex: &str, fields: &Fields, table: &Fields, size: usize) {
    let mut decoded = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let show = |field: Field<'_, ()>| decoded.push((text(field.name), text(field.value)));
    decoder.decode(&bytes(hex), show).unwrap();
    let decoded: Vec<_> = decoded.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(decoded, fields, "{hex}");
    let entries: Vec<_> = (0..decoder.table().len())
        .map(|place| decoder.table().get(place).unwrap())
        .map(|(name, value, ())| (text(name), text(value)))
        .collect();
    let entries: Vec<_> = entries.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(entries, table, "{hex}");
    assert_eq!(decoder.table().size(), size, "{hex}");
}

#[test]
fn c_2_fields() {
    let field = ("custom-key", "custom-header");
    let indexed = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    check(&mut Decoder::new(), indexed, &[field], &[field], 55);
    let without = "040c 2f73 616d 706c 652f 7061 7468";
    check(&mut Decoder::new(), without, &[(":path", "/sample/path")], &[], 0);
    let never = "1008 7061 7373 776f 7264 0673 6563 7265 74";
    check(&mut Decoder::new(), never, &[("password", "secret")], &[], 0);
    let mut marked = false;
    let show = |field: Field<'_, ()>| marked = field.never_indexed;
    Decoder::new().decode(&bytes(never), show).unwrap();
    assert!(marked);
    check(&mut Decoder::new(), "82", &[(":method", "GET")], &[], 0);
}

const AUTHORITY: (&str, &str) = (":authority", "www.example.com");
const NO_CACHE: (&str, &str) = ("cache-control", "no-cache");
const CUSTOM: (&str, &str) = ("custom-key", "custom-value");

/// The three requests of C.3 and C.4, which differ in their coding only.
fn requests(blocks: [&str; 3]) {
    let [get, http, root] = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
    let (https, index) = ((":scheme", "https"), (":path", "/index.html"));
    let mut decoder = Decoder::new();
    check(&mut decoder, blocks[0], &[get, http, root, AUTHORITY], &[AUTHORITY], 57);
    let second = [get, http, root, AUTHORITY, NO_CACHE];
    check(&mut decoder, blocks[1], &second, &[NO_CACHE, AUTHORITY], 110);
    let third = [get, https, index, AUTHORITY, CUSTOM];
    check(&mut decoder, blocks[2], &third, &[CUSTOM, NO_CACHE, AUTHORITY], 164);
}

const REQUESTS_HUFFMAN: [&str; 3] = [
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
];

#[test]
fn c_3_requests() {
    requests([
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ]);
}

#[test]
fn c_4_requests_huffman() {
    requests(REQUESTS_HUFFMAN);
}

/// The three responses of C.5 and C.6. The table has 256 bytes, so entries are evicted.
fn responses(blocks: [&str; 3]) {
    const PRIVATE: (&str, &str) = ("cache-control", "private");
    const DATE: (&str, &str) = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
    const LATER: (&str, &str) = ("date", "Mon, 21 Oct 2013 20:13:22 GMT");
    const LOCATION: (&str, &str) = ("location", "https://www.example.com");
    const FOUND: (&str, &str) = (":status", "302");
    const REDIRECT: (&str, &str) = (":status", "307");
    const GZIP: (&str, &str) = ("content-encoding", "gzip");
    const COOKIE: (&str, &str) =
        ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
    let mut decoder = Decoder::new();
    decoder.set_size_limit(256);
    // The examples assume that the size is agreed upon; an update says it.
    decoder.decode(&bytes("3fe1 01"), |_| {}).unwrap();
    let first = [FOUND, PRIVATE, DATE, LOCATION];
    check(&mut decoder, blocks[0], &first, &[LOCATION, DATE, PRIVATE, FOUND], 222);
    let second = [REDIRECT, PRIVATE, DATE, LOCATION];
    check(&mut decoder, blocks[1], &second, &[REDIRECT, LOCATION, DATE, PRIVATE], 222);
    let third = [(":status", "200"), PRIVATE, LATER, LOCATION, GZIP, COOKIE];
    check(&mut decoder, blocks[2], &third, &[COOKIE, GZIP, LATER], 215);
}

#[test]
fn c_5_responses() {
    responses([
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 \
         2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 \
         6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d \
         54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 \
         5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e \
         3d31",
    ]);
}

#[test]
fn c_6_responses_huffman() {
    responses([
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
         2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab \
         77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f \
         9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ]);
}

#[test]
fn what_the_encoder_writes_is_what_the_examples_have() {
    let mut out = Vec::new();
    for index in [2, 6, 4] {
        encoder::indexed(&mut out, index);
    }
    encoder::literal(&mut out, Indexing::Keep, Name::Index(1), AUTHORITY.1.as_bytes());
    assert_eq!(out, bytes(REQUESTS_HUFFMAN[0]));
    out.clear();
    for index in [2, 6, 4, 62] {
        encoder::indexed(&mut out, index);
    }
    encoder::literal(&mut out, Indexing::Keep, Name::Index(24), b"no-cache");
    assert_eq!(out, bytes(REQUESTS_HUFFMAN[1]));
    out.clear();
    for index in [2, 7, 5, 63] {
        encoder::indexed(&mut out, index);
    }
    encoder::literal(&mut out, Indexing::Keep, Name::Literal(b"custom-key"), b"custom-value");
    assert_eq!(out, bytes(REQUESTS_HUFFMAN[2]));
    out.clear();
    let at = encoder::plain_literal(&mut out, Indexing::Without, Name::Index(4), b"/sample/path");
    assert_eq!((out, at), (bytes("040c 2f73 616d 706c 652f 7061 7468"), 2));
}
