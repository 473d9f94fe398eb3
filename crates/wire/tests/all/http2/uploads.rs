//! Bodies within the peer's windows (RFC 9113, 5.2 and 6.9).

use ablaze_wire::http2::client::{End, Options};
use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::frame::{FrameHead, flag, kind, setting};

use crate::http2::frames::{get, headers, settings, window_update};
use crate::http2::peer::{Client, Told, frames, post, reset};

/// Lengths of DATA frames on a stream, and whether the last ended it.
fn sent(written: &[(FrameHead, Vec<u8>)], stream: u32) -> (Vec<usize>, bool) {
    let of_stream =
        || written.iter().filter(|(head, _)| head.kind == kind::DATA && head.stream == stream);
    let ended = of_stream().next_back().is_some_and(|(head, _)| head.has(flag::END_STREAM));
    (of_stream().map(|(_, payload)| payload.len()).collect(), ended)
}

fn client(settings_of_peer: &[(u16, u32)], body_bytes: usize) -> Client {
    let mut client = Client::ready_with(Options::default(), &[post(vec![b'x'; body_bytes]), get()]);
    client.receive(&settings(settings_of_peer)).unwrap();
    client.out.clear();
    client.told();
    client
}

const WINDOW: u16 = setting::INITIAL_WINDOW_SIZE;
const PAYLOAD: u16 = setting::MAX_FRAME_SIZE;

#[test]
fn a_small_body_leaves_with_its_head() {
    let mut client = client(&[], 14);
    client.send(0, 0);
    let written = client.written();
    assert_eq!(written.len(), 2);
    assert_eq!((written[0].0.kind, written[0].0.flags), (kind::HEADERS, flag::END_HEADERS));
    assert_eq!(sent(&written, 1), (vec![14], true));
    client.send(1, 1);
    let written = client.written();
    assert_eq!((written.len(), written[0].0.flags), (1, flag::END_HEADERS | flag::END_STREAM));
}

#[test]
fn frames_are_cut_to_the_peers_size() {
    let mut small = client(&[(WINDOW, 1 << 20)], 40_000);
    small.send(0, 0);
    assert_eq!(sent(&small.written(), 1), (vec![16_384, 16_384, 7_232], true));
    let mut large = client(&[(WINDOW, 1 << 20), (PAYLOAD, 1 << 20)], 40_000);
    large.send(0, 0);
    assert_eq!(sent(&large.written(), 1), (vec![40_000], true));
}

#[test]
fn the_streams_window_and_the_connections() {
    let mut client = client(&[(WINDOW, 10_000)], 70_000);
    client.send(0, 0);
    assert_eq!(sent(&client.written(), 1), (vec![10_000], false));
    assert!(!client.connection.can_upload());
    client.receive(&window_update(1, 50_000)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![16_384, 16_384, 16_384, 848], false));
    // 65,535 for the whole connection, 60,000 of it used.
    client.receive(&window_update(1, 50_000)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![5_535], false));
    assert_eq!((client.connection.window_stalls(), client.connection.uploads_unfinished()), (3, 1));
    client.receive(&window_update(0, 100_000)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![4_465], true));
    assert_eq!((client.connection.window_stalls(), client.connection.uploads_unfinished()), (3, 0));
    // The other way round: the connection's window is there, the stream's is not.
    client.send(0, 1);
    assert_eq!(sent(&client.written(), 3), (vec![10_000], false));
}

#[test]
fn a_window_of_zero_stops_only_content() {
    let mut client = client(&[(WINDOW, 0)], 5);
    client.send(0, 0);
    client.send(1, 1);
    let written = client.written();
    assert_eq!(sent(&written, 1), (vec![], false));
    assert_eq!(written.len(), 2, "both heads");
    client.receive(&window_update(1, 1)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![1], false));
    client.receive(&settings(&[(WINDOW, 3)])).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![3], false));
    client.receive(&settings(&[(WINDOW, 4)])).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![1], true));
}

