//! A server of one's own, loaded: its handler sees method, field and body of every request, under two models.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_load::Load;
use ablaze_target::handler::{Handler, Method, Reply, Request, Response};
use ablaze_target::{Model, Options, Server};

/// Adds up the numbers that are posted to it.
#[derive(Clone, Default)]
struct Sum(Arc<AtomicU64>);

impl Handler for Sum {
    fn wants_body(&self, method: Method, _path: &[u8]) -> bool {
        method == Method::Put
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let number = std::str::from_utf8(request.body).ok().and_then(|text| text.parse().ok());
        match (request.method, request.field("x-unit"), number) {
            (Method::Put, Some(b"apples"), Some(number)) => {
                self.0.fetch_add(number, Ordering::Relaxed);
                Response::text(201, "counted\n").into()
            }
            _ => Response::text(422, "PUT a number of apples\n").into(),
        }
    }
}

#[test]
fn a_handler_with_a_body_serves_under_two_models() {
    for model in ["epoll-et", "blocking"] {
        let sum = Sum::default();
        let address = "127.0.0.1:0".parse().unwrap();
        let model = Model::from_name(model).unwrap();
        let options = Options { address, model, threads: 2, ..Options::default() };
        let server = Server::start_with(options, sum.clone()).unwrap();
        let load = Load::url(format!("http://{}/apples", server.address()))
            .method("PUT")
            .header("X-Unit", "apples")
            .body("{seq}")
            .connections(4)
            .requests(100);
        let run = load.run().unwrap();
        assert_eq!(run.statuses().iter().collect::<Vec<_>>(), [(&201, &100)], "{model}");
        // `{seq}` is another number in each request: 100 different ones add up to this at least.
        assert!(sum.0.load(Ordering::Relaxed) >= (0..100).sum(), "{model}");
        let run = load.method("POST").run().unwrap();
        assert_eq!((run.statuses()[&422], run.unexpected()), (100, 100), "{model}");
        server.stop().unwrap();
    }
}
