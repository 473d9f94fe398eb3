//! Faults under every model: each that strikes is counted, whatever it does to the response and its connection.

use std::thread;
use std::time::{Duration, Instant};

use ablaze_target::conditions::{Fault, FaultShare};
use ablaze_target::{Counts, Options, Running};

use crate::client::{Client, get};
use crate::models::{accept_modes, for_each_model, options, start};

const LIMIT: Duration = Duration::from_secs(60);

const ALL: [Fault; 8] = [
    Fault::ResetBefore,
    Fault::ResetDuring,
    Fault::ResetAfter,
    Fault::CloseUnanswered,
    Fault::ShortBody,
    Fault::WrongLength,
    Fault::Garbage,
    Fault::Trickle,
];

/// The counters when so many requests were served; a model may count after its bytes have left.
fn served(server: &Running, requests: u64) -> Counts {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let counts = server.served();
        if counts.requests >= requests {
            return counts;
        }
        assert!(Instant::now() < end, "not served within 10 s: {counts:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_fault_is_counted() {
    for_each_model(LIMIT, |model| {
        let plain = options(model, accept_modes(model)[0], 1);
        for fault in ALL {
            let faults = vec![FaultShare { fault, share: 1.0 }];
            let server = start(Options { faults, ..plain.clone() });
            let mut clients: Vec<_> = (0..3).map(|_| Client::connect(server.address())).collect();
            clients.iter_mut().for_each(|client| client.send(get("/hello")));
            let counts = served(&server, 3);
            assert_eq!((counts.requests, counts.faults), (3, 3), "{model}, {fault:?}");
        }
        let server = start(plain);
        Client::connect(server.address()).ask(get("/hello"));
        assert_eq!(served(&server, 1).faults, 0, "{model}");
    });
}
