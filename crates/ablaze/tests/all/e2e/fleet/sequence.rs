//! `{seq}` and `ablaze_seq` over a fleet: each number is used once.

use std::sync::{Arc, Mutex};

use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::{Options, Running, Server};

use super::coordinator;
use crate::e2e::support::{Scratch, number, run};

/// Notes the number that each path is.
struct Noting(Arc<Mutex<Vec<u64>>>);

impl Handler for Noting {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let path = String::from_utf8_lossy(request.path);
        let Ok(number) = path.trim_start_matches('/').parse() else {
            return Response::text(404, "no number\n").into();
        };
        self.0.lock().unwrap().push(number);
        Response::text(200, "noted\n").into()
    }
}

fn serve() -> (Running, Arc<Mutex<Vec<u64>>>) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let address = "127.0.0.1:0".parse().unwrap();
    let options = Options { address, http2: true, threads: 1, ..Options::default() };
    (Server::start_with(options, Noting(Arc::clone(&noted))).unwrap(), noted)
}

#[test]
fn numbers_in_requests_are_dealt_among_the_workers() {
    let journey = Scratch::new("fleet-seq.hurl");
    for way in ["1.1", "2", "journey"] {
        let (server, noted) = serve();
        let site = format!("http://{}", server.address());
        let text = format!("GET {site}/{{{{ablaze_seq}}}}\nHTTP 200\n");
        std::fs::write(journey.path(), text).unwrap();
        let target = format!("{site}/{{seq}}");
        let words = match way {
            "journey" => ["--journey", journey.word(), &site],
            version => ["--http", version, &target],
        };
        let fleet = ["load", "--quiet", "--json", "--fleet", "exec:3", "-n", "100", "-c", "3"];
        let ran = run(&mut coordinator(&[&fleet[..], &words].concat()));
        assert_eq!(ran.status, 0, "{way}: {ran:?}");
        assert_eq!(number(&ran.json(), "/responses"), 100, "{way}");
        let mut seen = noted.lock().unwrap().clone();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..100), "{way}: each number once: {seen:?}");
    }
}
