//! Building requests, filling their fields in, and reading their heads as a server does.

use ablaze_wire::http1::builder::{RequestBuilder, RequestError};
use ablaze_wire::http1::patch::{Digits, Patcher};
use ablaze_wire::http1::request::{Patch, PatchValue, Template};
use ablaze_wire::http1::request_head::{
    Method, RequestFraming, RequestHead, RequestHeadError, RequestScan, scan,
};
use proptest::prelude::*;

fn built(builder: RequestBuilder) -> Template {
    builder.build().expect("the parts make a request")
}

fn text(template: &Template) -> &str {
    std::str::from_utf8(&template.bytes).expect("the request is text")
}

fn head(text: &str) -> RequestHead {
    match scan(text.as_bytes()) {
        Ok(RequestScan::Complete(head)) => head,
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn a_plain_request() {
    let template = built(RequestBuilder::new("GET", "/a?b=c").header("Host", "x:8080"));
    assert_eq!(text(&template), "GET /a?b=c HTTP/1.1\r\nHost: x:8080\r\n\r\n");
    assert_eq!(template.head_bytes, template.bytes.len());
    assert!(template.patches.is_empty() && !template.response_has_no_body);
    assert!(built(RequestBuilder::new("HEAD", "/")).response_has_no_body);
}

/// The bytes ab sends, in its order; its header lines and target are nobody's business.
#[test]
fn a_request_like_ab_s() {
    let template = built(
        RequestBuilder::new("POST", "/a b#{seq}")
            .verbatim()
            .minor_version(0)
            .header_line("Connection: Keep-Alive")
            .body_length_header("Content-length")
            .header_line("Content-type: t/t")
            .header_line("no colon: {rand:3}")
            .header_line("none")
            .body("a={seq}"),
    );
    assert_eq!(
        text(&template),
        "POST /a b#{seq} HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-length: 7\r\n\
         Content-type: t/t\r\nno colon: {rand:3}\r\nnone\r\n\r\na={seq}"
    );
    assert_eq!(template.head_bytes, template.bytes.len() - 7);
    assert!(template.patches.is_empty());
}

#[test]
fn placeholders_become_fields_of_fixed_width() {
    let template = built(
        RequestBuilder::new("POST", "/{seq}/{x}")
            .header("X-Key", "{rand:8}{seq:3}")
            .body_length_header("Content-Length")
            .body("{\"id\":{seq:2},\"{rand}\":{{rand:1}}"),
    );
    let expected = "POST /0000000000/{x} HTTP/1.1\r\nX-Key: 00000000000\r\nContent-Length: 21\r\n\
                    \r\n{\"id\":00,\"{rand}\":{0}";
    assert_eq!(text(&template), expected);
    assert_eq!(template.bytes.len() - template.head_bytes, 21);
    let fields: Vec<_> = template.patches.iter().map(|p| (p.offset, p.width, p.value)).collect();
    let at = |part: &str, shift: usize| (expected.find(part).unwrap() + shift) as u32;
    assert_eq!(
        fields,
        [
            (6, 10, PatchValue::Sequence),
            (at("X-Key: ", 7), 8, PatchValue::Random),
            (at("X-Key: ", 15), 3, PatchValue::Sequence),
            (at("\"id\":", 5), 2, PatchValue::Sequence),
            (at("{0}", 1), 1, PatchValue::Random),
        ]
    );
}

#[test]
fn braces_that_are_no_placeholder_stay() {
    for body in ["{", "{}", "{seq", "{seq:}", "{seq:x}", "{seq:3", "{Seq}", "{rand}", "{rand:-1}"] {
        let template = built(
            RequestBuilder::new("POST", "/")
                .header("Content-Length", body.len().to_string())
                .body(body),
        );
        assert_eq!(&template.bytes[template.head_bytes..], body.as_bytes());
        assert!(template.patches.is_empty(), "{body}");
    }
    for target in ["/{seq:0}", "/{rand:65}", "/{rand:99999999999}"] {
        let error = RequestBuilder::new("GET", target).build().unwrap_err();
        assert!(matches!(error, RequestError::Placeholder(_)), "{target}");
        assert!(error.to_string().contains("1 to 64"), "{error}");
    }
}

#[test]
fn what_makes_no_request_is_refused_by_name() {
    let refused = |builder: RequestBuilder, named: &str| {
        let error = builder.build().expect_err(named).to_string();
        assert!(error.contains(named), "{error:?} does not name {named:?}");
    };
    let get = || RequestBuilder::new("GET", "/");
    refused(RequestBuilder::new("", "/"), "method ``");
    refused(RequestBuilder::new("GE T", "/"), "GE T");
    refused(RequestBuilder::new("GET", ""), "path is empty");
    refused(RequestBuilder::new("GET", "/a b"), "a space at byte 2");
    refused(RequestBuilder::new("GET", "/a\r\nX: y"), "a control character at byte 2");
    refused(RequestBuilder::new("GET", "/\u{e9}"), "outside ASCII");
    refused(get().header_line("no colon"), "`no` has no colon");
    refused(get().header("", "x"), "header name ``");
    refused(get().header("X Y", "x"), "`X Y`");
    refused(get().header_line("X : y"), "`X `");
    refused(get().header("X", "a\r\nInjected: b"), "header X: its value contains a line break");
    refused(get().header("X", "a\nb"), "a line break");
    refused(get().header("X", "a\0b"), "a NUL byte");
    refused(get().body("abc"), "a body of 3 bytes needs a Content-Length");
    refused(get().header("content-length", "4").body("abc"), "says 4, but the body has 3 bytes");
    refused(get().header("Content-Length", "{seq}"), "says {seq}");
    built(get().header("Transfer-Encoding", "chunked").body("0\r\n\r\n"));
    built(get().header("X", "").header("Y", "\u{e9}\t:"));
}

#[test]
fn a_request_of_any_size() {
    let body = vec![b'x'; 3_000_000];
    let template =
        built(RequestBuilder::new("PUT", "/").body_length_header("Content-Length").body(body));
    assert!(text(&template).contains("Content-Length: 3000000\r\n"));
    assert_eq!(template.bytes.len() - template.head_bytes, 3_000_000);
}

#[test]
fn fields_are_filled_in() {
    let template = built(RequestBuilder::new("GET", "/{seq}/{seq:2}/{rand:8}/{rand:20}"));
    let patcher = Patcher::new(&template);
    let mut bytes = template.bytes.clone();
    let mut digits = Digits::new(1, 0);
    let mut seen = std::collections::HashSet::new();
    for number in [0, 7, 9_999_999_999, 12_345_678_901] {
        patcher.apply(&mut bytes, number, &mut digits);
        let line = std::str::from_utf8(&bytes).unwrap();
        let parts: Vec<&str> = line.split(['/', ' ']).collect();
        assert_eq!(parts[2], format!("{:010}", number % 10_000_000_000));
        assert_eq!(parts[3], format!("{:02}", number % 100));
        assert!(parts[4].len() == 8 && parts[5].len() == 20);
        assert!(parts[4..6].concat().bytes().all(|b| b.is_ascii_digit()));
        assert!(seen.insert(parts[4].to_owned()) && seen.insert(parts[5].to_owned()));
    }
    assert!(Patcher::new(&built(RequestBuilder::new("GET", "/"))).is_empty());
}

/// A chi-squared test of each digit of {rand:8} over 100,000 draws of a fixed seed: 9 degrees of
/// freedom, 40 is beyond a probability of one in 100,000.
#[test]
fn random_digits_are_spread_evenly() {
    let patch = Patch { offset: 0, width: 8, value: PatchValue::Random };
    let template = Template {
        bytes: vec![b'0'; 8],
        head_bytes: 8,
        patches: vec![patch],
        response_has_no_body: false,
    };
    let patcher = Patcher::new(&template);
    let (mut digits, mut bytes) = (Digits::new(7, 3), template.bytes.clone());
    let mut counts = [[0u32; 10]; 8];
    for number in 0..100_000 {
        patcher.apply(&mut bytes, number, &mut digits);
        for (count, digit) in counts.iter_mut().zip(&bytes) {
            count[usize::from(digit - b'0')] += 1;
        }
    }
    for count in counts {
        let chi_squared: f64 =
            count.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_squared < 40.0, "{count:?}");
    }
}

#[test]
fn the_server_s_view() {
    let text =
        "POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\nabc";
    let expected = RequestHead {
        len: text.len() - 3,
        method: Method::Post,
        target: 5..9,
        minor_version: 1,
        framing: RequestFraming::Length(3),
        keep_alive: true,
        expect_continue: true,
    };
    assert_eq!(head(text), expected);
    assert!(!head("GET / HTTP/1.0\r\n\r\n").keep_alive);
    assert!(head("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
    assert!(!head("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
    assert!(!head("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expect_continue);
    assert!(!head("GET / HTTP/1.1\r\nExpected: 100-continue\r\n\r\n").expect_continue);
    for (name, method) in [
        ("GET", Method::Get),
        ("HEAD", Method::Head),
        ("POST", Method::Post),
        ("PUT", Method::Put),
        ("get", Method::Other),
        ("M-SEARCH", Method::Other),
        ("G", Method::Other),
    ] {
        assert_eq!(head(&format!("{name} / HTTP/1.1\r\n\r\n")).method, method);
    }
    // RFC 9112, 2.2: empty lines first; bare LF.
    assert_eq!(head("\r\n\nGET /x HTTP/1.1\n\n").target, 7..9);
    let chunked = head("PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n");
    assert_eq!(chunked.framing, RequestFraming::Chunked);
    assert_eq!(head("GET / HTTP/1.1\r\n\r\n").framing, RequestFraming::None);
}

#[test]
fn requests_that_are_none_are_refused() {
    for wrong in [
        " GET / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET /\r\n\r\n",
        "GET HTTP/1.1\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n",
        "GET /\u{1} HTTP/1.1\r\n\r\n",
        "GE(T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n X: y\r\n\r\n",
        "GET / HTTP/1.1\r\nX : y\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\rX\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        // RFC 9112, 6.3, point 4: without chunked last the length is unknown.
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "\u{15}\u{3}\u{1}",
    ] {
        let refused: Result<_, RequestHeadError> = scan(wrong.as_bytes());
        assert!(refused.is_err(), "{wrong:?}: {refused:?}");
    }
}

#[test]
fn a_request_in_pieces_is_incomplete_until_its_end() {
    let text =
        "\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 3\r\nExpect: 100-continue\r\n\r\n";
    for len in 0..text.len() {
        assert_eq!(scan(&text.as_bytes()[..len]), Ok(RequestScan::Incomplete), "{len}");
    }
    assert_eq!(head(text).framing, RequestFraming::Length(3));
}

prop_compose! {
    fn request_bytes()(
        line in proptest::sample::select(vec![
            "GET / HTTP/1.1\r\n", "POST /a?b HTTP/1.0\r\n", "\r\nM-X * HTTP/1.1\n", "GET /\r\n",
        ]),
        fields in proptest::collection::vec(proptest::sample::select(vec![
            "Host: x\r\n", "Content-Length: 5\r\n", "Content-Length: 6\n", "Connection: close\r\n",
            "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "X:\ty\r\n", " z\r\n",
            "X y\r\n", "\r", ":", "\r\n",
        ]), 0..6),
        end in proptest::sample::select(vec!["\r\n", ""]),
    ) -> Vec<u8> {
        [line.as_bytes(), fields.concat().as_bytes(), end.as_bytes()].concat()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What a prefix says stays true: it is incomplete, or the whole says the same.
    #[test]
    fn every_prefix_agrees_with_the_whole(bytes in request_bytes()) {
        let whole = scan(&bytes);
        for len in 0..bytes.len() {
            let prefix = scan(&bytes[..len]);
            prop_assert!(
                prefix == Ok(RequestScan::Incomplete) || prefix == whole
                    || prefix.is_err() && whole.is_err(),
                "{prefix:?} at {len}, then {whole:?}"
            );
        }
    }

    #[test]
    fn httparse_agrees(bytes in request_bytes()) {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut oracle = httparse::Request::new(&mut headers);
        if let (Ok(httparse::Status::Complete(len)), Ok(RequestScan::Complete(head))) =
            (oracle.parse(&bytes), scan(&bytes))
        {
            prop_assert_eq!(head.len, len);
            prop_assert_eq!(Some(&bytes[head.target]), oracle.path.map(str::as_bytes));
            prop_assert_eq!(Some(head.minor_version), oracle.version);
        }
    }

    #[test]
    fn what_is_built_is_read(
        method in "[A-Z-]{1,9}",
        target in "/[!-~]{0,30}",
        name in "X-[a-z!#$%&'*+.^_`|~-]{0,12}",
        value in "[ -~\t]{0,40}",
        body in proptest::collection::vec(any::<u8>(), 0..50),
        minor_version in 0u8..2,
    ) {
        let template = RequestBuilder::new(method, target)
            .placeholders(false)
            .minor_version(minor_version)
            .header(name, value)
            .body_length_header("Content-Length")
            .body(body.clone())
            .build()
            .unwrap();
        let Ok(RequestScan::Complete(head)) = scan(&template.bytes) else {
            return Err(TestCaseError::fail(format!("{template:?} is not read")));
        };
        prop_assert_eq!(head.len, template.head_bytes);
        prop_assert_eq!(head.minor_version, minor_version);
        prop_assert_eq!(head.framing, RequestFraming::Length(body.len() as u64));
        prop_assert_eq!(&template.bytes[head.len..], &body[..]);
    }
}
