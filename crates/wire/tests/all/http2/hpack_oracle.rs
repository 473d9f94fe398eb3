//! Header blocks against `fluke-hpack`, in both directions, and what no decoder may take.

use ablaze_wire::http2::hpack::HpackFault;
use ablaze_wire::http2::hpack::decoder::Decoder;
use ablaze_wire::http2::hpack::encoder::{self, Indexing, Name};
use proptest::collection::vec;
use proptest::prelude::*;

type OwnedField = (Vec<u8>, Vec<u8>);

fn decoded(decoder: &mut Decoder<()>, block: &[u8]) -> Result<Vec<OwnedField>, HpackFault> {
    let mut fields = Vec::new();
    decoder.decode(block, |field| fields.push((field.name.to_vec(), field.value.to_vec())))?;
    Ok(fields)
}

/// Names that are in the static table or soon in the dynamic one, and any others.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::sample::select(vec![":path", "date", "server", "x-a", "x-b", "content-length"])
            .prop_map(|name| name.as_bytes().to_vec()),
        vec(any::<u8>(), 0..20),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[a-z0-9]{0,12}".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..80),
        vec(Just(b'x'), 0..700),
    ]
}

/// One representation of a field, written without knowing what the table holds.
#[derive(Debug, Clone)]
enum Step {
    Indexed(usize),
    Literal(u8, Option<usize>, Vec<u8>, Vec<u8>),
    Plain(u8, Option<usize>, Vec<u8>, Vec<u8>),
    Resize(usize),
}

fn index() -> impl Strategy<Value = usize> {
    prop_oneof![1..=61usize, 62..=70usize, 0..200usize]
}

fn step() -> impl Strategy<Value = Step> {
    let literal = || (0..3u8, prop::option::of(index()), name(), value());
    prop_oneof![
        4 => index().prop_map(Step::Indexed),
        4 => literal().prop_map(|(i, n, name, value)| Step::Literal(i, n, name, value)),
        2 => literal().prop_map(|(i, n, name, value)| Step::Plain(i, n, name, value)),
        1 => (0..5_000usize).prop_map(Step::Resize),
    ]
}

fn write(steps: &[Step]) -> Vec<u8> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::Indexed(index) => encoder::indexed(&mut out, *index),
            Step::Literal(kind, index, name, value) | Step::Plain(kind, index, name, value) => {
                let indexing = [Indexing::Keep, Indexing::Without, Indexing::Never];
                let indexing = indexing[usize::from(*kind)];
                let name =
                    index.filter(|&index| index > 0).map_or(Name::Literal(name), Name::Index);
                if let Step::Literal(..) = step {
                    encoder::literal(&mut out, indexing, name, value);
                } else {
                    encoder::plain_literal(&mut out, indexing, name, value);
                }
            }
            Step::Resize(bytes) => encoder::size_update(&mut out, *bytes),
        }
    }
    out
}

proptest! {
    /// What they write, we read.
    #[test]
    fn blocks_of_the_other_encoder(
        blocks in vec(vec((name(), value()), 0..12), 1..12),
        table_bytes in prop::option::of(0..4_096usize),
    ) {
        let mut theirs = fluke_hpack::Encoder::new();
        let mut ours = Decoder::new();
        if let Some(bytes) = table_bytes {
            // That encoder does not announce the size it was told.
            theirs.set_max_table_size(bytes);
            let mut update = Vec::new();
            encoder::size_update(&mut update, bytes);
            prop_assert_eq!(decoded(&mut ours, &update), Ok(vec![]));
        }
        for fields in blocks {
            let block = theirs.encode(fields.iter().map(|(n, v)| (&n[..], &v[..])));
            prop_assert_eq!(decoded(&mut ours, &block), Ok(fields));
        }
    }

    /// The same block means the same to both decoders, whatever the table holds.
    #[test]
    fn blocks_of_any_kind(blocks in vec(vec(step(), 0..10), 1..20)) {
        let mut ours = Decoder::new();
        let mut theirs = fluke_hpack::Decoder::new();
        theirs.set_max_allowed_table_size(4_096);
        for steps in blocks {
            // They do not take a block that only changes the table's size.
            let block = [write(&steps), vec![0x82]].concat();
            match (decoded(&mut ours, &block), theirs.decode(&block)) {
                (Ok(fields), Ok(expected)) => prop_assert_eq!(fields, expected),
                // They permit a change of the size anywhere.
                (Err(HpackFault::TableSizePlace), _) => break,
                (Err(_), Err(_)) => break,
                (fields, expected) => prop_assert!(false, "{:?} {:?}", fields, expected),
            }
        }
    }

    /// Any bytes at all: no panic, and agreement where both accept.
    #[test]
    fn bytes_of_any_kind(blocks in vec(vec(any::<u8>(), 0..60), 1..8)) {
        let mut ours = Decoder::new();
        let mut theirs = fluke_hpack::Decoder::new();
        theirs.set_max_allowed_table_size(4_096);
        for block in blocks {
            // They panic at some of what we refuse.
            let Ok(fields) = decoded(&mut ours, &block) else { break };
            let Ok(expected) = theirs.decode(&block) else { break };
            prop_assert_eq!(fields, expected);
        }
    }
}

