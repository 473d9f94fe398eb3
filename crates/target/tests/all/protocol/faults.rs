//! Faults as they show on the wire: what a client gets, and how the connection ends.

use ablaze_target::Options;
use ablaze_target::conditions::{Fault, FaultShare, ResponseKind, WriteMode};
use ablaze_target::routes::Routes;

use crate::protocol::conversation::{Bench, End, Heard, field, head_and_body};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n")
}

/// A server all of whose responses are spoiled.
fn always(fault: Fault) -> Bench<Routes> {
    let faults = vec![FaultShare { fault, share: 1.0 }];
    Bench::new(&Options { faults, ..Options::default() })
}

/// A right response and a spoiled one.
fn both(fault: Fault, path: &str) -> (Heard, Heard) {
    (Bench::new(&Options::default()).ask(get(path)), always(fault).ask(get(path)))
}

const PATHS: [&str; 6] =
    ["/hello", "/bytes/100000", "/status/204", "/chunked/20000", "/stream?lines=3", "/delay/1"];

#[test]
fn a_reset_before_the_response_leaves_nothing() {
    for path in PATHS {
        let (_, heard) = both(Fault::ResetBefore, path);
        assert_eq!((heard.bytes.len(), heard.end, heard.requests), (0, End::Reset, 1), "{path}");
    }
}

#[test]
fn a_reset_during_the_response_leaves_half_of_it() {
    for path in ["/hello", "/bytes/100000", "/status/204", "/chunked/20000"] {
        let (right, heard) = both(Fault::ResetDuring, path);
        assert_eq!(heard.bytes, right.bytes[..right.bytes.len() / 2], "{path}");
        assert_eq!(heard.end, End::Reset);
    }
    let (right, heard) = both(Fault::ResetDuring, "/stream?lines=3");
    assert!(right.bytes.starts_with(&heard.bytes) && !heard.bytes.is_empty());
    assert_eq!(heard.end, End::Reset);
}

#[test]
fn a_reset_after_the_response_leaves_all_of_it() {
    for path in PATHS {
        let (right, heard) = both(Fault::ResetAfter, path);
        assert_eq!((heard.bytes, heard.end), (right.bytes, End::Reset), "{path}");
    }
}

#[test]
fn closed_unanswered_is_closed_without_a_byte() {
    for path in PATHS {
        let (_, heard) = both(Fault::CloseUnanswered, path);
        assert_eq!((heard.bytes.len(), heard.end), (0, End::Closed { unread: false }), "{path}");
    }
}

#[test]
fn a_short_body_is_half_of_what_was_promised() {
    for (path, bytes) in [("/hello", 7), ("/bytes/100001", 50_000)] {
        let (right, heard) = both(Fault::ShortBody, path);
        let (head, body) = head_and_body(&heard.bytes);
        assert_eq!(body.len(), bytes);
        assert!(right.bytes.starts_with(&heard.bytes));
        assert!(field(&head, "Content-Length").unwrap().parse::<usize>().unwrap() > bytes);
        assert_eq!(heard.end, End::Closed { unread: false });
    }
    // Chunks that do not come to their end.
    for path in ["/chunked/20000", "/stream?lines=3"] {
        let (right, heard) = both(Fault::ShortBody, path);
        assert!(right.bytes.starts_with(&heard.bytes) && heard.bytes.len() < right.bytes.len());
        assert!(!head_and_body(&heard.bytes).1.is_empty());
        assert_eq!(heard.end, End::Closed { unread: false });
    }
    // Without a body, the head is short.
    let (right, heard) = both(Fault::ShortBody, "/status/204");
    assert_eq!(heard.bytes, right.bytes[..right.bytes.len() / 2]);
}

#[test]
fn a_wrong_length_promises_less_than_follows() {
    for path in PATHS {
        let (right, heard) = both(Fault::WrongLength, path);
        assert!(heard.bytes.starts_with(&right.bytes), "{path}");
        assert!(heard.bytes.len() > right.bytes.len(), "{path}");
        // The client is to find out by itself.
        assert_eq!(heard.end, End::Open);
    }
}

