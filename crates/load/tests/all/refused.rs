//! What cannot be carried out is an error before anything is sent, in the words of who uses this crate.

use ablaze_load::{Error, HttpVersion, Load};

const URL: &str = "http://127.0.0.1:9/";

#[track_caller]
fn usage(load: &Load) -> String {
    match load.run() {
        Err(Error::Usage(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_name_the_setter_and_no_option_of_a_command_line() {
    let loads = [
        (Load::url(URL).connections(0), "connections()"),
        (Load::url(URL).requests(0), "requests()"),
        (Load::url(URL).threads(0), "threads()"),
        (Load::url(URL).in_flight_per_connection(0), "in_flight_per_connection()"),
        (
            Load::url(URL).http(HttpVersion::Http2).in_flight_per_connection(200_000),
            "in_flight_per_connection(200000)",
        ),
        (Load::url(URL).rate_per_s(10.0).in_flight_per_connection(2), "rate_per_s()"),
        (Load::url(URL).rate_per_s(-1.0), "rate"),
        (Load::url(URL).rate_per_s(f64::NAN), "rate"),
        (Load::url(URL).header("X-A", "b\r\nX-C: d"), "X-A"),
        (Load::url(URL).header("X A", "b"), "X A"),
        (Load::url(URL).method("G T"), "G T"),
        (Load::url("http://[::1"), "::1"),
        (Load::url("http://127.0.0.1:0/"), "port 0"),
    ];
    for (load, named) in loads {
        let text = usage(&load);
        assert!(text.contains(named), "{named}: {text}");
        assert!(!text.contains(" -"), "{text}");
    }
}

#[test]
fn a_host_without_an_address_is_an_error_of_its_own() {
    // RFC 6761, 6.4: no name below `invalid` exists.
    let error = Load::url("http://nobody.invalid/").run().unwrap_err();
    let Error::UnknownHost(text) = &error else { panic!("{error:?}") };
    assert!(text.contains("nobody.invalid") && text.contains("connect_to()"), "{text}");
}

#[test]
fn what_gives_way_is_noted() {
    let server = crate::server(ablaze_target::Options::default());
    let run = Load::url(&server.1).connections(50).requests(3).run().unwrap();
    assert_eq!(run.responses(), 3);
    assert!(run.notes()[0].contains("3 requests"), "{:?}", run.notes());
}
