//! QPACK: the example of RFC 9204, appendix B, tables that wrap, and what nobody may send.

use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http2::hpack::static_table::Found;
use ablaze_wire::http3::qpack::QpackFault;
use ablaze_wire::http3::qpack::decoder::Decoder;
use ablaze_wire::http3::qpack::encoder::{begin, indexed, literal, plain_literal};
use ablaze_wire::http3::qpack::instructions::{acknowledge, cancel, insert_count, only_cancels};
use ablaze_wire::http3::qpack::static_table::find;
use proptest::collection::vec;
use proptest::prelude::*;

type Fields = Vec<(String, String)>;

fn decoded(decoder: &mut Decoder, section: &[u8]) -> Result<(Fields, bool), QpackFault> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let facts =
        decoder.decode(section, |field| fields.push((text(field.name), text(field.value))))?;
    Ok((fields, facts.needs_acknowledgement))
}

fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let digit = |byte: u8| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Bytes come one at a time.
fn instruct(decoder: &mut Decoder, bytes: &[u8]) -> Result<u64, QpackFault> {
    bytes.iter().try_fold(0, |all, &byte| Ok(all + decoder.instructions(&[byte])?))
}

#[test]
fn the_example_of_the_rfc() {
    let mut decoder = Decoder::new(220);
    // B.1
    let (first, needs) =
        decoded(&mut decoder, &hex("0000 510b 2f69 6e64 6578 2e68 746d 6c")).unwrap();
    assert_eq!((first, needs), (fields(&[(":path", "/index.html")]), false));
    // B.2
    let section = hex("0381 1011");
    assert_eq!(decoded(&mut decoder, &section), Err(QpackFault::Blocked));
    let setting =
        "3fbd01 c00f 7777 772e 6578 616d 706c 652e 636f 6d c10c 2f73 616d 706c 652f 7061 7468";
    assert_eq!(instruct(&mut decoder, &hex(setting)), Ok(2));
    let expected = fields(&[(":authority", "www.example.com"), (":path", "/sample/path")]);
    assert_eq!(decoded(&mut decoder, &section), Ok((expected, true)));
    let mut said = Vec::new();
    acknowledge(&mut said, 4);
    assert_eq!(said, hex("84"));
    // B.3
    let speculative = "4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565";
    assert_eq!(instruct(&mut decoder, &hex(speculative)), Ok(1));
    said.clear();
    insert_count(&mut said, 1);
    assert_eq!(said, hex("01"));
    // B.4
    assert_eq!(instruct(&mut decoder, &hex("02")), Ok(1));
    let expected = fields(&[
        (":authority", "www.example.com"),
        (":path", "/"),
        ("custom-key", "custom-value"),
    ]);
    assert_eq!(decoded(&mut decoder, &hex("0500 80c1 81")), Ok((expected, true)));
    said.clear();
    cancel(&mut said, 8);
    assert_eq!(said, hex("48"));
    // B.5: the first entry, absolute index 0, is evicted.
    assert_eq!(instruct(&mut decoder, &hex("810d 6375 7374 6f6d 2d76 616c 7565 32")), Ok(1));
    assert_eq!(decoder.inserted(), 5);
    // Required insert count 5, base 5: the newest, and the oldest that is left.
    let expected = fields(&[("custom-key", "custom-value2"), (":path", "/sample/path")]);
    assert_eq!(decoded(&mut decoder, &hex("0600 80 83")), Ok((expected, true)));
    assert_eq!(decoded(&mut decoder, &hex("0600 84")), Err(QpackFault::Index));
}

#[test]
fn a_field_is_the_same_however_it_is_written() {
    let mut section = Vec::new();
    begin(&mut section);
    let Found::Field(get) = find(b":method", b"GET") else { panic!("GET is in the table") };
    indexed(&mut section, get);
    let Found::Name(path) = find(b":path", b"/x") else { panic!(":path is in the table") };
    let at = plain_literal(&mut section, false, Name::Index(path), b"/00");
    section[at..at + 3].copy_from_slice(b"/42");
    literal(&mut section, true, Name::Literal(b"authorization"), b"Basic c2VjcmV0");
    literal(&mut section, false, Name::Index(95), b"ablaze");
    literal(&mut section, false, Name::Literal(&[b'n'; 200]), &[b'\\'; 300]);
    let (long_name, long_value) = ("n".repeat(200), "\\".repeat(300));
    let expected = fields(&[
        (":method", "GET"),
        (":path", "/42"),
        ("authorization", "Basic c2VjcmV0"),
        ("user-agent", "ablaze"),
        (&long_name, &long_value),
    ]);
    let mut decoder = Decoder::new(0);
    assert_eq!(decoded(&mut decoder, &section), Ok((expected, false)));
    let mut secret = Vec::new();
    decoder.decode(&section, |field| secret.push(field.never_indexed)).unwrap();
    assert_eq!(secret, [false, false, true, false, false]);
    for cut in 0..section.len() {
        // Between two fields a section is whole; nowhere else.
        if let Err(fault) = decoded(&mut decoder, &section[..cut]) {
            assert_eq!(fault, QpackFault::Truncated, "{cut}");
        }
    }
}

