//! Targets that are started, response, fail to, and are stopped.

use ablaze_testing::Scratch;

use super::*;

/// None of these targets speaks TLS.
fn program(file: &str) -> ThisProgram {
    ThisProgram { file: file.into(), ..ThisProgram::nowhere() }
}

fn site(scratch: &Scratch) -> Site {
    Site {
        program: program("ablaze"),
        path: "/hello".to_owned(),
        cpus: Vec::new(),
        folder: scratch.path().to_owned(),
        ready_within: Duration::from_secs(10),
        response: Response::default(),
        speaks: Speaks::default(),
        address: std::net::Ipv4Addr::LOCALHOST.into(),
        directory: None,
        control_speaks: Speaks::default(),
        certificate: Certificate::default(),
    }
}

const PYTHON: &str = "\
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = str(sorted(os.sched_getaffinity(0))).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
";

fn started_by(line: &str) -> Target {
    Target::new("mine", TargetSpec::Command(line.to_owned()))
}

fn fetch(url: &UrlSpec) -> String {
    use std::io::{Read, Write};
    let (host, path) = (url.host_field(), &url.path);
    let mut stream = std::net::TcpStream::connect(&host).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_command_is_waited_for_on_its_own_processor_and_stopped() {
    let scratch = Scratch::new("command");
    std::fs::write(scratch.path().join("server.py"), PYTHON).unwrap();
    let line = format!("python3 {}/server.py {{port}}", scratch.path().display());
    let cpu = *ablaze_sys::allowed_cpus().unwrap().last().unwrap();
    let site = Site { cpus: vec![cpu], ..site(&scratch) };
    let mut serving = Serving::start(&started_by(&line), &site).unwrap();
    assert_eq!(serving.url.path, "/hello");
    assert!(fetch(&serving.url).ends_with(&format!("[{cpu}]")));
    assert_eq!(serving.ended(), None);
    let address = (serving.url.host.clone(), serving.url.port);
    drop(serving);
    assert!(std::net::TcpStream::connect(address).is_err(), "it still listens");
}

#[test]
fn a_target_that_does_not_come_up_says_why() {
    let scratch = Scratch::new("fails");
    let start =
        |line: &str, site: &Site| Serving::start(&started_by(line), site).unwrap_err().to_string();
    let ended = start("echo no such option {port} >&2; exit 3", &site(&scratch));
    assert!(ended.contains("mine exited") && ended.contains("no such option"), "{ended}");
    let hurried = Site { ready_within: Duration::from_millis(200), ..site(&scratch) };
    let silent = start("sleep 60 # {port}", &hurried);
    assert!(silent.contains("did not respond on http://127.0.0.1:"), "{silent}");
    let nothing = Site { program: program("/no/such/program"), ..site(&scratch) };
    let target = Target::new("epoll-et", TargetSpec::Model(ModelSpec::default()));
    let missing = Serving::start(&target, &nothing).unwrap_err().to_string();
    assert_eq!(missing, "cannot start epoll-et: not installed");
}

#[test]
fn the_control_answers_as_it_is_told() {
    if ablaze_testing::skip::installed("nginx").is_none() {
        return;
    }
    // Its folder is a word of its configuration, whatever is in it.
    let scratch = Scratch::new("nginx; {in} a \"folder\"");
    let body = "a \"quoted\" $body; with\nlines".repeat(300);
    let response = Response { body: body.clone().into_bytes(), ..Response::default() };
    let site = Site { response, ..site(&scratch) };
    let target = Target::new("nginx", TargetSpec::Nginx { workers: 1 });
    let serving = Serving::start(&target, &site).unwrap();
    let response = fetch(&serving.url);
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.ends_with(&body), "{response}");
}
