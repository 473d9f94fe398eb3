//! Commands that walk a journey, against what the load was.

use ablaze_model::plan::Close;
use ablaze_model::record::{Journeys, OneJourney};
use ablaze_model::spec::{
    Blob, ConnectTo, DataSpec, Family, Feed, SecretRef, TlsSpec, TrustSpec, UrlSpec,
};

use ablaze_model::plan::Http2;
use ablaze_model::plan::tls::TlsVersion;

use super::*;
use crate::live::sample;

fn shop() -> Run {
    let mut run = crate::live::setup::sample::with_failed(0);
    sample::asked(&mut run, &[]);
    let planned = run.plan.journey.as_mut().unwrap();
    (planned.name, planned.users.setup) = ("shop.hurl".to_owned(), None);
    let asked = run.asked.as_mut().unwrap();
    asked.requests.journey = Some(JourneySpec::of(Blob::new("shop.hurl", Vec::new())));
    asked.destination.url = Some(UrlSpec::parse("http://h/").unwrap().0);
    run
}

#[test]
fn variables_and_the_url_are_those_of_the_load() {
    let mut run = shop();
    let asked = run.asked.as_mut().unwrap();
    let journey = asked.requests.journey.as_mut().unwrap();
    journey.variables = vec![("base".to_owned(), "http://h:8080".to_owned())];
    journey.location = true;
    let feed = Feed::of(Blob::new("users.csv", Vec::new()));
    asked.requests.data = Some(DataSpec { feed, order: ablaze_model::feed::Order::Sequential });
    run.plan.http2 = Some(Http2 { streams: 4 });
    let expected = "ablaze run shop.hurl --location --variable base=http://h:8080 --feed users.csv --http 2 --very-verbose http://h/";
    assert_eq!(command(&run, ""), expected);
}

/// A step may fail by the way it goes, by what the setup captured, by its row, or by the time that it may take.
#[test]
fn each_option_of_the_run_that_a_request_depends_on_is_advised() {
    let mut run = shop();
    run.plan.journey.as_mut().unwrap().users.setup = Some("log in.hurl".to_owned());
    let asked = run.asked.as_mut().unwrap();
    asked.tls = TlsSpec {
        trust: TrustSpec::Anyone,
        identity: Some(SecretRef { secret: "client certificate".to_owned() }),
        server_name: Some("b.example".to_owned()),
        oldest: Some(TlsVersion::V1_2),
        newest: Some(TlsVersion::V1_2),
        groups: vec![23],
        ..TlsSpec::default()
    };
    let to = ConnectTo { host: Some("::1".to_owned()), port: Some(81), ..ConnectTo::default() };
    asked.destination.connect_to = vec![to];
    asked.destination.family = Family::V6;
    asked.connections.keep_alive = false;
    asked.connections.local_addresses = vec!["127.0.0.2".parse().unwrap()];
    (asked.connections.close, asked.connections.repeat) = (Close::Reset, false);
    asked.limits.timeout_ns = 1_500_000_000;
    asked.limits.max_head_bytes = 4096;
    let feed = Feed::of(Blob::new("users.csv", Vec::new()));
    asked.requests.data = Some(DataSpec { feed, order: ablaze_model::feed::Order::Random });
    let journeys = run.record.journeys.as_mut().unwrap();
    journeys.fails(0, 1, Some(7), || "line 3: the status is 500, not 200".to_owned());
    let said = command(&run, "");
    for option in [
        "--setup 'log in.hurl'",
        "--feed users.csv --feed-line 7",
        "-6",
        "--connect-to '::[::1]:81'",
        "--no-keepalive --close reset --no-repeat",
        "--local-address 127.0.0.2",
        "--max-head 4096",
        "-k",
        "--cert FILE --key FILE",
        "--sni b.example",
        "--tls-min 1.2",
        "--tls-max 1.2",
        "--tls-groups secp256r1",
        "--timeout 1500ms",
    ] {
        assert!(said.contains(&format!(" {option} ")), "{option}: {said}");
    }
    let asked = run.asked.as_mut().unwrap();
    asked.tls = TlsSpec {
        trust: TrustSpec::Issuers(Blob::new("ca.pem", Vec::new())),
        send_server_name: false,
        ..TlsSpec::default()
    };
    asked.destination.connect_to = Vec::new();
    asked.destination.unix_socket = Some("/run/my shop".into());
    let said = command(&run, "");
    for option in ["--cacert ca.pem", "--sni none", "--unix-socket '/run/my shop'"] {
        assert!(said.contains(&format!(" {option} ")), "{option}: {said}");
    }
    // The setup is walked with what is asked of all, and not behind itself.
    let said = command_of_setup(&run);
    assert!(said.starts_with("ablaze run 'log in.hurl' ") && said.contains(" --cacert "), "{said}");
    assert!(!said.contains("--setup"), "{said}");
}

/// Two files, of which the second fails.
#[test]
fn of_several_journeys_the_one_that_fails_is_to_be_walked() {
    let mut run = sample::run();
    sample::asked(&mut run, &[]);
    let requests = &mut run.asked.as_mut().unwrap().requests;
    requests.journey = Some(JourneySpec::of(Blob::new("a.hurl", Vec::new())));
    requests.users.more = vec![JourneySpec::of(Blob::new("b.hurl", Vec::new()))];
    let mut journeys = Journeys::new(&["GET /a".to_owned(), "GET /b".to_owned()]);
    let one = |name: &str, failed| OneJourney {
        name: name.to_owned(),
        begun: 10,
        whole: 10 - failed,
        failed,
        duration: ablaze_stats::Latency::new(3),
    };
    journeys.each = vec![one("a", 0), one("b", 4)];
    run.record.journeys = Some(Box::new(journeys));
    assert!(command(&run, "").starts_with("ablaze run b.hurl "), "{}", command(&run, ""));
    // What is given is given once, for all of them.
    let requests = &mut run.asked.as_mut().unwrap().requests;
    requests.journey.as_mut().unwrap().variables = vec![("n".to_owned(), "1".to_owned())];
    let feed = Feed::of(Blob::new("users.csv", Vec::new()));
    requests.data = Some(DataSpec { feed, order: ablaze_model::feed::Order::Sequential });
    // No request of it is known to send a column.
    let given = "ablaze run b.hurl --variable n=1 --very-verbose";
    assert!(command(&run, "").starts_with(given), "{}", command(&run, ""));
    // None failed: a status that nobody expects is of either.
    run.record.journeys.as_mut().unwrap().each[1] = one("b", 0);
    assert!(command(&run, "").starts_with("ablaze run FILE "), "{}", command(&run, ""));
    assert!(command(&run, "").contains(" --variable n=1 "), "{}", command(&run, ""));
}

/// Of a saved run it is not known where the steps of one file go, and the URL may be that of another.
#[test]
fn a_url_that_may_be_another_file_s_is_left_out() {
    let mut run = crate::live::setup::sample::with_failed(90);
    sample::asked(&mut run, &[]);
    let asked = run.asked.as_mut().unwrap();
    asked.destination.url = Some(UrlSpec::parse("http://shop/").unwrap().0);
    asked.requests.journey = Some(JourneySpec::of(Blob::new("a.hurl", Vec::new())));
    let said = "ablaze run login.hurl --very-verbose http://shop/";
    assert_eq!(command_of_setup(&run), said);
    run.plan.target.others = vec![ablaze_model::plan::origins::Origin {
        url: "http://login".to_owned(),
        host: "login".to_owned(),
        port: 80,
        addresses: Vec::new(),
        tls: None,
    }];
    assert_eq!(command_of_setup(&run), "ablaze run login.hurl --very-verbose");
}
