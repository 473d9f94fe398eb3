//! Who is refused, and what a server must bear.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use ablaze_testing::Bounded;
use ablaze_testing::process::eventually;

use super::support::{Watched, read_until, serve};

#[test]
fn without_the_token_from_elsewhere_or_under_another_name_everything_is_refused() {
    let (_server, url) = serve();
    let watched = Watched::start(&[&url, "-c", "1", "-d", "30s"]);
    let (host, token) = (&watched.host, &watched.token);
    let refused = |method: &str, target: &str, fields: &str| {
        let response = watched.asked(method, target, fields);
        let is_refused = response.starts_with("HTTP/1.1 403 ");
        assert!(is_refused && !response.contains(token.as_str()), "{target} {fields}: {response}");
    };
    let own = format!("Host: {host}\r\n");
    for path in ["/", "/events", "/finished", "/elsewhere"] {
        refused("GET", path, &own);
        refused("GET", &format!("{path}?token="), &own);
        refused("GET", &format!("{path}?token={}", "0".repeat(32)), &own);
        refused("GET", &format!("{path}?token={token}0"), &own);
        refused("GET", &format!("{path}?token={token}"), "Host: evil.example\r\n");
        refused("GET", &format!("{path}?token={token}"), "");
    }
    let control = format!("/control?token={token}&do=stop");
    refused("POST", "/control?do=stop", &own);
    refused("POST", &control, &format!("{own}Origin: http://evil.example\r\n"));
    refused("POST", &control, &format!("{own}Origin: null\r\n"));
    let port = host.split(':').nth(1).unwrap();
    refused("POST", &control, &format!("Host: evil.example:{port}\r\n"));
    // Whoever is let in cannot do everything either.
    let own = |method: &str, target: &str| watched.asked(method, target, &own);
    assert!(own("GET", &control).starts_with("HTTP/1.1 405 "));
    assert!(own("POST", &format!("/?token={token}")).starts_with("HTTP/1.1 405 "));
    assert!(own("GET", &format!("/no?token={token}")).starts_with("HTTP/1.1 404 "));
    assert!(own("GET", &format!("/finished?token={token}")).starts_with("HTTP/1.1 404 "));
    assert!(own("POST", &format!("/control?token={token}&do=x")).starts_with("HTTP/1.1 400 "));
    let localhost = format!("Host: localhost:{port}\r\n");
    let page = watched.asked("GET", &format!("/?token={token}"), &localhost);
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    for field in ["Referrer-Policy: no-referrer", "frame-ancestors 'none'", "no-store"] {
        assert!(page.contains(field), "{field}: {page}");
    }
    assert_eq!(watched.press("stop"), "ending");
    assert_eq!(watched.end().0, Some(130));
}

#[test]
fn slow_and_hostile_clients_take_nothing_from_the_run_nor_from_others() {
    let (_server, url) = serve();
    let watched = Watched::start(&[&url, "-r", "200", "-d", "60s"]);
    // A head one byte at a time.
    let mut slow = watched.connect();
    let (host, token) = (&watched.host, &watched.token);
    let request = format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    request.bytes().for_each(|byte| slow.write_all(&[byte]).unwrap());
    assert!(read_until(&mut slow, "</html>"));
    // A head without end is cut off, what is none is refused, and so is a body.
    let mut endless = watched.connect();
    while endless.write_all(&[b'x'; 4096]).is_ok() {}
    let no_head = |head: &str| {
        let mut response = String::new();
        let _ = watched.sent(head).read_to_string(&mut response);
        response
    };
    assert!(no_head("\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(no_head("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n").starts_with("HTTP/1.1 413 "));
    // A browser that reads nothing, and fifteen more: the seventeenth is told so, and has a place when one goes.
    let mut followers: Vec<TcpStream> = (0..16).map(|_| watched.events()).collect();
    let last = followers.last_mut().unwrap();
    assert!(read_until(last, "event: parts"));
    assert!(watched.get("/events").starts_with("HTTP/1.1 503 "));
    drop(followers.split_off(1));
    assert!(eventually(|| {
        let mut head = [0; 12];
        watched.events().read_exact(&mut head).is_ok() && &head == b"HTTP/1.1 200"
    }));
    // A place is free again when it is noticed that its browser has gone, at the next thing that is sent.
    assert!(eventually(|| watched.tells("of 60 s")));
    assert_eq!(watched.press("stop"), "ending");
    drop(followers);
    let (status, said) = watched.end();
    assert_eq!(status, Some(130), "{said}");
}

#[test]
fn an_address_that_is_taken_or_none_is_told_before_the_run() {
    let (_server, url) = serve();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("--web={}", taken.local_addr().unwrap());
    let ran = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_ablaze")).args(words).ran();
    let refused = ran(&[&url, "-n", "1", &option]);
    refused.assert_one_line(2, "--web cannot listen on");
    ran(&[&url, "-n", "1", "--web=here"]).assert_one_line(2, "0.0.0.0:8089");
    ran(&[&url, "-n", "1", "--linger", "1s"]).assert_one_line(2, "--web");
}

#[test]
fn an_address_that_others_can_reach_comes_with_what_that_means() {
    let (_server, url) = serve();
    let ran = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args([url.as_str(), "-n", "1", "--quiet", "--web=0.0.0.0:0"])
        .ran();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("watch at http://127.0.0.1:"), "{ran:?}");
    assert!(ran.stderr.contains("can be reached from other machines"), "{ran:?}");
}