#[test]
fn a_window_can_become_negative() {
    // The example of 6.9.2: 60 KiB sent, then the initial window is 16 KiB: 44 KiB short.
    let mut client = client(&[(WINDOW, 60 * 1024)], 64 * 1024);
    client.send(0, 0);
    assert_eq!(sent(&client.written(), 1).0.iter().sum::<usize>(), 60 * 1024);
    client.receive(&settings(&[(WINDOW, 16 * 1024)])).unwrap();
    client.receive(&window_update(0, 1 << 20)).unwrap();
    client.receive(&window_update(1, 44 * 1024)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![], false));
    client.receive(&window_update(1, 1)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![1], false));
    client.receive(&window_update(1, 4 * 1024)).unwrap();
    assert_eq!(sent(&client.written(), 1), (vec![4 * 1024 - 1], true));
}

#[test]
fn several_bodies_take_turns() {
    let mut client = client(&[(WINDOW, 1 << 20)], 100_000);
    client.send(0, 0);
    assert_eq!(sent(&client.written(), 1).0.iter().sum::<usize>(), 65_535);
    client.send(0, 1);
    client.send(0, 2);
    client.out.clear();
    client.receive(&window_update(0, 3 * 16_384)).unwrap();
    let written = client.written();
    let streams: Vec<u32> = written
        .iter()
        .filter(|(head, _)| head.kind == kind::DATA)
        .map(|(head, _)| head.stream)
        .collect();
    assert_eq!(streams, [1, 3, 5]);
    client.receive(&window_update(0, 1 << 20)).unwrap();
    let written = client.written();
    for stream in [1, 3, 5] {
        assert!(sent(&written, stream).1, "{stream} is complete");
    }
}

#[test]
fn the_output_is_bounded() {
    let options = Options { output_bytes: 50_000, ..Options::default() };
    let mut client = Client::ready_with(options, &[post(vec![b'x'; 1 << 20])]);
    client.receive(&[settings(&[(WINDOW, 1 << 30)]), window_update(0, 1 << 30)].concat()).unwrap();
    client.out.clear();
    client.send(0, 0);
    let mut all = 0;
    let mut calls = 0;
    loop {
        assert!(client.out.len() <= 50_000 + 9, "{}", client.out.len());
        all += frames(&client.out)
            .iter()
            .filter(|(head, _)| head.kind == kind::DATA)
            .map(|(head, _)| head.payload_bytes as usize)
            .sum::<usize>();
        client.out.clear();
        if !client.connection.can_upload() {
            break;
        }
        client.connection.upload(&client.set, &mut client.out);
        calls += 1;
    }
    assert_eq!(all, 1 << 20);
    assert!(calls >= 20, "{calls}");
}

#[test]
fn a_response_before_the_body_was_sent_ends_it() {
    // 8.1: the response counts; what is left of the body is not sent.
    let mut client = client(&[(WINDOW, 10)], 100);
    client.send(0, 0);
    client.out.clear();
    client.receive(&headers(1, true, &[0x88])).unwrap();
    let told = [Told::Head(0, 200, None), Told::Cut(0), Told::Ended(0, End::Complete)];
    assert_eq!(client.told(), told);
    let written = client.written();
    assert_eq!((written[0].0.kind, &written[0].1[..]), (kind::RST_STREAM, &[0, 0, 0, 0][..]));
    // The peer may have said that it wants no more, and enlarged the window, before it knew.
    client.receive(&[reset(1, ErrorCode::NO_ERROR), window_update(1, 90)].concat()).unwrap();
    assert!(client.written().is_empty());
}

#[test]
fn bodies_that_end_early_leave_nothing_behind() {
    let mut client = client(&[(WINDOW, 10)], 100);
    for tag in 0..50 {
        let stream = client.send(0, tag);
        match tag % 3 {
            0 => client.receive(&reset(stream, ErrorCode::CANCEL)).unwrap(),
            1 => client.connection.reset(stream, &mut client.out),
            _ => client.receive(&headers(stream, true, &[0x88])).unwrap(),
        }
        assert_eq!(client.connection.streams_live(), 0);
    }
    client.out.clear();
    client.receive(&[window_update(0, 1_000), settings(&[(WINDOW, 10_000)])].concat()).unwrap();
    assert!(client.written().iter().all(|(head, _)| head.kind == kind::SETTINGS));
    client.send(0, 99);
    assert!(client.written().iter().any(|(head, _)| head.has(flag::END_STREAM)));
}
