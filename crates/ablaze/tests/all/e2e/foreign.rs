//! Text of others (heads and bodies of a server, the names it gives itself, a run that somebody else saved) in
//! everything that ablaze prints and writes: none of it commands a terminal, reorders a line or hides.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use ablaze_model::printable::is_hostile;
use ablaze_testing::{Bounded, Running, Scratch as Folder};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::e2e::support::{ablaze, command, run, start};

/// A server that responds to one request of each connection with these bytes, on a thread that ends with the test.
fn server_of(response: Vec<u8>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&response);
        }
    });
    url
}

/// Every hostile character but the ends of lines.
pub fn every() -> String {
    let all = (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_hostile(*c));
    all.filter(|c| !matches!(c, '\n' | '\r')).collect()
}

/// What a command prints where standard output is a terminal.
fn on_a_terminal(words: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let path = Path::new(std::str::from_utf8(name.to_bytes()).unwrap());
    let out = File::options().read(true).write(true).open(path).unwrap();
    let mut command = command(words);
    command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(out);
    let child = command.start().unwrap();
    drop(command);
    let reading = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // EIO, when the other side is closed.
        let _ = File::from(terminal).read_to_end(&mut shown);
        shown
    });
    let ran = child.end();
    assert_fit(words, &ran.stderr);
    String::from_utf8(reading.join().unwrap()).unwrap()
}

/// A report that nothing hostile stands in; a terminal ends lines with `\r\n`, and colours are ablaze's own.
pub fn assert_fit(what: &[&str], text: &str) {
    let mut text = text.replace("\r\n", "\n");
    for own in ["0", "1", "2", "31", "33"] {
        text = text.replace(&format!("\u{1b}[{own}m"), "");
    }
    let found: Vec<char> =
        text.chars().filter(|c| is_hostile(*c) && !matches!(c, '\n' | '\t')).collect();
    assert!(found.is_empty(), "{what:?}: {found:?} in {text}");
}

fn assert_files_fit(folder: &Folder) {
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.is_symlink() {
            files += 1;
            assert_fit(&[&path.to_string_lossy()], &std::fs::read_to_string(&path).unwrap());
        }
    }
    assert!(files >= 6, "{files}");
}

#[test]
fn heads_and_bodies_do_not_command_a_terminal() {
    let hostile = every();
    let field = hostile.replace('\0', "");
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: evil{field}\r\nX: \u{202e}\r\nContent-Length: {}\r\n",
        hostile.len()
    );
    let lenient = format!("{head}Connection: close\r\n\r\n{hostile}").into_bytes();
    // Bytes that no encoding of Unicode has, and fields that every client takes.
    let strict =
        b"HTTP/1.1 200 OK\r\nServer: evil\xe2\x80\xae\x9b2J\xc2\x9b\r\nContent-Length: 1\r\n\
        Connection: close\r\n\r\n\x1b";
    let garbage = format!("GET{hostile}\r\n\r\n").into_bytes();
    for response in [lenient, strict.to_vec(), garbage] {
        let url = server_of(response);
        for words in [
            &["ab", "-v", "4", "-n", "2", "-s", "5", &url][..],
            &["ab", "-q", "-w", "-n", "2", &url],
            &["gurl", "-bench", "2:1", &url],
            &["-n", "2", &url, "--explain"],
            &["-n", "2", &url, "--json"],
            &[
                "compare",
                &format!("a={url}"),
                &format!("b={url}"),
                "-n",
                "2",
                "--repeat",
                "1",
                "--folder",
                "/dev/null/x",
            ],
        ] {
            assert_fit(words, &on_a_terminal(words));
        }
        let folder = Folder::new("foreign-heads");
        let files = ["run.json", "run.html", "run.md", "run.svg", "run.txt", "run.csv", "run.hlog"];
        let files = files.map(|name| folder.file(name));
        let mut words = vec!["-n", "2", "-c", "1", &url];
        words.extend(files.iter().flat_map(|file| ["-o", file]));
        ablaze(&words);
        assert_files_fit(&folder);
    }
}

#[test]
fn a_pipe_gets_the_bytes_of_the_head_as_they_came() {
    let url = server_of(
        b"HTTP/1.1 200 OK\r\nServer: \x9b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            .to_vec(),
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["ab", "-v", "2", "-n", "1", &url])
        .bounded_output()
        .unwrap();
    let came = b"Server: \x9b\r\n";
    assert!(output.stdout.windows(came.len()).any(|part| part == came), "{output:?}");
}

