//! Journeys against the shop that this program serves: what is counted here is what the server counted, over both
//! backends; and files and options that are refused, by line.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use ablaze_target::handler::{Handler, Method, Reply, Request, Response};
use ablaze_target::options::{App, ShopOptions};
use ablaze_target::response::{FixedBody, FixedResponse};
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch as Folder;
use serde_json::Value;

use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number, url};

const SHOP: &str = r#"# name: login
POST {{site}}/login
[Form]
user: {{user}}
password: {{password}}
HTTP 200
[Captures]
token: jsonpath "$.token"
[Asserts]
jsonpath "$.user" == "{{user}}"

# name: item
GET {{site}}/items/{{item}}
Authorization: Bearer {{token}}
HTTP 200

# name: basket
POST {{site}}/basket
{"item": {{item}}, "count": 2}
HTTP 201
[Asserts]
jsonpath "$.lines" count == 1

# name: look
GET {{site}}/basket
HTTP 200
[Asserts]
jsonpath "$.user" == "{{user}}"
"#;

/// The third cannot log in, the fourth asks for an item that is not there.
const USERS: &[u8] = b"user,password,item\nann,nna,3\nbob,bob,7\neve,wrong,9\ndan,nad,1001\n";

fn shop() -> Running {
    let address = "127.0.0.1:0".parse().unwrap();
    let app = Some(App::Shop(ShopOptions::default()));
    Server::start(Options { address, app, http2: true, threads: 1, ..Options::default() }).unwrap()
}

/// Requests by route and status, as the server counted them.
pub fn counted(server: &Running) -> BTreeMap<(String, String), u64> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET /_/status HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let status: Value = serde_json::from_str(body).unwrap();
    let mut counted = BTreeMap::new();
    for route in status["routes"].as_array().unwrap() {
        for (status, count) in route["statuses"].as_object().unwrap() {
            let name = route["route"].as_str().unwrap().to_owned();
            counted.insert((name, status.clone()), count.as_u64().unwrap());
        }
    }
    counted
}

fn expected(counts: &[(&str, &str, u64)]) -> BTreeMap<(String, String), u64> {
    counts.iter().map(|(route, status, n)| (((*route).into(), (*status).into()), *n)).collect()
}