#[test]
fn garbage_is_no_http() {
    for path in PATHS {
        let (_, heard) = both(Fault::Garbage, path);
        assert!(!heard.bytes.is_empty());
        assert!(!heard.bytes.windows(5).any(|five| five == b"HTTP/"));
        assert_eq!(heard.end, End::Closed { unread: false });
    }
}

#[test]
fn what_trickles_comes_whole_in_many_pieces() {
    for path in PATHS {
        let (right, heard) = both(Fault::Trickle, path);
        assert_eq!(heard.bytes, right.bytes, "{path}");
        assert_eq!(heard.end, End::Open);
        let pieces = heard.waits.len() - right.waits.len();
        assert!((20..50).contains(&pieces), "{path}: {pieces}");
    }
}

#[test]
fn what_was_answered_before_a_fault_leaves_before_it() {
    // The draws of this seed: some responses are right, then one is not.
    for fault in [Fault::ResetBefore, Fault::CloseUnanswered, Fault::Garbage, Fault::ResetDuring] {
        let options = Options {
            faults: vec![FaultShare { fault, share: 0.05 }],
            seed: 2,
            ..Options::default()
        };
        let whole = Bench::new(&options).ask(get("/hello").repeat(1000));
        let right = Bench::new(&Options::default()).ask(get("/hello"));
        let before = whole.requests as usize - 1;
        assert!((1..500).contains(&before), "{fault:?}: the draw of this seed is {before}");
        let expected = right.bytes.repeat(before);
        assert!(whole.bytes.len() >= expected.len() && whole.bytes.len() < expected.len() + 300);
        assert!(whole.bytes.starts_with(&expected));
        assert_ne!(whole.end, End::Open);
    }
}

#[test]
fn faults_strike_as_often_as_they_should_whatever_the_response() {
    let options = Options {
        faults: vec![
            FaultShare { fault: Fault::CloseUnanswered, share: 0.25 },
            FaultShare { fault: Fault::ResetBefore, share: 0.1 },
        ],
        ..Options::default()
    };
    let bench = Bench::new(&options);
    let ends: Vec<_> = (0..10_000).map(|_| bench.ask(get("/hello")).end).collect();
    let count = |end| ends.iter().filter(|found| **found == end).count() as f64;
    // Binomial, five standard deviations: a false alarm with a probability of 6e-7, if the seed
    // were not fixed.
    let near = |count: f64, share: f64| {
        (count - 1e4 * share).abs() < 5.0 * (1e4 * share * (1.0 - share)).sqrt()
    };
    assert!(near(count(End::Closed { unread: false }), 0.25));
    assert!(near(count(End::Reset), 0.1));
    assert!(near(count(End::Open), 0.65));
}

#[test]
fn a_delayed_response_is_spoiled_when_its_time_has_come() {
    let options = Options {
        faults: vec![FaultShare { fault: Fault::ResetDuring, share: 1.0 }],
        delay: std::time::Duration::from_millis(4).into(),
        write: WriteMode::Split,
        ..Options::default()
    };
    let heard = Bench::new(&options).ask(get("/bytes/1000"));
    assert_eq!((heard.waits, heard.end), (vec![(0, 4_000_000)], End::Reset));
    assert_eq!(heard.writes.len(), 2, "head and half of the body");
}

#[test]
fn an_echo_without_http_can_be_spoiled_too() {
    let spoiled = |fault| {
        let faults = vec![FaultShare { fault, share: 1.0 }];
        let options = Options { faults, response: ResponseKind::Echo, ..Options::default() };
        let heard = Bench::new(&options).ask("12345678");
        (String::from_utf8_lossy(&heard.bytes).into_owned(), heard.end)
    };
    assert_eq!(spoiled(Fault::ResetBefore), ("".into(), End::Reset));
    assert_eq!(spoiled(Fault::ResetDuring), ("1234".into(), End::Reset));
    assert_eq!(spoiled(Fault::ShortBody), ("1234".into(), End::Closed { unread: false }));
    assert_eq!(spoiled(Fault::Trickle), ("12345678".into(), End::Open));
}
