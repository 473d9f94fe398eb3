//! The response scanner against sentences of RFC 9110 and 9112, against itself with heads in
//! pieces, and against `httparse`.

use ablaze_wire::http1::EMPTY_LINES_MAX;
use ablaze_wire::http1::response::{Ending, Framing, Head, HeadError, Scan, field, scan};
use proptest::prelude::*;

const MAX: usize = 8192;

fn head(text: &str) -> Head {
    match scan(text.as_bytes(), 0, false, MAX) {
        Ok(Scan::Complete(head)) => head,
        other => panic!("{text:?}: {other:?}"),
    }
}

/// The head of `HTTP/1.1 200 OK` with these field lines.
fn with_fields(fields: &str) -> Result<Head, HeadError> {
    let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    match scan(text.as_bytes(), 0, false, MAX)? {
        Scan::Complete(head) => Ok(head),
        Scan::Incomplete { .. } => panic!("{text:?} is incomplete"),
    }
}

fn refusal(text: &str) -> &'static str {
    match scan(text.as_bytes(), 0, false, MAX) {
        Err(HeadError::Malformed(fault)) => fault,
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn a_common_head() {
    let text = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
        Content-Type: text/plain\r\nContent-Length: 14\r\nConnection: keep-alive\r\n\r\nHello";
    let expected = Head {
        len: text.len() - 5,
        status: 200,
        minor_version: 1,
        framing: Framing::Length(14),
        keep_alive: true,
        ending: Ending::None,
    };
    assert_eq!(head(text), expected);
}

#[test]
fn status_lines() {
    assert_eq!(head("HTTP/1.0 404 Not Found\r\n\r\n").minor_version, 0);
    assert_eq!(head("HTTP/1.1 999 Any \u{e9} text: really\r\n\r\n").status, 999);
    // The reason phrase may be empty (RFC 9112, 4), and some leave out its space.
    assert_eq!(head("HTTP/1.1 204 \r\n\r\n").status, 204);
    assert_eq!(head("HTTP/1.1 204\r\n\r\n").status, 204);
    assert_eq!(head("HTTP/1.1 204\n\n").len, 14);
}

#[test]
fn what_is_no_http_1_is_refused_at_the_first_wrong_byte_and_named() {
    assert!(refusal("g").contains("HTTP/"));
    assert!(refusal("HTTP/2").contains("HTTP/2"));
    assert!(refusal("HTTP/3").contains("HTTP/3"));
    assert!(refusal("HTTP/0").contains("HTTP/0.9"));
    assert!(refusal("HTTP/1.2").contains("version"));
    assert!(refusal("\u{15}\u{3}\u{1}").contains("TLS"));
    assert!(refusal("GET / HTTP/1.0\r\n").contains("echoed"));
    for text in
        ["http/1.1", "HTTP/1.1\t", "HTTP/1.1  ", "HTTP/1.1 0", "HTTP/1.1 2x", "HTTP/1.1 20x"]
    {
        refusal(text);
    }
    refusal("HTTP/1.1 2000");
    refusal("HTTP/1.1 200\t");
    // Nothing can be said yet.
    for text in ["", "H", "HTTP/1.", "HTTP/1.1 20", "HTTP/1.1 200", "\r", "\r\nHTTP"] {
        let expected = Ok(Scan::Incomplete { resume: text.len() });
        assert_eq!(scan(text.as_bytes(), 0, false, MAX), expected, "{text:?}");
    }
}

#[test]
fn a_few_empty_lines_may_come_first() {
    let text = format!("{}HTTP/1.1 200 OK\r\n\r\n", "\r\n".repeat(EMPTY_LINES_MAX));
    assert_eq!(head(&text).len, text.len());
    assert_eq!(head("\nHTTP/1.1 200 OK\n\n").len, 18);
    refusal(&"\r\n".repeat(EMPTY_LINES_MAX + 1));
    assert!(refusal("\rH").contains("CR"));
}

/// RFC 9112, 9.3: 1.1 persists unless `close`, 1.0 only with `keep-alive`.
#[test]
fn persistence() {
    let keep = |version: &str, field: &str| {
        head(&format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{field}\r\n")).keep_alive
    };
    assert!(keep("1.1", ""));
    assert!(!keep("1.1", "Connection: close\r\n"));
    assert!(!keep("1.1", "CONNECTION:Close\r\n"));
    assert!(!keep("1.1", "Connection: upgrade , \tclose\r\n"));
    assert!(!keep("1.1", "Connection: keep-alive, close\r\n"));
    assert!(!keep("1.1", "Connection: x\r\nConnection: close\r\n"));
    assert!(keep("1.1", "Connection: closed\r\nX-Connection: close\r\nConnections: close\r\n"));
    assert!(!keep("1.0", ""));
    assert!(keep("1.0", "Connection: Keep-Alive\r\n"));
    assert!(!keep("1.0", "Keep-Alive: timeout=5\r\n"));
    assert!(!keep("1.0", "Connection: keep-alive, close\r\n"));
}

/// RFC 9112, 6.3, in its order.
#[test]
fn framing() {
    let both = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let Ok(Scan::Complete(response)) = scan(both.as_bytes(), 0, true, MAX) else { panic!() };
    assert_eq!((response.framing, response.keep_alive), (Framing::None, true));
    for status in ["100", "101", "103", "199", "204", "304"] {
        let head = head(&format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n"));
        assert_eq!((head.framing, head.keep_alive), (Framing::None, true), "{status}");
    }
    let framing = |fields: &str| with_fields(fields).map(|h| (h.framing, h.keep_alive));
    assert_eq!(framing("Transfer-Encoding: chunked\r\n"), Ok((Framing::Chunked, true)));
    assert_eq!(framing("transfer-encoding:CHUNKED\r\n"), Ok((Framing::Chunked, true)));
    assert_eq!(framing("Transfer-Encoding: gzip, chunked\r\n"), Ok((Framing::Chunked, true)));
    assert_eq!(
        framing("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"),
        Ok((Framing::Chunked, true))
    );
    let until_close = Ok((Framing::UntilClose, false));
    assert_eq!(framing("Transfer-Encoding: gzip\r\n"), until_close);
    assert_eq!(framing("Transfer-Encoding: chunked, gzip\r\n"), until_close);
    assert_eq!(framing("Transfer-Encoding: xchunked\r\n"), until_close);
    assert_eq!(framing(""), until_close);
    assert_eq!(framing("X-Content-Length: 5\r\nContent-Lengths: 5\r\n"), until_close);
    assert_eq!(framing("Content-Length: 0\r\n"), Ok((Framing::Length(0), true)));
    assert_eq!(framing("cOnTeNt-LeNgTh:\t007 \r\n"), Ok((Framing::Length(7), true)));
    assert_eq!(
        framing("Content-Length: 18446744073709551615\r\n"),
        Ok((Framing::Length(u64::MAX), true))
    );
}

/// RFC 9112, 6.1: Transfer-Encoding in HTTP/1.0 is faulty framing; close after the message.
#[test]
fn transfer_encoding_in_http_1_0_ends_the_connection() {
    let text = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!((head(text).framing, head(text).keep_alive), (Framing::Chunked, false));
}

/// RFC 9112, 6.3, point 5: a list of equal values is one, anything else is an error.
#[test]
fn content_lengths() {
    for same in ["5, 5", "5,5", "5\r\nContent-Length: 5", "5, 5\r\nX: y\r\nContent-Length: 5"] {
        let head = with_fields(&format!("Content-Length: {same}\r\n")).unwrap();
        assert_eq!(head.framing, Framing::Length(5), "{same:?}");
    }
    for wrong in [
        "5, 6",
        "5\r\nContent-Length: 6",
        "",
        "5,",
        ",5",
        "-1",
        "+5",
        "5 5",
        "5\r\n 5",
        "0x5",
        "5.0",
        "18446744073709551616",
        "99999999999999999999",
    ] {
        let refused = with_fields(&format!("Content-Length: {wrong}\r\n"));
        assert!(matches!(refused, Err(HeadError::Malformed(_))), "{wrong:?}: {refused:?}");
    }
}

#[test]
fn contradictions_are_refused() {
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    assert!(with_fields(both).is_err());
    assert!(with_fields("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n").is_err());
    assert!(with_fields("Transfer-Encoding: chunked, chunked\r\n").is_err());
    // Even where there is no body: the head contradicts itself.
    let text = format!("HTTP/1.1 304 X\r\n{both}\r\n");
    assert!(scan(text.as_bytes(), 0, true, MAX).is_err());
}

#[test]
fn lines_that_are_no_fields_are_refused() {
    for line in [
        "no colon",
        "nocolon",
        ": no name",
        "Name : value",
        "Na me: value",
        "Name\t: value",
        " folded: first",
        "\tfolded: first",
        "X: bare \r CR",
        "X: nul \0",
        "X\0: nul",
        "\0",
    ] {
        let refused = with_fields(&format!("{line}\r\n"));
        assert!(matches!(refused, Err(HeadError::Malformed(_))), "{line:?}: {refused:?}");
    }
    assert!(refusal("HTTP/1.1 200 OK\rX\r\n\r\n").contains("CR"));
    assert!(refusal("HTTP/1.1 200 O\0K\r\n\r\n").contains("NUL"));
    // At the end of the line, without waiting for the end of the head.
    refusal("HTTP/1.1 200 OK\r\nA: b\r\nno colon\r\n");
}

/// RFC 9112, 2.2 and 5.2: bare LF, and a value that goes on in the next line.
#[test]
fn tolerances() {
    let bare = head("HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close\n\nHello");
    assert_eq!((bare.len, bare.framing, bare.keep_alive), (53, Framing::Length(5), false));
    let folded = with_fields("Content-Length:\r\n \t 5\r\nConnection: a,\r\n\tclose\r\n").unwrap();
    assert_eq!((folded.framing, folded.keep_alive), (Framing::Length(5), false));
    let folded = with_fields("X: 1\r\n Content-Length: 5\r\n").unwrap();
    assert_eq!(folded.framing, Framing::UntilClose, "a continuation is no field");
    assert!(with_fields("X: \u{1}\ttext\u{7f}\u{e9}\r\nX(1): y\r\n").is_ok());
}

#[test]
fn the_limit_counts_the_head_alone() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n";
    let text = format!("{head}{}", "b".repeat(900));
    let scan = |text: &str, max| scan(text.as_bytes(), 0, false, max);
    assert!(matches!(scan(&text, head.len()), Ok(Scan::Complete(_))));
    assert_eq!(scan(&text, head.len() - 1), Err(HeadError::TooLarge));
    assert_eq!(scan(&head[..20], 20), Err(HeadError::TooLarge));
    assert!(matches!(scan(&head[..20], 21), Ok(Scan::Incomplete { .. })));
}

#[test]
fn a_field_is_found_by_name() {
    let head = b"HTTP/1.1 200 OK\r\nX-Server: no\r\nserver:  nginx/1.2 (Ubuntu) \r\n\
        Folded: a\r\n b\r\nEmpty:\r\nServer: second\r\n\r\n";
    assert_eq!(field(head, "Server"), Some(&b"nginx/1.2 (Ubuntu)"[..]));
    assert_eq!(field(head, "folded"), Some(&b"a\r\n b"[..]));
    assert_eq!(field(head, "empty"), Some(&b""[..]));
    assert_eq!(field(head, "Serve"), None);
    assert_eq!(field(head, "HTTP/1.1 200 OK"), None);
    assert_eq!(field(b"X: y", "X"), None);
    assert_eq!(field(b"HTTP/1.1 200 OK\nX:y\n\n", "X"), Some(&b"y"[..]));
}

/// A head in pieces is never read more than a few times over: a megabyte, byte by byte, would
/// take hours otherwise.
#[test]
fn a_long_head_byte_by_byte_takes_linear_time() {
    for fill in ["a".repeat(1 << 20), "a:b\r\n".repeat(200_000), "y\r\n z".repeat(200_000)] {
        let text = format!("HTTP/1.1 200 OK\r\nX: {fill}Y: z\r\n\r\n");
        let mut resume = 0;
        for len in 0..text.len() {
            match scan(&text.as_bytes()[..len], resume, false, usize::MAX) {
                Ok(Scan::Incomplete { resume: next }) => resume = next,
                other => panic!("{other:?} at {len}"),
            }
        }
        let complete = scan(text.as_bytes(), resume, false, usize::MAX);
        assert!(matches!(complete, Ok(Scan::Complete(head)) if head.len == text.len()));
    }
}

/// Scans with the bytes arriving in pieces that end at `cuts`, then all of them.
fn scan_in_pieces(bytes: &[u8], cuts: &[usize], no_body: bool, max: usize) -> Outcome {
    let mut resume = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        match scan(&bytes[..cut], resume, no_body, max) {
            Ok(Scan::Incomplete { resume: next }) => resume = next,
            other => return outcome(other),
        }
    }
    Outcome::Incomplete
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Incomplete,
    Complete(Head),
    Refused(HeadError),
    /// What the wrong beginning looks like can be told better from more of it.
    NoResponse,
}

fn outcome(result: Result<Scan, HeadError>) -> Outcome {
    match result {
        Ok(Scan::Incomplete { .. }) => Outcome::Incomplete,
        Ok(Scan::Complete(head)) => Outcome::Complete(head),
        Err(HeadError::Malformed(fault))
            if fault.starts_with("the ") && !fault.contains("chunk") =>
        {
            Outcome::NoResponse
        }
        Err(error) => Outcome::Refused(error),
    }
}

/// Pieces that heads, right and wrong, are made of.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let common: Vec<&'static [u8]> = vec![
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 404\r\n",
        b"HTTP/1.1 304 Not Modified\n",
        b"Content-Length: 5\r\n",
        b"content-length:5, 5\n",
        b"Content-Length: 6\r\n",
        b"Content-Length:\r\n 5\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Connection: close\r\n",
        b"Connection: keep-alive\r\n",
        b"connection: x,\r\n\tclose\r\n",
        b"Expect: 100-continue\r\n",
        b"X-Long-Name-Of-A-Field: and a value\twith a tab\r\n",
        b"X:\r\n",
        b" folded\r\n",
        b" ",
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b":",
        b"body",
    ];
    prop_oneof![
        20 => proptest::sample::select(common).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ]
}

