//! How heads of requests are written.

use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http2::client::Options;
use ablaze_wire::http2::frame::{flag, kind, setting};
use ablaze_wire::http2::hpack::decoder::Decoder;
use ablaze_wire::http2::request::Request;

use crate::http2::frames::{frame, get, settings};
use crate::http2::peer::Client;

#[test]
fn a_patched_place_is_never_cut() {
    // The place lies around the end of the first frame, wherever that is in it.
    for before in 16_330..16_390 {
        let path = format!("/{}{{seq:10}}{{seq:3}}", "a".repeat(before));
        let template = RequestBuilder::new("GET", path)
            .header("X-Behind", "b".repeat(20_000))
            .build()
            .unwrap();
        let request = Request::from_template(&template, "http", "localhost").unwrap();
        let mut client = Client::ready_with(Options::default(), &[request]);
        let mut decoder = Decoder::<()>::new();
        for number in [7, 1_234_567_890u32] {
            client.send(0, number);
            let written = client.written();
            assert!(written.len() >= 2 && written.iter().all(|(head, _)| head.stream != 0));
            let ends: Vec<bool> =
                written.iter().map(|(head, _)| head.has(flag::END_HEADERS)).collect();
            assert_eq!(ends.iter().rposition(|end| !end), Some(ends.len() - 2));
            assert!(written[1..].iter().all(|(head, _)| head.kind == kind::CONTINUATION));
            let block: Vec<u8> = written.into_iter().flat_map(|(_, payload)| payload).collect();
            let mut found = None;
            let show = |field: ablaze_wire::http2::hpack::decoder::Field<'_, ()>| {
                if field.name == b":path" {
                    found = Some(field.value.to_vec());
                }
            };
            decoder.decode(&block, show).unwrap();
            let expected = format!("/{}{number:010}{:03}", "a".repeat(before), number % 1_000);
            assert!(found == Some(expected.into_bytes()), "{before} before it");
        }
    }
}

#[test]
fn the_peers_table_is_filled_once_and_its_size_is_kept_to() {
    let blocks = |client: &mut Client| -> Vec<Vec<u8>> {
        client
            .written()
            .into_iter()
            .filter(|(head, _)| head.kind == kind::HEADERS)
            .map(|(_, block)| block)
            .collect()
    };
    let request = || get().field("accept", "*/*").field("x-own", "value");
    let mut client = Client::ready_with(Options::default(), &[request()]);
    for tag in 0..3 {
        client.send(0, tag);
    }
    let sent = blocks(&mut client);
    assert!(sent[0].len() > 20);
    // :method, :scheme and :path are static; the newest entry has index 62.
    assert_eq!(sent[1], [0x82, 0x86, 0x80 | 64, 0x84, 0x80 | 63, 0x80 | 62]);
    assert_eq!(sent[2], sent[1]);

    // RFC 7541, 4.2: a smaller table is announced at the beginning of the next block, and
    // entries that are gone are not referred to.
    client.receive(&settings(&[(setting::HEADER_TABLE_SIZE, 64)])).unwrap();
    client.out.clear();
    client.send(0, 3);
    client.send(0, 4);
    let sent = blocks(&mut client);
    assert_eq!(sent[0][..2], [0x3f, 64 - 31]);
    assert_eq!(sent[0][2..], sent[1][..]);
    assert!(Decoder::<()>::new().decode(&sent[1], |_| {}).is_ok(), "with an empty table");
    let size = |bytes| frame(kind::SETTINGS, 0, 0, &[&[0, 1, 0, 0][..], bytes].concat());
    client.receive(&size(&[0, 0])).unwrap();
    client.out.clear();
    client.send(0, 5);
    assert_eq!(blocks(&mut client)[0][0], 0x20);

    // A table that still has room for the entries keeps them.
    let mut client = Client::ready_with(Options::default(), &[request()]);
    client.send(0, 0);
    client.receive(&size(&[1, 0])).unwrap();
    client.out.clear();
    client.send(0, 1);
    client.send(0, 2);
    let sent = blocks(&mut client);
    assert_eq!(sent[0][..3], [0x3f, 0xe1, 0x01]);
    assert_eq!(sent[0][3..], sent[1][..]);
    assert_eq!(sent[1], [0x82, 0x86, 0x80 | 64, 0x84, 0x80 | 63, 0x80 | 62]);
}