fn fault(blocks: &[&[u8]]) -> Option<HpackFault> {
    let mut decoder = Decoder::new();
    blocks.iter().find_map(|block| decoded(&mut decoder, block).err())
}

#[test]
fn what_no_decoder_may_take() {
    // RFC 7541, 2.3.3 and 6.1: index 0, and one beyond both tables.
    assert_eq!(fault(&[&[0x80]]), Some(HpackFault::Index));
    assert_eq!(fault(&[&[0x80 | 62]]), Some(HpackFault::Index));
    assert_eq!(fault(&[&[0x7e, 0]]), Some(HpackFault::Index));
    assert_eq!(fault(&[&[0x40, 1, b'a', 0], &[0x80 | 62]]), None);
    assert_eq!(fault(&[&[0x40, 1, b'a', 0], &[0x80 | 63]]), Some(HpackFault::Index));
    // 5.1: numbers that do not end, or are too large.
    assert_eq!(fault(&[&[0xff]]), Some(HpackFault::Truncated));
    assert_eq!(fault(&[&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]), Some(HpackFault::Integer));
    // 5.2: strings longer than the block, and wrongly padded.
    assert_eq!(fault(&[&[0x00, 5, b'a']]), Some(HpackFault::Truncated));
    assert_eq!(fault(&[&[0x00, 1, b'a']]), Some(HpackFault::Truncated));
    assert_eq!(fault(&[&[0x01, 0x81, 0x00]]), Some(HpackFault::Padding));
    assert_eq!(fault(&[&[0x01, 0x84, 0xff, 0xff, 0xff, 0xff]]), Some(HpackFault::EndOfString));
    // 6.3: above the limit; 4.2: not at the beginning, or three times.
    assert_eq!(fault(&[&[0x3f, 0xe1, 0x1f]]), None, "4,096");
    assert_eq!(fault(&[&[0x3f, 0xe2, 0x1f]]), Some(HpackFault::TableSize));
    assert_eq!(fault(&[&[0x20, 0x21]]), None);
    assert_eq!(fault(&[&[0x20, 0x21, 0x22]]), Some(HpackFault::TableSizePlace));
    assert_eq!(fault(&[&[0x82, 0x20]]), Some(HpackFault::TableSizePlace));
}

#[test]
fn a_smaller_table_has_to_be_announced() {
    // RFC 9113, 4.3.1.
    let mut decoder = Decoder::<()>::new();
    decoder.set_size_limit(100);
    assert_eq!(decoded(&mut decoder.clone(), &[0x82]), Err(HpackFault::TableSizeMissing));
    assert_eq!(decoded(&mut decoder.clone(), &[0x3f, 70, 0x82]), Err(HpackFault::TableSize));
    assert!(decoded(&mut decoder, &[0x3f, 69, 0x82]).is_ok());
    assert!(decoded(&mut decoder, &[0x82]).is_ok(), "once");
    // A size that is kept to already needs no announcement.
    let mut small = Decoder::<()>::new();
    assert!(decoded(&mut small, &[0x20]).is_ok());
    small.set_size_limit(100);
    assert!(decoded(&mut small, &[0x82]).is_ok());
}
