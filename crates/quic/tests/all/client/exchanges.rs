//! Requests and responses where nobody does anything wrong.

use ablaze_quic::client::{End, NoRoom, NotSent, Options, RequestSet};
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http2::request::{Request, RequestText};

use super::server::{Served, Setup, answers, content, data, first_request, head, ok, path, read};
use super::world::{World, tls};
use ablaze_quic::quinn_proto::{Dir, StreamId};

#[test]
fn responses_come_whole_whatever_their_size() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    let paths = ["/0", "/1", "/1000", "/1048576", "/65536", "/20"];
    world.get(&paths);
    assert_eq!((world.client.streams_live(), world.client.free_streams()), (6, 4));
    world.run(|world| world.log.ended() == 6);
    for (exchange, path) in world.log.exchanges.values().zip(paths) {
        let bytes: usize = path[1..].parse().unwrap();
        assert_eq!(exchange.ended, [End::Complete]);
        let length = exchange.head.unwrap();
        assert_eq!((length.status, length.content_length), (200, Some(bytes as u64)));
        assert!(exchange.content == content(bytes), "{path}");
    }
    assert_eq!((world.client.streams_live(), world.client.free_streams()), (0, 10));
    let settings = world.client.peer_settings().unwrap();
    assert_eq!(settings.field_section_bytes_max, Some(1 << 20));
    assert!(world.client.began() && world.log.settings.len() == 1);
}

#[test]
fn a_patched_request_is_filled_in_and_a_text_is_sent_as_it_is() {
    let script = |served: &mut Served, id: StreamId, bytes: &[u8]| {
        let (fields, content) = read(bytes);
        let line: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let said = [line.join(" ").as_bytes(), b" ", &content].concat();
        served.send(id, &ok(&said), true);
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    let builder = RequestBuilder::new("POST", "/a?n={seq:4}").header("Host", "h").body("<{seq:3}>");
    let template = builder.body_length_header("Content-Length").build().unwrap();
    let set = RequestSet::new(&[Request::from_template(&template, "https", "h").unwrap()]);
    world.client.request(&set, 0, 42, &mut world.digits, 0).unwrap();
    let text = RequestText::new(b"PUT /b HTTP/1.1\r\nHost: h\r\nX-Own: c\r\n\r\nbody");
    world.client.request_text(&set, &text, "https", 1).unwrap();
    world.run(|world| world.log.ended() == 2);
    let said = |tag| String::from_utf8(world.log.exchanges[&tag].content.clone()).unwrap();
    let pseudo = ":method=POST :scheme=https :authority=h :path=/a?n=0042";
    assert_eq!(said(0), format!("{pseudo} content-length=5 <042>"));
    assert_eq!(said(1), ":method=PUT :scheme=https :authority=h :path=/b x-own=c body");
}

#[test]
fn interim_heads_trailers_and_fields_are_told() {
    let script = |served: &mut Served, id: StreamId, _: &[u8]| {
        let parts = [
            head(&[(":status", "103"), ("link", "</a>")]),
            head(&[(":status", "200"), ("x-own", "1")]),
            data(b"abc"),
            // A reserved type (RFC 9114, 7.2.8), and DATA without content.
            super::server::frame(0x21 + 0x1f, b"ignored"),
            data(b""),
            head(&[("x-trailer", "2")]),
        ];
        served.send(id, &parts.concat(), true);
    };
    let mut world = World::new(Setup::default(), script);
    world.log.wants_fields = true;
    world.connect();
    world.get(&["/"]);
    world.run(|world| world.log.ended() == 1);
    let exchange = &world.log.exchanges[&0];
    assert_eq!((&exchange.interim[..], exchange.trailers), (&[103][..], 1));
    assert_eq!((&exchange.content[..], &exchange.ended[..]), (&b"abc"[..], &[End::Complete][..]));
    let names: Vec<&str> = world.log.fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [":status", "link", ":status", "x-own", "x-trailer"]);
}

