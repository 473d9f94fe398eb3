//! The streams that a server opens, and what must not be on them (RFC 9114, 6.2 and 7.2).

use ablaze_wire::http3::control::{PeerStream, PeerStreams, Told, first_bytes};
use ablaze_wire::http3::error::ErrorKind;
use ablaze_wire::http3::frame::{kind, write_head};
use ablaze_wire::http3::response::Sections;
use ablaze_wire::http3::settings::PeerSettings;
use ablaze_wire::http3::varint;

/// What several streams do to a connection, each with its bytes in pieces of this size.
fn told(streams: &[(&[u8], bool)], piece_bytes: usize) -> Result<Vec<Told>, ErrorKind> {
    let mut all = PeerStreams::default();
    let mut sections = Sections::new(0, 65_536);
    let mut told = Vec::new();
    for (bytes, ends) in streams {
        let mut stream = PeerStream::default();
        let pieces = bytes.chunks(piece_bytes).count();
        for (number, piece) in bytes.chunks(piece_bytes).enumerate() {
            let ended = *ends && number + 1 == pieces;
            let mut out = Vec::new();
            let mut tell = |one| told.push(one);
            all.receive(&mut stream, piece, ended, &mut sections, &mut out, &mut tell)?;
            assert!(out.is_empty());
        }
    }
    Ok(told)
}

/// A control stream of these frames, behind SETTINGS without any.
fn control(frames: &[(u64, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0, 4, 0];
    for (kind, payload) in frames {
        write_head(&mut bytes, *kind, payload.len() as u64);
        bytes.extend_from_slice(payload);
    }
    bytes
}

fn both_ways(bytes: &[u8]) -> Result<Vec<Told>, ErrorKind> {
    let at_once = told(&[(bytes, false)], bytes.len());
    assert_eq!(at_once, told(&[(bytes, false)], 1));
    at_once
}

#[test]
fn our_own_control_stream_is_read_as_it_was_meant() {
    let bytes = first_bytes(4_096, 65_536);
    let expected = PeerSettings {
        table_bytes_max: 4_096,
        field_section_bytes_max: Some(65_536),
        ..PeerSettings::default()
    };
    assert_eq!(both_ways(&bytes), Ok(vec![Told::Settings(expected)]));
    let bytes = first_bytes(0, 65_536);
    let expected = PeerSettings { table_bytes_max: 0, ..expected };
    assert_eq!(both_ways(&bytes), Ok(vec![Told::Settings(expected)]));
}

#[test]
fn goaway_names_a_request_and_never_a_later_one() {
    let number = |number| {
        let mut bytes = Vec::new();
        varint::write(&mut bytes, number);
        bytes
    };
    let goaways = |numbers: &[u64]| {
        let payloads: Vec<Vec<u8>> = numbers.iter().map(|&one| number(one)).collect();
        let frames: Vec<(u64, &[u8])> =
            payloads.iter().map(|one| (kind::GOAWAY, &one[..])).collect();
        both_ways(&control(&frames))
    };
    let said = goaways(&[4_000, 400, 400]).unwrap();
    assert_eq!(said[1..], [Told::Goaway(4_000), Told::Goaway(400), Told::Goaway(400)]);
    assert_eq!(goaways(&[400, 404]), Err(ErrorKind::Goaway));
    for not_a_request in [1, 2, 3, 402] {
        assert_eq!(goaways(&[not_a_request]), Err(ErrorKind::Goaway));
    }
    assert_eq!(both_ways(&control(&[(kind::GOAWAY, &[4, 4])])), Err(ErrorKind::FrameLength));
    assert_eq!(both_ways(&control(&[(kind::GOAWAY, &[])])), Err(ErrorKind::FrameLength));
    assert_eq!(both_ways(&control(&[(kind::GOAWAY, &[0; 9])])), Err(ErrorKind::FrameLength));
}

#[test]
fn frames_that_do_not_belong_on_a_control_stream() {
    let of_http2 = [0x2, 0x6, 0x8, 0x9];
    let of_requests = [kind::DATA, kind::HEADERS, kind::PUSH_PROMISE, kind::MAX_PUSH_ID];
    for wrong in of_http2.into_iter().chain(of_requests).chain([kind::SETTINGS]) {
        let result = both_ways(&control(&[(wrong, b"x")]));
        assert_eq!(result, Err(ErrorKind::FrameUnexpected), "{wrong:#x}");
    }
    assert_eq!(both_ways(&control(&[(kind::CANCEL_PUSH, &[0])])), Err(ErrorKind::Push));
    // Unknown types are for practice (7.2.8).
    let practice = both_ways(&control(&[(0x21, b""), (0x21 + 0x1f * 9, &[7; 300])]));
    assert_eq!(practice.map(|told| told.len()), Ok(1));
    for first in [&[0, 0x7, 1, 0][..], &[0, 0x21, 0]] {
        assert_eq!(both_ways(first), Err(ErrorKind::NoSettings));
    }
    let mut long = vec![0];
    write_head(&mut long, kind::SETTINGS, 65_537);
    assert_eq!(both_ways(&long), Err(ErrorKind::SettingsTooLong));
}

#[test]
fn streams_come_once_stay_open_and_may_be_unknown() {
    let quiet = [&control(&[])[..], &[2], &[3]];
    let streams: Vec<(&[u8], bool)> = quiet.iter().map(|&bytes| (bytes, false)).collect();
    assert_eq!(told(&streams, 1).map(|told| told.len()), Ok(1));
    for again in quiet {
        let mut twice = streams.clone();
        twice.push((again, false));
        assert_eq!(told(&twice, 1), Err(ErrorKind::StreamRepeated));
        assert_eq!(told(&[(again, true)], 100), Err(ErrorKind::CriticalStreamEnded));
    }
    assert_eq!(told(&[(&[1, 0], false)], 1), Err(ErrorKind::Push));
    // Unknown ones, as often as they like, ended or not, and one that ends before its type has come.
    let unknown: [(&[u8], bool); 4] =
        [(&[0x21, 1, 2, 3], true), (&[0x21], false), (&[0x40, 0x54, 9], true), (&[0xc0], true)];
    assert_eq!(told(&unknown, 1), Ok(vec![]));
    assert_eq!(told(&[(&[3, 0x80], false)], 1), Err(ErrorKind::DecoderStream));
    assert!(matches!(told(&[(&[2, 0x21], false)], 1), Err(ErrorKind::EncoderStream(_))));
}
