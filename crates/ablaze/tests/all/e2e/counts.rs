//! What the report says was done, held against the server's own count.

use crate::e2e::support::{BACKENDS, measured, number, serve, url};

#[test]
fn responses_are_n_and_the_server_s_own_count_on_one_thread_and_two() {
    for io in BACKENDS {
        for threads in ["1", "2"] {
            let server = serve();
            let (ran, json) =
                measured(&[&url(&server, "/"), "-n100000", "-c64", "-t", threads, "--io", io]);
            assert_eq!(ran.status, 0, "{io} {threads}: {ran:?}");
            assert_eq!(number(&json, "/responses"), 100_000, "{io} {threads}");
            assert_eq!(json["workers"].as_array().unwrap().len().to_string(), threads);
            assert_eq!(server.stop().unwrap().requests, 100_000, "{io} {threads}");
        }
    }
}

#[test]
fn no_more_is_in_flight_than_was_asked_for() {
    for io in BACKENDS {
        let server = serve();
        let (_, json) = measured(&[&url(&server, "/"), "-n", "1000", "-c50", "--io", io]);
        // Fifty connections with one request each: the mean cannot be above that.
        let mean = json["in_flight"]["mean"].as_f64().unwrap();
        assert!(mean <= 50.0, "{io}: {mean} requests in flight on 50 connections");
    }
}

#[test]
fn the_end_that_comes_first_counts() {
    for io in BACKENDS {
        let server = serve();
        let target = url(&server, "/");
        let (_, json) = measured(&[&target, "-n", "200", "-d60", "--io", io]);
        assert_eq!(number(&json, "/responses"), 200, "{io}");
        let (_, json) = measured(&[&target, "-n", "1000M", "-d", "200ms", "--io", io]);
        let elapsed_ns = number(&json, "/elapsed_ns");
        assert!((200_000_000..10_000_000_000).contains(&elapsed_ns), "{io}: {elapsed_ns}");
        assert_eq!(json["ended"], "complete", "{io}");
    }
}

#[test]
fn warming_up_is_load_that_is_not_counted() {
    for io in BACKENDS {
        let server = serve();
        let words = [&url(&server, "/"), "-n", "500", "-c4", "--warmup", "100ms", "--io", io];
        let (ran, json) = measured(&words);
        assert_eq!((number(&json, "/responses"), ran.status), (500, 0), "{io}");
        assert!(server.stop().unwrap().requests > 500, "{io}: nothing warmed up");
    }
}

#[test]
fn twenty_thousand_connections_of_one_request_each_find_ports() {
    for io in BACKENDS {
        let server = serve();
        let words = [&url(&server, "/"), "-n20000", "-c50", "--no-keepalive", "--io", io];
        let (ran, json) = measured(&words);
        assert_eq!((number(&json, "/succeeded"), ran.status), (20_000, 0), "{io}: {ran:?}");
        let served = server.stop().unwrap();
        assert_eq!((served.requests, served.connections), (20_000, 20_000), "{io}");
    }
}
