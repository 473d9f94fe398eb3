//! However the bytes are cut, the sink is told the same and the same is written.

use ablaze_wire::http2::client::Options;
use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{FrameHead, flag, kind};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::http2::frames::{block, data, frame, get, headers, settings, window_update};
use crate::http2::peer::{Client, Told, goaway, post, reset};

type Outcome = (Vec<Told>, Vec<(FrameHead, Vec<u8>)>, Result<(), ErrorKind>);

/// Five requests are in flight; what the peer says comes in pieces of these lengths, in turn.
fn outcome(bytes: &[u8], pieces: &[usize]) -> Outcome {
    let requests = [get(), post(vec![b'x'; 100_000])];
    let mut client = Client::new(Options::default(), &requests);
    for tag in 0..5 {
        client.send((tag % 2) as usize, tag);
    }
    client.out.clear();
    let mut rest = bytes;
    let mut lengths = pieces.iter().cycle();
    let mut result = Ok(());
    while !rest.is_empty() && result.is_ok() {
        let len = (*lengths.next().unwrap()).clamp(1, rest.len());
        // Uploads go on only between pieces, so they are left out here.
        result = client.connection.receive(&rest[..len], &mut client.out, &mut client.notes);
        rest = &rest[len..];
    }
    (client.told(), client.written(), result)
}

fn responses() -> Vec<u8> {
    let mut all = settings(&[(3, 50), (4, 100_000)]);
    all.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
    all.extend(headers(1, false, &block(&[(":status", "103"), ("link", "x")])));
    all.extend(headers(1, false, &[0x88, 0x5c, 2, b'1', b'4']));
    all.extend(frame(kind::DATA, flag::PADDED, 1, b"\x05Hello, \0\0\0\0\0"));
    all.extend(frame(kind::PING, 0, 0, b"pingpong"));
    all.extend(frame(kind::DATA, flag::PADDED | flag::END_STREAM, 1, b"\0World!\n"));
    // A block in three frames, padded and with priority.
    let long = block(&[(":status", "200"), ("x-a", "value"), ("x-b", "another value")]);
    let first = [&[2, 0, 0, 0, 0, 9][..], &long[..10], &[0, 0]].concat();
    all.extend(frame(kind::HEADERS, flag::PADDED | flag::PRIORITY, 3, &first));
    all.extend(frame(kind::CONTINUATION, 0, 3, &long[10..20]));
    all.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 3, &long[20..]));
    all.extend(frame(0x77, 0xff, 3, b"nobody knows this type"));
    all.extend(data(3, false, &[b'y'; 3_000]));
    all.extend(headers(3, true, &block(&[("x-trailer", "1")])));
    all.extend(frame(kind::PRIORITY, 0, 5, &[0, 0, 0, 1, 9]));
    all.extend(window_update(0, 9));
    all.extend(headers(5, true, &[0x88, 0xbe]));
    all.extend(reset(7, ErrorCode::REFUSED_STREAM));
    all.extend(frame(kind::DATA, flag::PADDED | flag::END_STREAM, 9, b"\x01x\0"));
    all.extend(goaway(9, ErrorCode::NO_ERROR, b"bye"));
    all
}

#[test]
fn byte_by_byte_and_cut_anywhere() {
    let bytes = responses();
    let whole = outcome(&bytes, &[bytes.len()]);
    assert_eq!(whole.2, Ok(()));
    assert!(whole.0.len() >= 14, "{:#?}", whole.0);
    for piece_bytes in 1..40 {
        assert_eq!(outcome(&bytes, &[piece_bytes]), whole, "pieces of {piece_bytes}");
    }
    for cut in 1..bytes.len() {
        assert_eq!(outcome(&bytes, &[cut, bytes.len()]), whole, "cut at {cut}");
    }
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop_oneof![0..10u8, any::<u8>()];
    let streams = prop_oneof![4 => 0..12u32, 1 => any::<u32>()];
    let payload = prop_oneof![
        vec(any::<u8>(), 0..40),
        Just(vec![0x88]),
        Just(vec![0, 0, 0, 9]),
        Just(vec![0; 8]),
        Just(block(&[(":status", "200"), ("content-length", "3")])),
    ];
    (kinds, any::<u8>(), streams, payload)
        .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload))
}

proptest! {
    #[test]
    fn any_frames_in_any_pieces(
        frames in vec(any_frame(), 0..12),
        pieces in vec(1..30usize, 1..8),
    ) {
        let bytes = [settings(&[]), frames.concat()].concat();
        prop_assert_eq!(outcome(&bytes, &pieces), outcome(&bytes, &[bytes.len()]));
    }

    #[test]
    fn any_damage_in_any_pieces(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        pieces in vec(1..30usize, 1..8),
    ) {
        let mut bytes = responses();
        for (at, byte) in damage {
            *at.get_mut(&mut bytes) = byte;
        }
        prop_assert_eq!(outcome(&bytes, &pieces), outcome(&bytes, &[bytes.len()]));
    }
}
