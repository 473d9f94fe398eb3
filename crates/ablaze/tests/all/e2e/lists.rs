//! Lists whose lines say method, fields, body and host: what arrives, where and how often, and the rows of the report.

use std::collections::{BTreeMap, BTreeSet};

use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch as Folder;

use crate::e2e::recording::Recording;
use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number, serve, url};

#[test]
fn every_line_is_sent_as_it_says() {
    let server = Recording::start("");
    let folder = Folder::new("lists");
    let body = folder.write("order.json", r#"{"id":"{seq:3}"}"#);
    let list = format!(
        "/plain\nPOST {0} a=1&b=2\nPUT /order\nContent-Type: application/x+json\nX-Own: 1\n@{body}\n\n\
         GET /get\nX-Both: own\n\nDELETE /item\n",
        server.url("/form")
    );
    let list = folder.write("list.txt", list);
    let target = server.url("/");
    for io in BACKENDS {
        let words = [&target[..], "--urls", &list, "-H", "X-Both: all", "-H", "X-All: 1"];
        let rest = ["-n", "10", "-c", "1", "-t", "1", "--io", io];
        let (ran, json) = measured(&[&words[..], &rest].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let came = server.taken(10);
        let lines: Vec<&str> = came.iter().map(|one| one.line()).collect();
        let once = ["GET /plain", "POST /form", "PUT /order", "GET /get", "DELETE /item"];
        let counted = lines.iter().fold(BTreeMap::new(), |mut counted, line| {
            *counted.entry(*line).or_insert(0) += 1;
            counted
        });
        assert_eq!(counted, once.into_iter().map(|line| (line, 2)).collect(), "{lines:?}");
        for one in &came {
            let (kind, body) = match one.line() {
                "POST /form" => (vec!["text/plain"], "a=1&b=2".to_owned()),
                "PUT /order" => {
                    assert_eq!(one.field("X-Own"), "1");
                    let number = &one.text()[7..10];
                    (vec!["application/x+json"], format!(r#"{{"id":"{number}"}}"#))
                }
                _ => (vec![], String::new()),
            };
            assert_eq!((one.fields("Content-Type"), one.text()), (kind, body), "{one:?}");
            let both = if one.line() == "GET /get" { "own" } else { "all" };
            assert_eq!((one.field("X-Both"), one.field("X-All")), (both, "1"), "{one:?}");
        }
        let groups = json["groups"].as_array().unwrap();
        let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["/plain", "POST /form", "PUT /order", "GET /get", "DELETE /item"]);
        assert!(groups.iter().all(|group| number(group, "/responses") == 2), "{groups:?}");
    }
    let ran = ablaze(&[&target, "--urls", &list, "-n", "10", "-c", "1"]);
    assert!(
        ran.stdout.contains("POST /form") && ran.stdout.contains("5 URLs of"),
        "{}",
        ran.stdout
    );
}

#[test]
fn lines_may_go_to_several_hosts_with_and_without_tls() {
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let tls = Some(TlsOptions::new(Identity::self_made(&[address.ip()]).unwrap()));
    let secured =
        Server::start(Options { address, tls, threads: 1, ..Options::default() }).unwrap();
    let (first, second) = (serve(), Recording::start(""));
    let folder = Folder::new("hosts");
    let at_secured = format!("https://localhost:{}", secured.address().port());
    let list = format!(
        "{} 2\nPOST {} a={{seq}}\n{at_secured}/bytes/20000\nGET {at_secured}/hello\n",
        url(&first, "/hello"),
        second.url("/form"),
    );
    let list = folder.write("list.txt", list);
    let mut runs = 0_u64;
    for way in BACKENDS.map(|io| vec!["--io", io]).into_iter().chain([
        vec!["--no-keepalive"],
        vec!["--rate", "5000"],
        vec!["--assert", "status==200"],
    ]) {
        let words = ["load", "--urls", &list, "-k", "-n", "100", "-c", "5", "-t", "1"];
        let (ran, json) = measured(&[&words[..], &way].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        runs += 1;
        let groups = json["groups"].as_array().unwrap();
        let counts: Vec<f64> = groups.iter().map(|one| number(one, "/responses") as f64).collect();
        assert_eq!(counts, [40.0, 20.0, 20.0, 20.0], "{way:?}: {}", ran.stdout);
        assert_eq!(json.pointer("/target/others").unwrap().as_array().unwrap().len(), 2);
        assert_eq!(number(&json, "/responses"), 100, "{way:?}");
        let came = second.taken(20);
        assert_eq!(came.len(), 20, "{way:?}");
        // Each request has a number of its own, and the Host field of where it went.
        let numbers: BTreeSet<String> = came.iter().map(|one| one.text()).collect();
        assert_eq!(numbers.len(), 20, "{numbers:?}");
        assert!(came.iter().all(|one| second.url("").ends_with(one.field("Host"))), "{came:?}");
        if way[0] == "--assert" {
            assert_eq!(number(&json, "/checks/responses"), 100, "{json}");
        }
    }
    let ran = ablaze(&["load", "--urls", &list, "-k", "-n", "10", "-c", "2"]);
    let hosts = format!("{}, {} and {at_secured} ", url(&first, ""), second.url(""));
    assert!(ran.stdout.contains(&hosts), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 connections to each host"), "{}", ran.stdout);
    let served = |server: Running| server.stop().unwrap().requests;
    assert_eq!((served(first), served(secured)), (runs * 40 + 4, runs * 40 + 4));
}

#[test]
fn lines_go_to_several_hosts_over_http2() {
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let options = |tls| Options { address, tls, http2: true, threads: 1, ..Options::default() };
    let tls = TlsOptions::new(Identity::self_made(&[address.ip()]).unwrap());
    let (first, second) =
        (Server::start(options(None)).unwrap(), Server::start(options(None)).unwrap());
    let secured = Server::start(options(Some(tls))).unwrap();
    let folder = Folder::new("hosts-http2");
    let list = format!(
        "{} 2\nPOST {} a={{seq}}\nhttps://{}/bytes/20000\n",
        url(&first, "/hello"),
        url(&second, "/echo"),
        secured.address()
    );
    let list = folder.write("list.txt", list);
    let ways = [
        vec!["-c", "5"],
        vec!["-c", "2", "--streams", "4", "--io", "epoll"],
        vec!["-c", "4", "--streams", "2", "--rate", "5000"],
        vec!["-c", "2", "--no-keepalive"],
        vec!["-c", "2", "--streams", "3", "--assert", "status==200"],
    ];
    for way in &ways {
        let words = ["load", "--urls", &list, "-k", "--http", "2", "-n", "100", "-t", "1"];
        let (ran, json) = measured(&[&words[..], way].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        let groups = json["groups"].as_array().unwrap();
        let counts: Vec<u64> = groups.iter().map(|one| number(one, "/responses")).collect();
        assert_eq!(counts, [50, 25, 25], "{way:?}: {}", ran.stdout);
        assert_eq!(json.pointer("/statuses/200"), Some(&100.into()), "{way:?}: {}", ran.stdout);
    }
    let runs = ways.len() as u64;
    let served = [first, second, secured].map(|server| server.stop().unwrap().requests);
    assert_eq!(served, [runs * 50, runs * 25, runs * 25]);
}

#[test]
fn what_is_no_list_is_one_line() {
    let refused = |text: &str, words: &[&str], expected: &str| {
        let list = Scratch::with("list", text.as_bytes());
        let ran = ablaze(&[&["-n", "1", "--urls", list.word()], words].concat());
        ran.assert_one_line(2, expected);
    };
    refused("POST http://h/a\n@/no/such/file\n", &[], "cannot read file `/no/such/file` for");
    refused("POST http://h/a\nX: y\n\nZ: y\n", &[], "line 4: `Z:` is a header and belongs below");
    refused("POST http://h/a\nContent-Length: 7\n", &[], "line 1: Content-Length says 7");
    let two = "http://h/a\nPOST http://other/a x\n";
    let table = [
        (&["--pipeline", "4"][..], "--pipeline and several hosts cannot be used together"),
        (&["--proxy", "h:1"], "--proxy and several hosts cannot be used together"),
        (&["--unix-socket", "/no"], "--unix-socket and several hosts cannot be used together"),
        (&["http://third/"], "goes to http://third: leave the URL of the command line out"),
    ];
    for (words, expected) in table {
        refused(two, words, expected);
    }
    let lines = Scratch::with("lines", b"1\n2\n");
    refused("POST http://h/a x\n", &["--body-lines", lines.word()], "cannot be used together");
    let list = Scratch::with("list", b"POST http://127.0.0.1:9/a x\n");
    let ran = ablaze(&["ab", "-n", "1", "--urls", list.word(), "http://127.0.0.1:9/"]);
    assert!(ran.stderr.contains("are for `ablaze load`"), "{}", ran.stderr);
}