#[test]
fn every_step_is_counted_as_the_server_counts_it() {
    let (file, feed) =
        (Scratch::with("shop.hurl", SHOP.as_bytes()), Scratch::with("users.csv", USERS));
    let ways = BACKENDS.map(|io| vec!["--io", io, "-c", "8", "-t", "2"]).into_iter();
    let of_http2 = [
        vec!["-c", "8", "-t", "2"],
        vec!["--io", "epoll", "-c", "8"],
        vec!["--users", "20", "--streams", "5", "-t", "2"],
        vec!["-c", "3", "--streams", "4", "--requests-per-connection", "10"],
        vec!["--no-keepalive", "-c", "4"],
        vec!["-r", "2000", "-c", "4", "--streams", "5"],
    ];
    let of_http2 = of_http2.map(|way| [vec!["--http", "2"], way].concat());
    let others = [vec!["--no-keepalive", "-c", "4"], vec!["-r", "2000", "-c", "20"]];
    for way in ways.chain(others).chain(of_http2) {
        let server = shop();
        let site = format!("site={}", url(&server, ""));
        let words = ["load", "--journey", file.word(), "--variable", &site, "--feed", feed.word()];
        let (ran, json) = measured(&[&words[..], &["-n", "400"], &way].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        let of = |pointer: &str| number(&json, &format!("/journeys{pointer}"));
        assert_eq!(
            (of("/begun"), of("/whole"), of("/failed"), of("/unfinished")),
            (400, 200, 200, 0)
        );
        assert_eq!(
            (of("/steps/0/failed"), of("/steps/1/failed"), of("/steps/2/failed")),
            (100, 100, 0)
        );
        let why = json.pointer("/journeys/steps/1/first/text").unwrap();
        assert_eq!(why, "line 15: the status is 404, not 200");
        // Login 2 asserts, or 1 that fails; item 1; basket and look 2 each.
        assert_eq!((of("/asserts/passed"), of("/asserts/failed")), (300 * 2 + 200 * 5, 200));
        let groups: Vec<u64> =
            (0..4).map(|step| number(&json, &format!("/groups/{step}/responses"))).collect();
        assert_eq!(groups, [400, 300, 200, 200], "{way:?}");
        let server_counted = expected(&[
            ("POST /login", "200", 300),
            ("POST /login", "401", 100),
            ("GET /items/ID", "200", 200),
            ("GET /items/ID", "404", 100),
            ("POST /basket", "201", 200),
            ("GET /basket", "200", 200),
        ]);
        assert_eq!(counted(&server), server_counted, "{way:?}");
    }
}

/// What comes in the turn that goes on behind the end of the run is counted nowhere: a whole journey has the responses of
/// all its steps, and each of those its asserts.
#[test]
fn journeys_end_when_the_run_does() {
    let (file, feed) = (
        Scratch::with("shop.hurl", SHOP.as_bytes()),
        Scratch::with("users.csv", b"user,password,item\nann,nna,3\n"),
    );
    let server = shop();
    let site = format!("site={}", url(&server, ""));
    let words = ["load", "--journey", file.word(), "--variable", &site, "--feed", feed.word()];
    for way in [&["-c", "40", "-d", "200ms"][..], &["-c", "40", "-d", "200ms", "--http", "2"]] {
        for _ in 0..4 {
            let (_, json) = measured(&[&words[..], way].concat());
            let of = |pointer: &str| number(&json, pointer);
            let groups: Vec<u64> =
                (0..4).map(|step| of(&format!("/groups/{step}/responses"))).collect();
            assert_eq!(of("/journeys/whole"), groups[3], "{way:?}");
            let asserts =
                [2, 1, 2, 2].iter().zip(&groups).map(|(asserts, responses)| asserts * responses);
            assert_eq!(of("/journeys/asserts/passed"), asserts.sum::<u64>(), "{way:?}");
        }
    }
}

#[test]
fn one_iteration_is_told_step_by_step() {
    let file = Scratch::with("shop.hurl", SHOP.as_bytes());
    let server = shop();
    let site = format!("site={}", url(&server, ""));
    let words =
        ["run", file.word(), "--variable", &site, "--variable", "user=ann", "--variable", "item=3"];
    let ran = ablaze(&[&words[..], &["--secret", "password=nna", "--very-verbose"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for line in [
        "login: POST /login\n",
        "  200 OK in ",
        "  token = ",
        "user=ann&password=***",
        "7 passed of 7 asserts",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = ablaze(&[&words[..], &["--secret", "password=wrong"]].concat());
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("shop.hurl:6: the status is 401, not 200\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("item: "), "{}", ran.stdout);
}

#[test]
fn a_journey_that_never_is_whole_is_a_failure_with_its_reason() {
    let server = shop();
    let text = "GET /slow?time=0ms\nHTTP 200\n[Asserts]\nheader \"X-None\" exists\n";
    let file = Scratch::with("none.hurl", text.as_bytes());
    let target = url(&server, "");
    let ran = ablaze(&["load", "--journey", file.word(), &target, "-n", "5"]);
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("no journey was whole: GET /slow failed, line 4: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains(" journeys/s "), "{}", ran.stdout);
}

#[test]
fn files_and_forms_are_sent_as_they_are() {
    let server = shop();
    let folder = Folder::new("journey");
    let name = "part.txt";
    folder.write(name, b"hello");
    let text = format!(
        "POST {0}/upload\n[Multipart]\nkind: a b\nfile: file,{name};\nHTTP 200\n[Asserts]\nbody contains \
         \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"\nbody contains \"text/plain\"\n\n\
         POST {0}/upload\nfile,{name};\nHTTP 200\n[Asserts]\nbody contains \
         \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"\n",
        url(&server, "")
    );
    let journey = folder.write("upload.hurl", &text);
    for http in ["1.1", "2"] {
        let ran = ablaze(&["run", &journey, "--http", http]);
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn steps_go_to_several_hosts_with_and_without_tls() {
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let tls = Some(TlsOptions::new(Identity::self_made(&[address.ip()]).unwrap()));
    let both = |tls| {
        Server::start(Options { address, tls, http2: true, threads: 1, ..Options::default() })
            .unwrap()
    };
    let (plain, other, secured) = (both(None), both(None), both(tls));
    let text = format!(
        "GET {}/hello\nHTTP 200\n\nGET https://localhost:{}/bytes/20000\nHTTP 200\n[Asserts]\nbytes count == \
         20000\n\nGET {{{{other}}}}/hello\nHTTP 200\n",
        url(&plain, ""),
        secured.address().port(),
    );
    let file = Scratch::with("several.hurl", text.as_bytes());
    let of_http2 = vec!["--http", "2", "--streams", "3", "-c", "2"];
    let rows = format!("other\n{}\n{}\n", url(&plain, ""), url(&other, ""));
    let feed = Scratch::with("others.csv", rows.as_bytes());
    let others = [vec!["--no-keepalive", "-c", "4"], of_http2];
    let ways = BACKENDS.map(|io| vec!["--io", io, "-c", "4"]).into_iter();
    for way in ways.chain(others) {
        let words = ["load", "--journey", file.word(), "--feed", feed.word(), "-n", "100", "-k"];
        let words = [&words[..], &["-t", "2"], &way].concat();
        let (ran, json) = measured(&words);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert_eq!(number(&json, "/journeys/whole"), 100, "{way:?}");
        assert_eq!(json.pointer("/target/others").unwrap().as_array().unwrap().len(), 2);
    }
    let served = |server: Running| server.stop().unwrap().requests;
    assert_eq!((served(plain), served(other), served(secured)), (4 * 150, 4 * 50, 4 * 100));
}

#[test]
fn what_cannot_be_walked_is_refused_by_its_line() {
    let refused = |text: &str, words: &[&str], expected: &str| {
        let file = Scratch::with("bad.hurl", text.as_bytes());
        let ran = ablaze(&[&["load", "--journey", file.word(), "-n", "1"], words].concat());
        assert_eq!(ran.status, 2, "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
    };
    refused("GET http://a/\nfoo\n", &[], "bad.hurl:2:1: expected ");
    refused(
        "GET http://a/\n\nGET http://a/{{who}}\n",
        &[],
        "bad.hurl:3: the variable who is not set",
    );
    refused("GET {{site}}/\n", &[], "--variable site=VALUE");
    refused(
        "GET http://b/\n",
        &["http://a/"],
        "bad.hurl:1: the URL http://b/ goes elsewhere than to http://a, and so does every other step",
    );
    refused("GET http://a/\n\nGET b/\n", &[], "bad.hurl:3: the URL b/ has no scheme");
    refused("GET http://a/\n\nGET http://b/\n", &["--unix-socket", "s"], "requests also go to b");
    refused("GET http://a/\n[Asserts]\n", &[], "bad.hurl:");
    refused("GET http://a/\nHTTP 200\n[Asserts]\nxpath \"//a\" exists\n", &[], "bad.hurl:4: ");
    refused("GET http://a/\n", &["--pipeline", "2"], "--journey and --pipeline cannot be used");
    refused(
        "GET http://a/\n",
        &["--http", "2", "--users", "10", "--streams", "4"],
        "a connection carries 4 users; use a multiple of 4 users",
    );
    refused("GET http://a/\n", &["-b", "x"], "--journey and --body cannot be used together");
    refused("GET http://a/\n", &["-H", "X: y"], "--journey and -H cannot be used together");
    refused("GET http://a/\n", &["--variable", "x"], "expected NAME=VALUE");
    refused("GET /a\n", &[], "are paths alone: give the URL of the server");
    refused("POST http://a/\nfile,nowhere.bin;\n", &[], "nowhere.bin");
    refused("GET http://a/\n", &["--variable", "ablaze_seq=1"], "the name is reserved");
    let feed = Scratch::with("f.csv", b"a\n1\n");
    refused("GET http://a/\n", &["--feed", feed.word()], "no step uses a column of it");
    let ran = ablaze(&["load", ":1/", "-n", "1", "--secret", "a=b"]);
    ran.assert_one_line(2, "--secret needs --journey FILE.hurl");
    let ran = ablaze(&["ab", "--journey", "x.hurl", "-n", "1", "http://127.0.0.1:1/"]);
    assert!(ran.stderr.contains("not by `ablaze ab`"), "{}", ran.stderr);
}

#[test]
fn secrets_are_in_no_report() {
    let server = shop();
    let text = format!(
        "POST {}/login\n[Form]\nuser: ann\npassword: {{{{p}}}}\nHTTP 200\n[Asserts]\nbody == \"{{{{p}}}}\"\n",
        url(&server, "")
    );
    let file = Scratch::with("secret.hurl", text.as_bytes());
    let (ran, json) = measured(&["load", "--journey", file.word(), "-n", "3", "--secret", "p=nna"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let shown = json.to_string() + &ran.stderr;
    assert!(!shown.contains("nna"), "{shown}");
    assert!(shown.contains("p=***"), "{shown}");
}

/// Sends back what came, head and body.
struct Echo;

impl Handler for Echo {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let came = [request.head, request.body].concat();
        Reply::from(Response::text(200, String::from_utf8_lossy(&came)))
    }

    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        true
    }
}

/// Passwords have characters that are encoded wherever they go, and servers repeat what they get.
#[test]
fn secrets_are_hidden_however_they_are_written() {
    let options =
        Options { address: "127.0.0.1:0".parse().unwrap(), threads: 1, ..Options::default() };
    let server = Server::start_with(options, Echo).unwrap();
    let text = "POST SITE/a?p={{p}}\n[BasicAuth]\nann: {{p}}\n[Form]\np: {{p}}\nHTTP 200\n\
                [Captures]\nmine: regex \"(seen)\" redact\n\n\
                POST SITE/b\nX-Token: {{mine}} {{mine}}\n{\"p\": \"{{p}}\", \"seen\": 1}\nHTTP 500\n";
    let text = text.replace("SITE", &url(&server, ""));
    let file = Scratch::with("secret.hurl", text.as_bytes());
    let secret = "p=seen zq9x cr&t\"é";
    let words = [file.word(), "--secret", secret];
    let run = ablaze(&[&["run"], &words[..], &["--very-verbose"]].concat());
    let (ran, json) = measured(&[&["load", "-n", "3", "--journey"], &words[..]].concat());
    for shown in [run.stdout, json.to_string() + &ran.stderr + &ran.stdout] {
        // As RFC 7617 has the credentials.
        for part in ["zq9x", "cr&t", "cr%26t", "%22%C3", "YW5uOnNlZW4genE5"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains("***"), "{shown}");
    }
}

/// 50 MB of one letter.
struct Large(FixedResponse);

impl Handler for Large {
    fn reply<'a>(&'a self, _request: &Request<'a>) -> Reply<'a> {
        Reply::from(Response::Fixed(&self.0))
    }

    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        false
    }
}

#[test]
fn a_capture_of_50_mb_fails_with_its_reason_and_the_run_goes_on() {
    let body: &'static [u8] = vec![b'x'; 50_000_000].leak();
    let large = Large(FixedResponse::new(200, "large", "text/plain", FixedBody::Bytes(body)));
    let address = "127.0.0.1:0".parse().unwrap();
    let server = Server::start_with(Options { address, ..Options::default() }, large).unwrap();
    let text = format!("GET {}\nHTTP 200\n[Captures]\nall: body\n", url(&server, "/"));
    let file = Scratch::with("large.hurl", text.as_bytes());
    let (ran, json) = measured(&["load", "--journey", file.word(), "-n", "3", "-c", "1"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert_eq!((number(&json, "/journeys/failed"), number(&json, "/responses")), (3, 3));
    let why = json.pointer("/journeys/steps/0/first/text").unwrap();
    assert_eq!(
        why,
        "line 4: the capture of all: the body has 50000000 bytes, and captures and asserts look at 1048576 at most"
    );
}

/// `HTTP *` names no status: what comes in that step is as the file says, and elsewhere it is not. So it is in a saved run.
#[test]
fn a_step_that_permits_any_status_has_no_unexpected_one() {
    let shop = shop();
    let file = format!("GET {0}/items/1001\nHTTP *\n\nGET {0}/items/1001\n", url(&shop, ""));
    let journey = Scratch::with("any.hurl", file.as_bytes());
    let saved = Scratch::new("any.json");
    let (ran, json) =
        measured(&["--journey", journey.word(), "-n", "20", "-c", "2", "-o", saved.word()]);
    assert_eq!((number(&json, "/responses"), number(&json, "/unexpected")), (40, 20), "{ran:?}");
    let names_of_d04 = |text: &str| text.contains("20 of 40 responses (50 %)");
    let findings = json["verdict"]["findings"].to_string();
    assert!(names_of_d04(&findings), "{findings}");
    let explained = ablaze(&["explain", saved.word()]).stdout;
    assert!(names_of_d04(&explained) && explained.contains("journey "), "{explained}");
    let any = format!("GET {}/items/1001\nHTTP *\n", url(&shop, ""));
    let journey = Scratch::with("all.hurl", any.as_bytes());
    let ran = ablaze(&["--journey", journey.word(), "-n", "20", "-c", "2"]);
    assert!(ran.status == 0 && !ran.stdout.contains("unexpected"), "{ran:?}");
}