#[test]
fn the_response_to_head_has_no_content_whatever_it_says() {
    let script = |served: &mut Served, id: StreamId, _: &[u8]| {
        served.send(id, &head(&[(":status", "200"), ("content-length", "99")]), true);
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    let set = RequestSet::new(&[Request::new("HEAD", "https", "server.test", "/")]);
    world.client.request(&set, 0, 0, &mut world.digits, 0).unwrap();
    world.run(|world| world.log.ended() == 1);
    assert_eq!(world.log.end_of(0), Some(End::Complete));
}

#[test]
fn no_more_streams_are_used_than_the_server_permits() {
    let mut setup = Setup::default();
    setup.transport.max_concurrent_bidi_streams(1_u32.into());
    let mut world = World::new(setup, answers);
    world.connect();
    assert_eq!(world.client.handshake().unwrap().streams_permitted, 1);
    let set = RequestSet::new(&[Request::new("GET", "https", "server.test", "/5")]);
    for tag in 0..50 {
        world.run(|world| world.client.free_streams() == 1);
        world.client.request(&set, 0, 0, &mut world.digits, tag).unwrap();
        let refused = world.client.request(&set, 0, 0, &mut world.digits, 99);
        assert_eq!(refused, Err(NotSent::NoRoom(NoRoom::Streams)));
        world.run(|world| world.log.ended() == tag as usize + 1);
    }
    assert_eq!(world.server.served.as_ref().unwrap().requests, 50);
}

/// RFC 9000, 19.11: a server that begins with no stream, and permits some later.
#[test]
fn a_limit_that_the_server_raises_is_noted_with_its_time() {
    let mut setup = Setup::default();
    setup.transport.max_concurrent_bidi_streams(0_u32.into());
    let mut world = World::new(setup, answers);
    world.connect();
    world.run_for(50_000_000, |_| false);
    assert_eq!((world.client.free_streams(), world.client.raised()), (0, None));
    let mut raise_to = |streams: u32, wait_ns: u64| {
        world.run_for(wait_ns, |_| false);
        world.act(|served| {
            served.quic.set_max_concurrent_streams(Dir::Bi, streams.into());
        });
        world.run(|world| world.client.free_streams() == streams.min(10));
        world.client.raised().unwrap()
    };
    let first = raise_to(2, 30_000_000);
    assert_eq!(first.streams, 2);
    assert!((80_000_000..100_000_000).contains(&first.after_ns), "{first:?}");
    let second = raise_to(100, 500_000_000);
    // No more than were asked for.
    assert_eq!(second.streams, 10);
    assert!(second.after_ns > 580_000_000, "{second:?}");
    world.get(&["/1", "/1", "/1"]);
    world.run(|world| world.log.ended() == 3);
    assert_eq!(world.client.raised(), Some(second));
}

#[test]
fn no_more_streams_are_used_than_the_options_permit() {
    let options = Options::with_streams(3);
    let mut world = World::with(options, &tls(), "server.test", Setup::default(), answers);
    assert_eq!(world.client.free_streams(), 0, "not before the handshake");
    world.connect();
    assert_eq!(world.client.free_streams(), 3);
    world.get(&["/1", "/1", "/1"]);
    assert_eq!(world.client.free_streams(), 0);
    world.run(|world| world.log.ended() == 3);
    assert_eq!(world.client.free_streams(), 3);
}

#[test]
fn a_stream_that_is_given_up_is_not_heard_of_again() {
    let script = |served: &mut Served, id: StreamId, bytes: &[u8]| {
        if path(bytes) == "/slow" {
            served.send(id, &head(&[(":status", "200")]), false);
        } else {
            answers(served, id, bytes);
        }
    };
    let mut world = World::new(Setup::default(), script);
    world.connect();
    world.get(&["/slow", "/9"]);
    world.run(|world| world.log.ended() == 1 && world.log.exchanges.len() == 2);
    world.client.reset(0);
    world.client.reset(0);
    assert_eq!((world.client.streams_live(), world.client.free_streams()), (0, 10));
    world.act(|served| served.send(first_request(), &data(b"late"), true));
    world.settle();
    assert_eq!((world.log.ended(), world.log.end_of(0)), (1, None));
    // H3_REQUEST_CANCELLED (RFC 9114, 4.1.1).
    let resets = &world.server.served.as_ref().unwrap().resets;
    assert_eq!(resets.iter().map(|(_, code)| *code).collect::<Vec<_>>(), [0x10c]);
    assert!(world.client.stands());
}

/// RFC 9001, 6: whoever updates its keys is followed, in the middle of a response too.
#[test]
fn keys_that_the_server_updates_are_followed() {
    let mut world = World::new(Setup::default(), answers);
    world.connect();
    world.get(&["/10", "/3000000", "/70000"]);
    world.run(|world| world.log.ended() == 1);
    world.act(|served| served.quic.force_key_update());
    world.run(|world| world.log.ended() == 3);
    for (exchange, bytes) in world.log.exchanges.values().zip([10, 3_000_000, 70_000]) {
        assert_eq!(exchange.ended, [End::Complete]);
        assert!(exchange.content == content(bytes), "{bytes}");
    }
    // Later again, once the first keys are gone: what comes then is under the third.
    world.settle();
    world.act(|served| {
        served.quic.force_key_update();
        served.quic.ping();
    });
    world.settle();
    assert!(world.client.stands() && world.client.counts().packets_lost == 0);
}
