//! Header blocks: never panics, the table keeps within its size, agrees with `fluke-hpack` on
//! every block both take, and a reader that recognises blocks says what one says that does not.
#![no_main]

use ablaze_wire::http2::hpack::decoder::Decoder;
use ablaze_wire::http2::hpack::{huffman, integer};
use libfuzzer_sys::fuzz_target;

/// Blocks of an input; more only take time.
const BLOCKS_MAX: usize = 32;

// A byte gives the length of the block that follows.
fuzz_target!(|input: &[u8]| {
    strings(input);
    let mut ours = Decoder::<()>::new();
    let mut theirs = fluke_hpack::Decoder::new();
    theirs.set_max_allowed_table_size(4_096);
    let mut agreeing = true;
    let mut rest = input;
    for _ in 0..BLOCKS_MAX {
        let Some((&len, behind)) = rest.split_first() else { return };
        let (block, behind) = behind.split_at(behind.len().min(usize::from(len)));
        rest = behind;
        let mut fields = Vec::new();
        let mut list_bytes = 0;
        let result = ours.decode(block, |field| {
            list_bytes += field.name.len() + field.value.len() + 32;
            fields.push((field.name.to_vec(), field.value.to_vec()));
        });
        let Ok(facts) = result else { return };
        assert_eq!(facts.list_bytes, list_bytes);
        let table = ours.table();
        assert!(table.size() <= table.size_max() && table.size_max() <= 4_096);
        let entries = (0..table.len()).filter_map(|place| table.get(place));
        let size: usize = entries.map(|(name, value, ())| name.len() + value.len() + 32).sum();
        assert_eq!(size, table.size());
        // What we take they may refuse, and their table is then another.
        match theirs.decode(block) {
            Ok(expected) if agreeing => assert_eq!(fields, expected),
            _ => agreeing = false,
        }
    }
});

/// Any string comes back, and any coded string is coded the same way again.
fn strings(input: &[u8]) {
    let mut coded = Vec::new();
    huffman::encode(input, &mut coded);
    assert_eq!(coded.len(), huffman::encoded_bytes(input));
    let mut decoded = vec![0; huffman::decoded_bytes_max(coded.len())];
    let written = huffman::decode(&coded, &mut decoded).expect("what was encoded");
    assert_eq!(&decoded[..written], input);

    let mut decoded = vec![0; huffman::decoded_bytes_max(input.len())];
    if let Ok(written) = huffman::decode(input, &mut decoded) {
        coded.clear();
        huffman::encode(&decoded[..written], &mut coded);
        assert_eq!(coded, input);
    }
    for prefix_bits in 4..=8 {
        let mut at = 0;
        if let Ok(value) = integer::read(input, &mut at, prefix_bits) {
            coded.clear();
            integer::write(&mut coded, 0, prefix_bits, value);
            assert!(coded.len() <= at);
        }
    }
}