/// Inserts `x: number`, and refers to the newest, as often as it takes to wrap the encoded count several times.
#[test]
fn counts_of_entries_wrap() {
    const TABLE_BYTES: u32 = 32 * 5;
    let mut decoder = Decoder::new(TABLE_BYTES);
    assert_eq!(instruct(&mut decoder, &[0x3f, (TABLE_BYTES - 31) as u8 | 0x80, 1]), Ok(0));
    for number in 1..=100u64 {
        let value = format!("{number:02}");
        let mut insert = vec![0x41, b'x', value.len() as u8];
        insert.extend_from_slice(value.as_bytes());
        assert_eq!(instruct(&mut decoder, &insert), Ok(1));
        // RFC 9204, 4.5.1.1, as an encoder has it.
        let encoded = (number % (2 * 5) + 1) as u8;
        let expected = Ok((fields(&[("x", &value)]), true));
        assert_eq!(decoded(&mut decoder, &[encoded, 0, 0x80]), expected, "{number}");
        // The same from a base behind it: post-base.
        assert_eq!(decoded(&mut decoder, &[encoded, 0x80, 0x10]), expected, "{number}");
        // One more than came.
        let more = ((number + 1) % (2 * 5) + 1) as u8;
        assert_eq!(decoded(&mut decoder, &[more, 0, 0x80]), Err(QpackFault::Blocked), "{number}");
    }
}

#[test]
fn what_no_encoder_may_send() {
    let mut none = Decoder::new(0);
    assert_eq!(decoded(&mut none, &[1, 0]), Err(QpackFault::Prefix));
    assert_eq!(decoded(&mut none, &[0, 0x80]), Err(QpackFault::Prefix));
    assert_eq!(decoded(&mut none, &[0, 0, 0x80]), Err(QpackFault::Index));
    assert_eq!(decoded(&mut none, &[0, 0, 0x10]), Err(QpackFault::Index));
    assert_eq!(decoded(&mut none, &[0, 0, 0xff, 99 - 63]), Err(QpackFault::Index));
    assert_eq!(decoded(&mut none, &[0, 0, 0x5f, 99 - 15, 0]), Err(QpackFault::Index));
    assert_eq!(none.instructions(&[0x21]), Err(QpackFault::TableSize));
    assert_eq!(Decoder::new(0).instructions(&[0x41, b'x', 0]), Err(QpackFault::EntrySize));
    assert_eq!(Decoder::new(100).instructions(&[0x41, b'x', 0]), Err(QpackFault::EntrySize));
    assert_eq!(Decoder::new(100).instructions(&[0x00]), Err(QpackFault::Index));
    // A string that never ends is not kept.
    let mut decoder = Decoder::new(100);
    let endless = [&[0x5f, 0xff, 0xff, 0x7f][..], &[b'x'; 2_000]].concat();
    assert_eq!(decoder.instructions(&endless), Err(QpackFault::EntrySize));
}

#[test]
fn the_peers_decoder_can_only_give_streams_up() {
    let mut unread = Vec::new();
    let mut cancels = Vec::new();
    [0, 62, 63, 64, 1 << 40].iter().for_each(|&stream| cancel(&mut cancels, stream));
    assert!(cancels.iter().all(|&byte| only_cancels(&mut unread, &[byte])));
    assert!(unread.is_empty());
    for wrong in [0x80, 0xff, 0x01, 0x00] {
        assert!(!only_cancels(&mut Vec::new(), &[wrong]), "{wrong:#x}");
    }
    assert!(!only_cancels(&mut Vec::new(), &[&[0x7f][..], &[0x80; 20]].concat()));
}

proptest! {
    /// Nothing that comes ends the process, and instructions in pieces do what they do at once.
    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200), cut in 0..200usize, table in 0..400u32) {
        let mut at_once = Decoder::new(table);
        let mut in_pieces = Decoder::new(table);
        let first = at_once.instructions(&bytes);
        let cut = cut.min(bytes.len());
        let before = in_pieces.instructions(&bytes[..cut]);
        let both = before.and_then(|some| Ok(some + in_pieces.instructions(&bytes[cut..])?));
        // A fault behind the cut may be one of length when all is there.
        if let (Ok(first), Ok(both)) = (first, both) {
            prop_assert_eq!(first, both);
        }
        let _ = decoded(&mut at_once, &bytes);
        let _ = decoded(&mut Decoder::new(table), &bytes);
    }
}
