//! Requests whose data are the rows of a file: each row as often as its order says, with the values it has, byte for byte,
//! and files that are none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ablaze_target::handler::{Handler, Method, Reply, Request, Response};
use ablaze_target::response::{FixedBody, FixedResponse};
use ablaze_target::{Options, Running, Server};

use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number, url};

/// What came: path, query, a field and the body, and how often.
type Came = Arc<Mutex<BTreeMap<[String; 4], u64>>>;

struct Notes {
    came: Came,
    ok: FixedResponse,
}

impl Handler for Notes {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let field = request.field("X-User").unwrap_or_default();
        let seen = [request.path, request.query, field, request.body].map(text);
        *self.came.lock().unwrap().entry(seen).or_default() += 1;
        Reply::from(Response::Fixed(&self.ok))
    }

    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        true
    }
}

fn serve(came: &Came) -> Running {
    let ok = FixedResponse::new(200, "notes", "text/plain", FixedBody::Bytes(b"ok"));
    let address = "127.0.0.1:0".parse().unwrap();
    let notes = Notes { came: Arc::clone(came), ok };
    Server::start_with(Options { address, http2: true, ..Options::default() }, notes).unwrap()
}

fn taken(came: &Came) -> BTreeMap<[String; 4], u64> {
    std::mem::take(&mut came.lock().unwrap())
}

const USERS: &[u8] = b"user,city,note\r\nann,\"New York\",\"say \"\"hi\"\"\"\r\nbob,Rome,\r\ncarl,\"a&b=c\",\"two\nlines\"\r\n";

