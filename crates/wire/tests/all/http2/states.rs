//! Lives of streams and of the connection.

use ablaze_wire::http2::client::{End, NoRoom, Options};
use ablaze_wire::http2::error::ErrorCode;
use ablaze_wire::http2::frame::{flag, kind};
use ablaze_wire::http2::request::Request;

use crate::http2::frames::{block, data, frame, get, headers, settings, window_update};
use crate::http2::peer::{Client, Told, frames, goaway, reset};

#[test]
fn what_a_connection_says_first() {
    let client = Client::new(Options::default(), &[get()]);
    assert!(client.out.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let written = frames(&client.out);
    // 3.4: SETTINGS come first; no push, windows as large as can be, lists of 64 KiB.
    let expected = [0, 2, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff, 0, 6, 0, 1, 0, 0];
    assert_eq!((written[0].0.kind, &written[0].1[..]), (kind::SETTINGS, &expected[..]));
    // 6.9.2: the connection's window can be changed by WINDOW_UPDATE only.
    assert_eq!((written[1].0.kind, written[1].0.stream), (kind::WINDOW_UPDATE, 0));
    assert_eq!(written[1].1, (0x7fff_ffffu32 - 65_535).to_be_bytes());
    assert_eq!(written.len(), 2);
}

#[test]
fn settings_and_pings_are_acknowledged() {
    let mut client = Client::new(Options::default(), &[get()]);
    client.out.clear();
    assert_eq!(client.connection.peer_settings(), None);
    client.receive(&settings(&[(3, 7), (0x99, 1)])).unwrap();
    client.receive(&frame(kind::PING, 0, 0, b"pingpong")).unwrap();
    assert_eq!(client.told(), [Told::Settings(7, 65_535)]);
    assert_eq!(client.connection.peer_settings().unwrap().streams_max, 7);
    let written = client.written();
    assert_eq!((written[0].0.kind, written[0].0.flags, written[0].1.len()), (4, flag::ACK, 0));
    assert_eq!(
        (written[1].0.kind, written[1].0.flags, &written[1].1[..]),
        (6, 1, &b"pingpong"[..])
    );
    client.connection.ping(*b"are you?", &mut client.out);
    assert_eq!(client.written()[0].0.flags, 0);
    client.receive(&frame(kind::PING, flag::ACK, 0, b"are you?")).unwrap();
    assert_eq!(client.told(), [Told::Pong(*b"are you?")]);
}

#[test]
fn interim_heads_come_before_the_final_one() {
    let mut client = Client::ready();
    client.send(0, 9);
    let interim = |status| headers(1, false, &block(&[(":status", status)]));
    client.receive(&[interim("100"), interim("103"), headers(1, true, &[0x88])].concat()).unwrap();
    let told = [
        Told::Interim(9, 100),
        Told::Interim(9, 103),
        Told::Head(9, 200, None),
        Told::Ended(9, End::Complete),
    ];
    assert_eq!(client.told(), told);
}

#[test]
fn responses_without_content_may_have_a_length() {
    // 8.1.1: to HEAD, and 304.
    let requests = [get(), Request::new("HEAD", "http", "localhost", "/")];
    let with_length = |status| block(&[(":status", status), ("content-length", "99")]);
    let mut client = Client::ready_with(Options::default(), &requests);
    client.send(1, 0);
    client.send(0, 1);
    client.send(1, 2);
    client.receive(&headers(1, true, &with_length("200"))).unwrap();
    client.receive(&headers(3, true, &with_length("304"))).unwrap();
    client.receive(&headers(5, false, &with_length("200"))).unwrap();
    client.receive(&data(5, true, b"")).unwrap();
    for (tag, status) in [(0, 200), (1, 304), (2, 200)] {
        let told: Vec<Told> = client.notes.told.drain(..2).collect();
        assert_eq!(told, [Told::Head(tag, status, Some(99)), Told::Ended(tag, End::Complete)]);
    }
}

#[test]
fn fields_are_shown_to_who_wants_them_even_if_the_head_is_known() {
    let mut client = Client::ready();
    // nginx adds its fields to the table each time; 62 is the newest entry.
    let adding = [0x88, 0x76, 1, b'n', 0x5c, 1, b'0'];
    for tag in 0..5 {
        let stream = client.send(0, tag);
        client.notes.wants_fields = tag == 3;
        client.receive(&headers(stream, true, &adding)).unwrap();
        let told = client.told();
        if tag == 3 {
            let field = |name: &str, value: &str| Told::Field(3, name.into(), value.into());
            assert_eq!(told[0], field(":status", "200"));
            assert_eq!(told[1..3], [field("server", "n"), field("content-length", "0")]);
        } else {
            assert_eq!(told[0], Told::Head(tag, 200, Some(0)));
        }
        assert_eq!(told.last(), Some(&Told::Ended(tag, End::Complete)));
    }
    // Five times two entries.
    client.notes.wants_fields = true;
    let stream = client.send(0, 5);
    client.receive(&headers(stream, true, &[0x88, 0x80 | 70, 0x80 | 71])).unwrap();
    assert_eq!(client.told()[1], Told::Field(5, "content-length".into(), "0".into()));
    let stream = client.send(0, 6);
    assert!(client.receive(&headers(stream, true, &[0x88, 0x80 | 72])).is_err());
}

#[test]
fn a_refused_stream_was_not_processed() {
    let mut client = Client::ready();
    client.send(0, 0);
    client.send(0, 1);
    client.out.clear();
    client.receive(&reset(1, ErrorCode::REFUSED_STREAM)).unwrap();
    client.receive(&reset(3, ErrorCode(0x1234))).unwrap();
    let told = [Told::Ended(0, End::Unprocessed), Told::Ended(1, End::Reset(ErrorCode(0x1234)))];
    assert_eq!(client.told(), told);
    assert_eq!(ErrorCode(0x1234).to_string(), "error code 0x1234");
    assert_eq!(ErrorCode::REFUSED_STREAM.to_string(), "REFUSED_STREAM");
    assert!(client.written().is_empty());
}

#[test]
fn goaway_ends_what_was_not_processed_and_no_more() {
    let mut client = Client::ready();
    for tag in 0..4 {
        client.send(0, tag);
    }
    // First an announcement, then what is meant (6.8).
    client.receive(&goaway(0x7fff_ffff, ErrorCode::NO_ERROR, b"")).unwrap();
    assert_eq!(client.told(), [Told::Goaway(0x7fff_ffff, ErrorCode::NO_ERROR, vec![])]);
    assert!(client.connection.is_draining());
    let digits = &mut client.digits;
    let again = client.connection.request(&client.set, 0, 0, digits, 9, &mut client.out);
    assert_eq!(again, Err(NoRoom::Draining));
    client.receive(&goaway(3, ErrorCode::ENHANCE_YOUR_CALM, b"enough")).unwrap();
    let told = [
        Told::Goaway(3, ErrorCode::ENHANCE_YOUR_CALM, b"enough".to_vec()),
        Told::Ended(2, End::Unprocessed),
        Told::Ended(3, End::Unprocessed),
    ];
    assert_eq!(client.told(), told);
    client.receive(&[headers(3, true, &[0x88]), headers(1, true, &[0x88])].concat()).unwrap();
    // What comes anyway for a stream that was not to be processed is ignored.
    client.receive(&[headers(5, false, &[0x88]), data(5, true, b"x")].concat()).unwrap();
    assert_eq!(client.told().len(), 4);
    assert_eq!(client.connection.streams_live(), 0);
    assert!(client.connection.is_quiet());
}

#[test]
fn the_peers_limit_of_streams_is_kept_to() {
    let mut client = Client::new(Options { streams: 1_000, ..Options::default() }, &[get()]);
    // What nobody has said yet is taken to be 100 (6.5.2).
    assert_eq!(client.connection.free_streams(), 100);
    client.receive(&settings(&[(3, 2)])).unwrap();
    assert_eq!(client.connection.free_streams(), 2);
    client.send(0, 0);
    client.send(0, 1);
    let out = client.out.len();
    let digits = &mut client.digits;
    let third = client.connection.request(&client.set, 0, 0, digits, 2, &mut client.out);
    assert_eq!((third, client.out.len()), (Err(NoRoom::Streams), out));
    // A limit below what is open closes nothing (5.1.2).
    client.receive(&settings(&[(3, 1)])).unwrap();
    assert_eq!((client.connection.free_streams(), client.connection.streams_live()), (0, 2));
    client.receive(&headers(1, true, &[0x88])).unwrap();
    assert_eq!(client.connection.free_streams(), 0);
    client.receive(&settings(&[(3, 5)])).unwrap();
    assert_eq!(client.connection.free_streams(), 4);
    client.receive(&settings(&[(3, u32::MAX)])).unwrap();
    assert_eq!(client.connection.free_streams(), 999);
}

#[test]
fn stream_numbers_run_out() {
    let options = Options { first_stream: 0x7fff_fffd, ..Options::default() };
    let mut client = Client::ready_with(options, &[get()]);
    assert_eq!(client.send(0, 0), 0x7fff_fffd);
    assert_eq!(client.send(0, 1), 0x7fff_ffff);
    assert!(client.connection.is_draining());
    assert_eq!(client.connection.free_streams(), 0);
    client.receive(&headers(0x7fff_ffff, true, &[0x88])).unwrap();
    assert_eq!(client.told().len(), 2);
}

#[test]
fn a_stream_that_was_given_up_is_not_named_again() {
    let mut client = Client::ready();
    let stream = client.send(0, 0);
    client.send(0, 1);
    // In the middle of a DATA frame.
    client.receive(&headers(1, false, &[0x88])).unwrap();
    let content = data(1, true, &[b'x'; 100]);
    client.receive(&content[..50]).unwrap();
    client.told();
    client.out.clear();
    client.connection.reset(stream, &mut client.out);
    client.connection.reset(stream, &mut client.out);
    let written = client.written();
    assert_eq!(written.len(), 1);
    assert_eq!((written[0].0.kind, written[0].0.stream), (kind::RST_STREAM, 1));
    assert_eq!(written[0].1, ErrorCode::CANCEL.0.to_be_bytes());
    client.receive(&content[50..]).unwrap();
    // Late frames of every kind are taken, and the table learns from them (5.1, 4.3).
    client.receive(&headers(1, true, &[0x40, 1, b'a', 1, b'b'])).unwrap();
    client.receive(&[window_update(1, 1), reset(1, ErrorCode::CANCEL)].concat()).unwrap();
    client.notes.wants_fields = true;
    client.receive(&headers(3, true, &[0x88, 0xbe])).unwrap();
    let told = client.told();
    assert_eq!(told[1], Told::Field(1, "a".into(), "b".into()));
    assert_eq!(told.last(), Some(&Told::Ended(1, End::Complete)));
}

#[test]
fn windows_are_given_back_by_halves() {
    let options = Options {
        stream_window_bytes: 1_000,
        connection_window_bytes: 65_535,
        ..Options::default()
    };
    let mut client = Client::ready_with(options, &[get()]);
    client.send(0, 0);
    client.send(0, 1);
    client.out.clear();
    client.receive(&[headers(1, false, &[0x88]), headers(3, false, &[0x88])].concat()).unwrap();
    let mut given_back = (0, 0);
    for round in 0..200 {
        // Padding counts (6.9.1): 4 bytes of content, 1 for the length, 5 of padding.
        let padded = frame(kind::DATA, flag::PADDED, 1, b"\x05xxxx\0\0\0\0\0");
        client.receive(&[padded, data(3, false, &[b'y'; 390])].concat()).unwrap();
        for (head, payload) in client.written() {
            assert_eq!(head.kind, kind::WINDOW_UPDATE);
            let increment = u32::from_be_bytes(payload.try_into().unwrap());
            match head.stream {
                0 => {
                    // The first frame with which half of 65,535 or more is used.
                    assert_eq!(increment, 82 * 400);
                    given_back.0 += increment;
                }
                1 => assert_eq!((increment, round % 50), (500, 49)),
                3 => {
                    assert_eq!(increment, 780);
                    given_back.1 += increment;
                }
                other => panic!("{other}"),
            }
        }
    }
    assert_eq!(given_back.1, 78_000);
    assert!((200 * 400 - given_back.0) < 32_767);
    // A stream that ends needs no window any more.
    client.receive(&data(3, true, &[b'y'; 600])).unwrap();
    assert!(client.written().is_empty());
}

#[test]
fn open_streams_are_known_when_a_connection_breaks() {
    let mut client = Client::ready();
    for tag in 10..13 {
        client.send(0, tag);
    }
    client.receive(&[headers(3, false, &[0x88]), headers(1, true, &[0x88])].concat()).unwrap();
    let mut open: Vec<_> = client.connection.open_streams().collect();
    open.sort_unstable();
    assert_eq!(open, [(11, true), (12, false)]);
    assert!(!client.connection.is_quiet());
}
