//! A planted secret is looked for in everything that is printed and written, over all options that take one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use ablaze_testing::Scratch as Folder;
use ablaze_testing::skip::installed;

use crate::e2e::support::{command, run, serve, start};

const SECRET: &str = "hunter2-xyzzy";

/// All files below a folder, with their contents.
fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                found.push((path.display().to_string(), text));
            }
        }
    }
}

/// Runs the command in a folder; neither its output nor any file there has the secret.
fn keeps_it(folder: &Folder, words: &[String]) {
    let ran =
        run(command(&words.iter().map(String::as_str).collect::<Vec<_>>())
            .current_dir(folder.path()));
    for (name, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        assert!(!text.contains(SECRET), "{words:?}: {name}: {text}");
    }
    let mut found = Vec::new();
    files(folder.path(), &mut found);
    for (name, text) in found {
        assert!(!text.contains(SECRET), "{words:?}: {name}");
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('_', " ")).collect()
}

#[test]
fn no_output_has_a_secret_of_the_command_line() {
    let server = serve();
    let (host, port) = (server.address().ip(), server.address().port());
    let plain = format!("http://{host}:{port}/");
    let typed = format!("http://me:{SECRET}@{host}:{port}/");
    let every = "-o r.json -o r.html -o r.md -o r.txt -o r.csv -o r.hlog -o r.svg";
    for line in [
        format!("-n 4 {typed} {every}"),
        format!("-n 4 -u me:{SECRET} {plain} --json {every}"),
        format!("-n 4 --user=me:{SECRET} {plain} {every}"),
        format!("-n 4 -H Authorization:_Bearer_{SECRET} -H Cookie:{SECRET} {plain} {every}"),
        format!(
            "-n 4 -H X-Api-Key:{SECRET} -H X-Auth-Token:{SECRET} --assert status==201 {plain} {every}"
        ),
        format!("wrk -t 1 -c 1 -d 1 -H X-Api-Key:{SECRET} {plain} -o r.json"),
        format!(
            "wrk -t 1 -c 1 -d 1 -H X-Api-Key:_{SECRET} -H X-Api-Key_{SECRET} {plain} -o r.json"
        ),
        format!("ab -n 4 -H X-Api-Key:{SECRET} {plain} --output r.json"),
        format!("-n 4 --proxy me:{SECRET}@{host}:{port} {plain} {every}"),
        format!(
            "ab -n 4 -q -A me:{SECRET} -P me:{SECRET} -C a={SECRET} {plain} --output r.json -w"
        ),
        format!("ab -n 4 -q -X me:{SECRET}@{host}:{port} {plain} --output r.json"),
        format!("ab -n 4 -kA me:{SECRET} {typed} --output r.json"),
        format!("gurl -bench 1:2 {typed}"),
        format!("compare a={typed} b={plain} -u me:{SECRET} -n 4 --repeat 1 --folder c"),
        format!("sweep -c 1,2 {typed} -n 4 --repeat 1 --folder s"),
        format!("find {typed} --slo p99<1s -d 50ms --from 10 --to 20 --confirm 50ms --folder f"),
        format!("doctor {typed} --json"),
    ] {
        keeps_it(&Folder::new("secrets"), &words(&line));
    }
}

#[test]
fn no_message_has_a_secret_of_the_command_line() {
    let typed = format!("http://me:{SECRET}@127.0.0.1:1/");
    let slash = format!("http://me:pa/{SECRET}@127.0.0.1:1/");
    for line in [
        format!("-n 1 {typed} {typed}"),
        format!("-n 1 http://me:{SECRET}@127.0.0.1:99999/"),
        format!("-n 1 {slash}"),
        format!("-n 1 http://me:{SECRET}@nosuch.invalid/"),
        format!("-n 1 --proxy http://me:{SECRET}@no!host:x :1"),
        format!("-n 1 --proxy ftp://me:{SECRET}@h :1"),
        format!("-n 1 --proxy=me:{SECRET}@ :1"),
        format!("-n 1 --connect-to http://me:{SECRET}@x:y :1"),
        format!("-n 1 --no-such-option=http://me:{SECRET}@h/ :1"),
        format!("-n 1 -H Authorization_{SECRET} :1"),
        format!("-n 1 -H Cookie_:_{SECRET} :1"),
        format!("ab -n 1 {typed} {typed}"),
        format!("ab -n 1 -X me:{SECRET}@h:x {typed}"),
        format!("ab -n 1 -A me{SECRET} ftp://me:{SECRET}@h/"),
        format!("gurl -bench 1:1 {typed} {typed}"),
        format!("compare a={typed} a={typed}"),
        format!("compare {typed}:x b=:1"),
        format!("sweep {typed} {typed}"),
        format!("find {typed} {typed} --slo p99<1s"),
        format!("doctor {typed} {typed}"),
        format!("report {typed}"),
        format!("explain {typed}"),
    ] {
        keeps_it(&Folder::new("secret-messages"), &words(&line));
    }
}

#[test]
fn secrets_of_the_server_s_command_line_stay_there() {
    let folder = Folder::new("server-secrets");
    let script = "import http.server, sys\nclass H(http.server.BaseHTTPRequestHandler):\n  def do_GET(self):\n    \
         self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()\n  \
         def log_message(self, *a): pass\ns = http.server.HTTPServer(('127.0.0.1', 0), H)\n\
         print(s.server_address[1], flush=True)\ns.serve_forever()\n";
    let program = folder.write("server.py", script);
    let password = format!("--db-password={SECRET}");
    let Some(python) = installed("python3") else { return };
    let mut server = start(Command::new(python).args([&program, "8080", &password]));
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let target = format!("http://127.0.0.1:{}/", line.trim());
    std::fs::remove_file(folder.file("server.py")).unwrap();
    let all = "-d 300ms -c 1 -o r.json -o r.html -o r.md -o r.txt";
    keeps_it(&folder, &words(&format!("{all} {target} --explain")));
    let kept = folder.read("r.json");
    assert!(kept.contains("server.py") && kept.contains("\"8080\""), "{kept}");
    // On request, it is all there.
    let whole = format!("{all} {target} --server-args");
    run(command(&words(&whole).iter().map(String::as_str).collect::<Vec<_>>())
        .current_dir(folder.path()));
    assert!(folder.read("r.json").contains(SECRET));
    server.kill().unwrap();
}