#[test]
fn every_row_is_sent_in_turn_with_the_values_it_has() {
    let came = Came::default();
    let server = serve(&came);
    let feed = Scratch::with("users.csv", USERS);
    let target = url(&server, "/{user}?city={city:url}&n={seq:3}&{other}");
    let words = ["--feed", feed.word(), "-H", "X-User: {user}, {user}"];
    let body = r#"{"note":"{note:json}","by":"{user}"}"#;
    let rest = ["-b", body, "-n", "12", "-c", "3", "-t", "1"];
    let ways = BACKENDS.map(|io| vec!["--io", io]).into_iter();
    let of_http2 = [vec![], vec!["--streams", "4"], vec!["--no-keepalive"], vec!["-r", "400"]];
    let of_http2 = of_http2.map(|way| [vec!["--http", "2"], way].concat());
    let others = [vec!["--pipeline", "4"], vec!["--no-keepalive"], vec!["-r", "400"]];
    for way in ways.chain(others).chain(of_http2) {
        let (ran, json) = measured(&[&[&target[..]], &words[..], &rest, &way].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        assert_eq!(number(&json, "/responses"), 12, "{way:?}");
        assert_eq!(json["request"]["feed"]["rows"], 3);
        let rows = [
            ["ann", "New%20York", r#"say \"hi\""#],
            ["bob", "Rome", ""],
            ["carl", "a%26b%3Dc", r"two\nlines"],
        ];
        let expected = (0..12).map(|n| {
            let [user, city, note] = rows[n % 3];
            let path = format!("/{user}");
            let query = format!("city={city}&n={n:03}&{{other}}");
            let body = format!(r#"{{"note":"{note}","by":"{user}"}}"#);
            ([path, query, format!("{user}, {user}"), body], 1)
        });
        assert_eq!(taken(&came), expected.collect(), "{way:?}");
    }
}

#[test]
fn ab_fills_in_the_columns_too() {
    let came = Came::default();
    let server = serve(&came);
    let feed = Scratch::with("users.tsv", b"user\tcity\nann\tRome\nbob\tOslo\n");
    let target = url(&server, "/{user}");
    let words =
        ["ab", "--feed", feed.word(), "-H", "X-User: {city}", "-n", "4", "-c", "2", &target];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let expected = [["/ann", "", "Rome", ""], ["/bob", "", "Oslo", ""]];
    let expected = expected.map(|row| (row.map(str::to_owned), 2));
    assert_eq!(taken(&came), expected.into());
}

#[test]
fn unique_rows_end_the_run_and_the_report_says_so() {
    let came = Came::default();
    let server = serve(&came);
    let rows: String = (0..200).map(|n| format!("{{\"id\": {n}}}\n")).collect();
    let feed = Scratch::with("ids.jsonl", rows.as_bytes());
    let target = url(&server, "/{id}");
    let words =
        [&target[..], "--feed", feed.word(), "--feed-order", "unique", "-c", "4", "-t", "2"];
    let ran = ablaze(&[&words[..], &["-d", "20s"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("200 rows, each used once; the run ended when"), "{}", ran.stdout);
    // A longer run is none of more time: it was given 20 s.
    let flat = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("instead of rows that are each used once"), "{}", ran.stdout);
    let expected: BTreeMap<_, _> = (0..200)
        .map(|n| ([format!("/{n}"), String::new(), String::new(), String::new()], 1))
        .collect();
    assert_eq!(taken(&came), expected);
    // Fewer requests than rows: nothing ran out.
    let ran = ablaze(&[&words[..], &["-n", "50"]].concat());
    assert!(!ran.stdout.contains("used up"), "{}", ran.stdout);
    assert_eq!(taken(&came).values().sum::<u64>(), 50);
}

#[test]
fn random_rows_are_the_same_for_a_seed() {
    let came = Came::default();
    let server = serve(&came);
    let feed = Scratch::with("users.csv", USERS);
    let target = url(&server, "/{user}");
    let mut run = |seed| {
        let words = ["--feed", feed.word(), "--feed-order", "random", "--seed", seed];
        let ran = ablaze(&[&[&target[..]], &words[..], &["-n", "90", "-c", "3"]].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        taken(&came).into_values().collect::<Vec<_>>()
    };
    let [one, again, other] = ["1", "1", "2"].map(&mut run);
    assert_eq!((one.len(), one.iter().sum::<u64>()), (3, 90));
    assert_eq!(one, again);
    assert_ne!(one, other);
}

#[test]
fn a_feed_that_is_none_is_refused_with_its_line() {
    let refused = |name: &str, text: &[u8], target: &str, expected: &str| {
        let feed = Scratch::with(name, text);
        let target = format!("http://127.0.0.1:9/{target}");
        let ran = ablaze(&[&target, "-n", "1", "--feed", feed.word()]);
        ran.assert_one_line(2, expected);
    };
    refused(
        "f.csv",
        USERS,
        "{city}",
        "line 2: column `city` contains a space, which a URL cannot contain: write {city:url}",
    );
    refused("f.csv", USERS, "{usr}", "no request uses a column of");
    refused("f.csv", b"a,b\n1\n", "{a}", "line 2: 1 field where the first line names 2 columns");
    refused("f.csv", b"a,b\n", "{a}", "it has no row of data");
    refused("f.csv", b"", "{a}", "it has no row of data");
    refused("f.csv", b"seq\n1\n", "{seq}", "give column `seq` another name");
    refused("f.txt", b"a\n1\n", "{a}", "its name must end with .csv, .tsv or .jsonl");
    refused("f.jsonl", b"{\"a\":1}\n{}\n", "{a}", "line 2: no key `a`");
    let feed = Scratch::with("f.csv", b"a\n1\n");
    let words = ["http://127.0.0.1:9/{a}", "--http", "2", "-n", "1", "--feed", feed.word()];
    let ran = ablaze(&[&words[..], &["-H", "Transfer-Encoding: chunked"]].concat());
    ran.assert_one_line(2, "header `Transfer-Encoding: chunked`: bodies are sent as they are");
    let ran = ablaze(&["http://127.0.0.1:9/{a}", "-n", "1", "--feed", "/nonexistent.csv"]);
    ran.assert_one_line(2, "cannot read file `/nonexistent.csv` for --feed");
}