prop_compose! {
    fn response_bytes()(
        status_line in prop_oneof![
            8 => Just(&b"HTTP/1.1 200 OK\r\n"[..]),
            1 => Just(&b"HTTP/1.0 200\n"[..]),
            1 => Just(&b"\r\nHTTP/1.1 204 No Content\r\n"[..]),
            1 => Just(&b""[..]),
        ],
        fragments in proptest::collection::vec(fragment(), 0..8),
        end in prop_oneof![Just(&b"\r\n"[..]), Just(&b""[..])],
    ) -> Vec<u8> {
        [status_line, &fragments.concat(), end].concat()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_split_gives_the_same_as_the_whole(
        bytes in response_bytes(),
        no_body in any::<bool>(),
        max in prop_oneof![Just(8192usize), 16usize..120],
    ) {
        let whole = outcome(scan(&bytes, 0, no_body, max));
        for cut in 0..=bytes.len() {
            prop_assert_eq!(&scan_in_pieces(&bytes, &[cut], no_body, max), &whole, "cut at {}", cut);
        }
        let every: Vec<usize> = (0..=bytes.len()).collect();
        prop_assert_eq!(&scan_in_pieces(&bytes, &every, no_body, max), &whole, "byte by byte");
    }

    #[test]
    fn a_complete_head_depends_on_its_own_bytes_only(
        bytes in response_bytes(),
        behind in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        if let Ok(Scan::Complete(head)) = scan(&bytes, 0, false, MAX) {
            let other = [&bytes[..head.len], &behind[..]].concat();
            prop_assert_eq!(scan(&other, 0, false, MAX), Ok(Scan::Complete(head)));
        }
    }

    /// Where both accept, they agree. Known differences in what is accepted at all: this
    /// scanner takes controls in values, other visible bytes in names, and obs-fold; httparse
    /// takes more empty lines, and looks at no field's meaning.
    #[test]
    fn httparse_agrees(bytes in response_bytes()) {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut oracle = httparse::Response::new(&mut headers);
        let parsed = oracle.parse(&bytes);
        if let (Ok(httparse::Status::Complete(len)), Ok(Scan::Complete(head))) =
            (parsed, scan(&bytes, 0, false, MAX))
        {
            prop_assert_eq!(head.len, len);
            prop_assert_eq!(Some(head.status), oracle.code);
            prop_assert_eq!(Some(head.minor_version), oracle.version);
            for header in oracle.headers.iter() {
                let first = oracle.headers.iter().find(|h| h.name.eq_ignore_ascii_case(header.name));
                prop_assert_eq!(
                    field(&bytes[..len], header.name),
                    first.map(|h| h.value.trim_ascii())
                );
            }
        }
    }
}
