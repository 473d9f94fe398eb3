//! Scripts as people write them for wrk, without a network: what they have sent, what they are told, what they print.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod failing;
mod modules;
mod requests;
mod threads;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ablaze_script::{Network, Script, Setting, Worker};
use ablaze_testing::ScratchFile;

/// Where the host `two` is; only the second accepts connections.
const ADDRESSES: [&str; 2] = ["127.0.0.1:8001", "127.0.0.2:8001"];

/// What `wrk -s FILE -H 'X: y' http://two:8001/path?q -- first second` is.
fn setting(file: Option<PathBuf>) -> Setting {
    let lookup = |host: &str, service: &str| match (host, service) {
        ("two", "8001") => Ok(ADDRESSES.map(|address| address.parse().unwrap()).to_vec()),
        _ => Err(format!("unable to resolve {host}:{service}")),
    };
    let connect = |address: SocketAddr| address.ip().to_string() == "127.0.0.2";
    let words = ["http://two:8001/path?q", "first", "second"];
    Setting {
        file,
        scheme: "http".into(),
        host: "two".into(),
        port: Some("8001".into()),
        path: b"/path?q".to_vec(),
        headers: vec![(b"X".to_vec(), b"y".to_vec())],
        arguments: words.map(Into::into).to_vec(),
        network: Network { lookup: Arc::new(lookup), connect: Arc::new(connect) },
    }
}

/// A script of this text, whose file stands as long as it does.
fn script(text: &str) -> (Script, ScratchFile) {
    let file = ScratchFile::with("script.lua", text.as_bytes());
    (Script::load(setting(Some(file.path().to_owned()))).unwrap(), file)
}

/// The only thread of a script.
fn thread(text: &str) -> Worker {
    script(text).0.thread().unwrap()
}

/// Its next request, with the fields in order of their names.
fn request(worker: &Worker) -> String {
    let mut bytes = Vec::new();
    worker.request(&mut bytes).unwrap();
    sorted(&bytes)
}

fn sorted(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.split("\r\n").collect();
    lines[1..].sort_unstable();
    format!("{}|{body}", lines.join("|"))
}
