//! It does not matter how bytes are cut: neither those that come nor those that leave.

use ablaze_target::Options;
use ablaze_target::conditions::{Fault, FaultShare, ResponseKind, WriteMode};
use proptest::prelude::*;

use crate::protocol::conversation::{Bench, End, Heard};

/// Requests of every kind, one behind the other.
fn requests() -> Vec<&'static str> {
    vec![
        "GET / HTTP/1.1\r\nHost: t\r\n\r\n",
        "\r\nGET /hello?x HTTP/1.1\nHost: t\n\n",
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n\r\nhello\r\n\r\nyou",
        "HEAD /bytes/5000 HTTP/1.1\r\nHost: t\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\nTrailer: 1\r\n\r\n",
        "GET /bytes/9000 HTTP/1.1\r\nHost: t\r\n\r\n",
        "PUT /unwanted HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nGET ",
        "GET /delay/3 HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /chunked/100?chunk=30 HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /stream?lines=2&every=1ms HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /status/204 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "DELETE /status/503 HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /_/nothing HTTP/1.1\r\nHost: t\r\n\r\n",
    ]
}

/// What must not depend on cuts. Waits stand where they stand, because what is before them has
/// left; how many writes there are does depend.
fn outcome(heard: &Heard) -> Heard {
    let end = match heard.end {
        // Whether more had come depends on the cut.
        End::Closed { .. } => End::Closed { unread: false },
        end => end,
    };
    Heard { writes: Vec::new(), end, ..heard.clone() }
}

fn servers() -> Vec<Options> {
    let fault = |fault| FaultShare { fault, share: 0.12 };
    let faults = [
        Fault::ResetDuring,
        Fault::ShortBody,
        Fault::WrongLength,
        Fault::Trickle,
        Fault::CloseUnanswered,
    ];
    let plain = Options::default();
    vec![
        plain.clone(),
        Options { write: WriteMode::Split, head_bytes: Some(300), ..plain.clone() },
        Options { max_requests: Some(7), ..plain.clone() },
        Options { keep_alive: false, ..plain.clone() },
        Options { delay: std::time::Duration::from_micros(5).into(), ..plain.clone() },
        Options { faults: faults.map(fault).to_vec(), seed: 3, ..plain.clone() },
        Options { faults: vec![FaultShare { fault: Fault::Trickle, share: 1.0 }], ..plain },
    ]
}

#[test]
fn input_may_be_cut_anywhere() {
    for options in servers() {
        let input = requests().concat();
        let whole = Bench::new(&options).ask(&input);
        for cut in 1..input.len() {
            let heard = Bench::new(&options).converse(input.as_bytes(), &[cut, usize::MAX]);
            assert_eq!(outcome(&heard), outcome(&whole), "cut at {cut}, {options:?}");
        }
        let heard = Bench::new(&options).converse(input.as_bytes(), &[1]);
        assert_eq!(outcome(&heard), outcome(&whole), "byte by byte, {options:?}");
    }
}

#[test]
fn a_error_is_the_same_wherever_it_is_cut() {
    for bad in ["GET\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "G@T / HTTP/1.1\r\n\r\n", "\0"] {
        let input = ["GET /hello HTTP/1.1\r\nHost: t\r\n\r\n", bad].concat();
        let whole = Bench::new(&Options::default()).ask(&input);
        assert_eq!(whole.end, End::Closed { unread: true });
        assert!(whole.bytes.windows(12).any(|part| part == b"HTTP/1.1 400"));
        for cut in 1..input.len() {
            let bench = Bench::new(&Options::default());
            let heard = bench.converse(input.as_bytes(), &[cut, usize::MAX]);
            assert_eq!(outcome(&heard), outcome(&whole), "{bad:?} cut at {cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_requests_in_any_pieces_written_in_any_pieces(
        chosen in prop::collection::vec(0..13usize, 1..30),
        pieces in prop::collection::vec(1..200usize, 1..20),
        write_bytes in prop_oneof![1..50usize, 1000..100_000usize],
        server in 0..7usize,
    ) {
        let input: String = chosen.iter().map(|which| requests()[*which]).collect();
        let options = &servers()[server];
        let whole = Bench::new(options).ask(&input);
        let mut bench = Bench::new(options);
        bench.write_bytes = write_bytes;
        let heard = bench.converse(input.as_bytes(), &pieces);
        prop_assert_eq!(outcome(&heard), outcome(&whole));
    }

    /// Nothing that comes makes it panic, and what comes back does not depend on cuts.
    #[test]
    fn any_bytes_at_all(
        input in prop::collection::vec(prop_oneof![
            Just(b"GET / HTTP/1.1\r\n".to_vec()),
            Just(b"Content-Length: 5\r\n".to_vec()),
            Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"5\r\nhello\r\n".to_vec()),
            Just(b"POST /echo HTTP/1.1\r\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..5),
        ], 0..30),
        pieces in prop::collection::vec(1..60usize, 1..10),
    ) {
        // The beginning of a head is looked at again only when a line ends.
        let input = [&input.concat()[..], b"\n"].concat();
        let whole = Bench::new(&Options::default()).ask(&input);
        let heard = Bench::new(&Options::default()).converse(&input, &pieces);
        prop_assert_eq!(outcome(&heard), outcome(&whole));
    }

    #[test]
    fn an_echo_without_http_gives_back_everything(
        input in prop::collection::vec(any::<u8>(), 1..2000),
        pieces in prop::collection::vec(1..100usize, 1..10),
    ) {
        let options = Options { response: ResponseKind::Echo, ..Options::default() };
        let heard = Bench::new(&options).converse(&input, &pieces);
        prop_assert_eq!(heard.bytes, input);
        prop_assert_eq!(heard.end, End::Open);
    }
}
