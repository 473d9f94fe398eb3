//! From options to a Plan: what is resolved, and what is refused.

use super::*;
use ablaze_model::spec::{ConnectTo, Family, UrlSpec};

fn target(host: &str, port: u16) -> UrlSpec {
    let (url, _) = UrlSpec::parse("http://h/").unwrap();
    UrlSpec { host: host.into(), port, ..url }
}

fn spec(host: &str, port: u16) -> LoadSpec {
    let url = Some(target(host, port));
    let destination = Destination { url, ..Destination::default() };
    LoadSpec { destination, ..LoadSpec::default() }
}

fn plan(spec: &LoadSpec) -> Result<Planned, Error> {
    resolve(spec, &Secrets::default(), &OptionNames::NATIVE)
}

fn resolved(url: &UrlSpec, destination: &Destination) -> Vec<std::net::SocketAddr> {
    addresses::resolve(url, destination, &OptionNames::NATIVE).unwrap()
}

#[test]
fn an_address_needs_no_resolver_and_each_stands_once() {
    let anywhere = Destination::default();
    let of = |host: &str| resolved(&target(host, 80), &anywhere);
    assert_eq!(of("127.0.0.1"), ["127.0.0.1:80".parse().unwrap()]);
    assert_eq!(of("::1"), ["[::1]:80".parse().unwrap()]);
    let mut seen = of("localhost");
    let count = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn a_family_that_the_host_lacks_is_refused_with_the_option_to_leave_away() {
    let v6_only = Destination { family: Family::V6, ..Destination::default() };
    let at = target("127.0.0.1", 80);
    let error = addresses::resolve(&at, &v6_only, &OptionNames::NATIVE).unwrap_err();
    assert!(matches!(error, Error::UnknownHost(_)), "{error:?}");
    let line = error.to_string();
    assert!(line.contains("no IPv6 address") && line.contains("-6"), "{line}");
}

/// --connect-to helps only where the host of the URL has no address, and there is such an option.
#[test]
fn a_host_without_an_address_is_told_what_can_be_done_about_it() {
    use addresses::Role;
    let told = |role, names| {
        addresses::of_host("nosuch.invalid", 1, Family::Any, role, names).unwrap_err().to_string()
    };
    for (role, names, part) in [
        (Role::Target, &OptionNames::NATIVE, "set an address with --connect-to ADDR:PORT"),
        (Role::Target, &OptionNames::DOCTOR, "): check its spelling"),
        (Role::Instead, &OptionNames::NATIVE, "host `nosuch.invalid` of --connect-to ("),
        (Role::Proxy, &OptionNames::NATIVE, "the proxy's host `nosuch.invalid`"),
        (Role::Local("-B"), &OptionNames::AB, "use an address of this machine"),
    ] {
        let line = told(role, names);
        assert!(line.contains(part), "{line}");
        let helps = role == Role::Target && names == &OptionNames::NATIVE;
        assert_eq!(line.contains("set an address with --connect-to"), helps, "{line}");
    }
}

#[test]
fn connect_to_changes_where_connections_go_and_only_for_its_host() {
    let instead = |host: &str, to: &str, port| ConnectTo {
        from_host: Some(host.to_owned()),
        from_port: Some(80),
        host: Some(to.to_owned()),
        port: Some(port),
    };
    let connect_to =
        vec![instead("other.example", "127.0.0.9", 1), instead("SHOP.example", "127.0.0.1", 8080)];
    let destination = Destination { connect_to, ..Destination::default() };
    assert_eq!(
        resolved(&target("shop.example", 80), &destination),
        ["127.0.0.1:8080".parse().unwrap()]
    );
}

#[test]
fn more_connections_than_requests_are_capped_and_said() {
    let mut spec = spec("127.0.0.1", 80);
    spec.limits.requests = Some(3);
    let planned = plan(&spec).unwrap();
    assert_eq!((planned.plan.load.connections(), planned.notes.len()), (3, 0), "not asked for");
    spec.shape = Shape::Closed { connections: Some(50) };
    let planned = plan(&spec).unwrap();
    assert_eq!(planned.plan.load.connections(), 3);
    assert!(planned.notes[0].contains("-c 50"), "{:?}", planned.notes);
}

#[test]
fn what_measures_nothing_is_refused() {
    let changes: [fn(&mut LoadSpec); 8] = [
        |spec| spec.shape = Shape::Closed { connections: Some(0) },
        |spec| spec.in_flight = 0,
        |spec| (spec.in_flight, spec.connections.keep_alive) = (4, false),
        |spec| (spec.in_flight, spec.connections.requests_per_connection) = (4, Some(1)),
        |spec| {
            spec.connections.keep_alive = false;
            spec.connections.requests_per_connection = Some(4);
        },
        |spec| spec.limits.requests = Some(0),
        |spec| spec.limits.duration_ns = Some(0),
        |spec| spec.destination.url = Some(target("127.0.0.1", 0)),
    ];
    for change in changes {
        let mut spec = spec("127.0.0.1", 80);
        change(&mut spec);
        assert!(matches!(plan(&spec), Err(Error::Usage(_))));
    }
}

#[test]
fn a_unix_socket_needs_no_address_and_is_on_this_host() {
    let mut spec = spec("shop.example", 80);
    spec.destination.unix_socket = Some("/run/shop".into());
    let planned = plan(&spec).unwrap();
    assert!(planned.plan.target.addresses.is_empty());
}

#[test]
fn connections_are_opened_over_the_time_that_all_of_them_have() {
    let mut spec = spec("127.0.0.1", 80);
    spec.connections.ramp_ns = 1_000_000_000;
    spec.shape = Shape::Closed { connections: Some(100) };
    assert_eq!(plan(&spec).unwrap().plan.connections.ramp_ns, 10_000_000);
}

#[test]
fn steps_that_nobody_could_see_are_refused() {
    use ablaze_model::plan::{Arrivals, RateProfile};
    let with = |steps| {
        let rate = RateProfile { from_per_s: 1.0, to_per_s: 9.0, steps };
        let shape = Shape::Open { rate, arrivals: Arrivals::Constant, connections: None };
        plan(&LoadSpec { shape, ..spec("127.0.0.1", 80) })
    };
    assert!(with(10_000).is_ok());
    for steps in [10_001, u32::MAX] {
        let line = with(steps).unwrap_err().to_string();
        assert!(line.contains("--steps 10000"), "{line}");
    }
}

#[test]
fn a_unix_socket_has_no_address_beside_it() {
    let with = |change: &dyn Fn(&mut LoadSpec)| {
        let mut spec = spec("127.0.0.1", 1);
        spec.destination.unix_socket = Some("/run/x".into());
        change(&mut spec);
        plan(&spec).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(with(&|_| {}), Ok(()));
    let to = with(&|spec| spec.destination.connect_to = vec![ConnectTo::default()]);
    assert!(to.unwrap_err().starts_with("--unix-socket and --connect-to cannot be used together"));
    let local = vec!["127.0.0.2".parse().unwrap()];
    let from = with(&|spec| spec.connections.local_addresses.clone_from(&local));
    assert!(from.unwrap_err().contains("and --local-address cannot"));
    assert!(with(&|spec| spec.connections.local_ports = Some(1000..=2000)).is_err());
}

#[test]
fn a_load_that_sends_nothing_is_refused_before_it_has_a_target() {
    let load = LoadSpec { shape: Shape::Closed { connections: Some(0) }, ..LoadSpec::default() };
    let refused = check(&load, &Secrets::default(), &OptionNames::NATIVE).unwrap_err();
    assert!(
        matches!(&refused, Error::Usage(line) if line.contains("use -c 1 or more")),
        "{refused}"
    );
}