/// The built-in server as a process of this name, and its URL.
pub fn served_as(folder: &Folder, name: &str) -> (Running, String) {
    let program = folder.path().join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ablaze"), &program).unwrap();
    let mut server = start(Command::new(&program).args(["serve", ":0", "-t", "1"]));
    let mut told = BufReader::new(server.stdout.take().unwrap()).lines();
    let line =
        told.find_map(|line| line.unwrap().split_once("http://").map(|(_, url)| url.to_owned()));
    let address = line.unwrap();
    (server, format!("http://{}/", address.split(['/', ' ']).next().unwrap()))
}

/// A list of paths, whose lines are names of groups: with what a URL may have and a terminal obeys, and with markup.
pub fn list(folder: &Folder) -> String {
    folder.write("urls.txt", "/a\u{202e}\u{200b}</script><b>hostile</b>\n/c\u{9b}2J\u{85}d\n")
}

#[test]
fn the_name_of_a_process_is_spelled_out() {
    let folder = Folder::new("foreign-names");
    for name in ["x\u{1b}[2J\n\u{9b}1m", "\u{202e}\u{200b}\u{1b}c"] {
        let (server, url) = served_as(&folder, name);
        let files = ["run.json", "run.html", "run.md", "run.svg", "run.txt", "run.csv", "run.hlog"];
        let files = files.map(|name| folder.file(name));
        let mut words = vec!["-d", "800ms", "-c", "1", &url, "--explain"];
        words.extend(files.iter().flat_map(|file| ["-o", file]));
        let shown = on_a_terminal(&words);
        assert_fit(&words, &shown);
        assert!(shown.contains("\\u{1b}"), "{shown}");
        assert_files_fit(&folder);
        for words in [&["doctor", &url][..], &["doctor", &url, "--json"], &["report", &files[0]]] {
            let ran = run(&mut command(words));
            assert_fit(words, &ran.stdout);
            assert_fit(words, &ran.stderr);
        }
        drop(server);
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn a_printed_report_with_escapes_is_explained_without_them() {
    let folder = Folder::new("foreign-report");
    let hostile = every();
    let text = format!(
        "$ ab -n 10 -c 2 http://h{hostile}/\nServer Software: {hostile}\nConcurrency Level: 2\n\
         Time taken for tests: 0.100 seconds\nComplete requests: 10\nFailed requests: 3\n   (Connect: 0, \
         Receive: 0, Length: 3, Exceptions: 0)\nRequests per second: 100.00 [#/sec] (mean)\n"
    );
    let file = folder.write("report.txt", text);
    for words in [&["explain", &file[..]][..], &["explain", "--json", &file]] {
        assert_fit(words, &on_a_terminal(words));
    }
}

/// Heads and bodies that command terminals, are markup, or are long; and no HTTP at all.
fn hostile_responses() -> [Vec<u8>; 3] {
    let hostile = every();
    let field = hostile.replace('\0', "");
    let long = "</script><b>hostile</b>".repeat(2_000);
    let of = |field: &str, body: &str| {
        format!(
            "HTTP/1.1 200 OK{field}\r\nServer: s{field}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    [of(&field, &hostile), of(&long, &long), format!("GET{hostile}\r\n\r\n").into_bytes()]
}

#[test]
fn the_reports_of_other_tools_do_not_command_a_terminal() {
    for response in hostile_responses() {
        let url = server_of(response);
        let folder = Folder::new("foreign-tools");
        let targets = folder.write("targets", format!("GET {url}\n"));
        let (targets, file) = (format!("-targets={targets}"), folder.file("results.json"));
        let named = format!("-name=x{}</script>", every().replace('\0', ""));
        for words in [
            &["wrk", "--latency", "-d", "1s", "-c", "1", "-t", "1", &url][..],
            &["hey", "-n", "2", "-c", "1", &url],
            &["h2load", "--h1", "-n", "2", "-c", "1", &url],
            &["oha", "-n", "2", "-c", "1", "--no-tui", &url],
            &["oha", "-n", "2", "-c", "1", "--no-tui", "--output-format", "json", &url],
            &["vegeta", "attack", "-duration=300ms", "-rate=10", &targets, &named],
            &[
                "vegeta",
                "attack",
                "-duration=300ms",
                "-rate=10",
                &targets,
                &named,
                "-output",
                &file,
            ],
            &["vegeta", "report", &file],
            &["vegeta", "report", "-type=json", &file],
        ] {
            assert_fit(words, &on_a_terminal(words));
        }
        assert_fit(&["results"], &std::fs::read_to_string(&file).unwrap());
    }
    // Results that somebody else has written.
    let folder = Folder::new("foreign-results");
    let error = serde_json::Value::from(every());
    let line = format!(
        "{{\"code\":0,\"timestamp\":\"2026-01-02T03:04:05Z\",\"latency\":5,\"error\":{error}}}\n"
    );
    let file = folder.write("results.json", line);
    for kind in ["text", "json", "hist[0,1ms]", "hdrplot"] {
        let words = ["vegeta", "report", "-type", kind, &file];
        assert_fit(&words, &on_a_terminal(&words));
    }
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn experiments_and_searches_do_not_command_a_terminal() {
    let hostile = every().replace('\0', "");
    let title = format!("title {hostile}</script><b>hostile</b>");
    for response in hostile_responses() {
        let url = server_of(response);
        let folder = Folder::new("foreign-experiments");
        let in_folder = |name: &str| folder.file(name);
        let spelled: String = hostile.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
        let file = folder.write(
            "experiment.toml",
            format!(
                "title = \"{spelled}</script><b>hostile</b>\"\nabout = \"{spelled}\"\nrepeats = 1\n\
                 [targets.\"a\"]\nurl = \"{url}\"\n[load]\nconnections = 1\nrequests = 2\n"
            ),
        );
        let (swept, found, ran) = (in_folder("swept"), in_folder("found"), in_folder("ran"));
        for words in [
            &["sweep", &url, "-c", "1,2", "-n", "2", "--repeat", "1", "--folder", &swept][..],
            &[
                "find",
                &url,
                "--slo",
                "p99<900ms",
                "--from",
                "5",
                "--to",
                "5",
                "-d",
                "500ms",
                "--confirm",
                "500ms",
                "--title",
                &title,
                "--note",
                &title,
                "--folder",
                &found,
            ],
            &["run", &file, "--folder", &ran],
        ] {
            assert_fit(words, &on_a_terminal(words));
        }
        let mut pages = 0;
        for path in [&swept, &found, &ran].map(|kept| files_below(Path::new(kept))).concat() {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_fit(&[&path.to_string_lossy()], &text);
            if path.extension().is_some_and(|extension| extension == "html") {
                pages += 1;
                assert!(!text.contains("<b>hostile"), "{}: markup", path.display());
            }
        }
        assert!(pages > 0);
    }
}

/// Whoever checks a file from elsewhere sees what it says: nothing in it is concealed, coloured or moved to another line.
#[test]
fn colours_of_a_file_are_not_those_of_a_report() {
    let folder = Folder::new("foreign-colours");
    let server = crate::e2e::support::serve();
    let url = crate::e2e::support::url(&server, "/");
    let evil = r"x\u001b[8m hidden \u001b[0m\u001b[31mred\n  target forged";
    let load = |parts: &str| {
        format!(
            "title = \"{evil}\"\nabout = \"{evil}\"\nrepeats = 1\n{parts}[targets.a]\nurl = \"{url}\"\n\
             [load]\nheader = [\"X: \\u001b[31mred\"]\nconnections = 1\nrequests = 2\n"
        )
    };
    let plain = folder.write("plain.toml", load("").replace(r"\u001b[31mred\n", r"\n"));
    let parts = folder.write("parts.toml", load(&format!("[parts.\"{evil}\"]\n[parts.b]\n")));
    let ran = folder.file("ran");
    for words in [
        &["run", &plain, "--check"][..],
        &["run", &parts, "--check"],
        &["run", &parts, "--folder", &ran],
    ] {
        let shown = on_a_terminal(words);
        assert!(!shown.contains('\u{1b}'), "{words:?}: {shown}");
        assert!(!shown.lines().any(|line| line.starts_with("  target forged")), "{shown}");
        assert!(shown.contains(r"x\u{1b}[8m hidden \u{1b}[0m"), "{words:?}: {shown}");
    }
}
