//! What the load was asked for beside its journeys, as `ablaze run` takes it: where connections go, how they are kept, TLS, and
//! how long a request may take.

use ablaze_model::Run;
use ablaze_model::plan::Close;
use ablaze_model::plan::tls::{TlsVersion, Trust};
use ablaze_model::plan::tls_names::{group_name, suite_name};
use ablaze_model::printable::printable;
use ablaze_model::spec::{ConnectionsSpec, Destination, Family, LoadSpec, TlsSpec, TrustSpec};

use crate::live::curl::{file, spelled};
use crate::words::for_shell;

/// The words, each option with its value.
pub(super) fn words(run: &Run) -> Vec<String> {
    let mut words = Vec::new();
    let Some(asked) = run.asked.as_deref() else {
        way_of_plan(run, &mut words);
        return words;
    };
    way(run, &asked.destination, &mut words);
    connections(&asked.connections, &mut words);
    let usual = LoadSpec::default().limits;
    if asked.limits.max_head_bytes != usual.max_head_bytes {
        words.push(format!("--max-head {}", asked.limits.max_head_bytes));
    }
    if let Some(version) = version(run, asked) {
        words.push(format!("--http {version}"));
    }
    tls(&asked.tls, &mut words);
    if asked.limits.timeout_ns != usual.timeout_ns {
        words.push(format!("--timeout {}", time(asked.limits.timeout_ns)));
    }
    words
}

/// Of a run of which it is not known what was asked for.
fn way_of_plan(run: &Run, words: &mut Vec<String>) {
    let socket = run.plan.target.unix_socket.as_ref();
    words.extend(socket.map(|path| option("--unix-socket", &path.to_string_lossy())));
    words.extend(run.plan.streams().map(|_| format!("--http {}", run.plan.http_version())));
    match run.plan.tls.as_ref().map(|tls| &tls.trust) {
        Some(Trust::Anyone) => words.push("-k".to_owned()),
        Some(Trust::Issuers(_)) => words.push("--cacert FILE".to_owned()),
        Some(Trust::System) | None => {}
    }
}

/// A library's programs name no version where the Plan has one.
fn version(run: &Run, asked: &LoadSpec) -> Option<String> {
    (asked.http.is_some() || run.plan.streams().is_some()).then(|| run.plan.http_version())
}

fn option(name: &str, value: &str) -> String {
    format!("{name} {}", for_shell(&printable(value)))
}

fn way(run: &Run, destination: &Destination, words: &mut Vec<String>) {
    match destination.family {
        Family::Any => {}
        Family::V4 => words.push("-4".to_owned()),
        Family::V6 => words.push("-6".to_owned()),
    }
    words
        .extend(destination.connect_to.iter().map(|other| option("--connect-to", &spelled(other))));
    let socket = destination.unix_socket.as_ref();
    words.extend(socket.map(|path| option("--unix-socket", &path.to_string_lossy())));
    if let Some(proxy) = &run.plan.target.proxy {
        let asked = destination.proxy.as_ref();
        let user = asked.and_then(|asked| asked.credentials.as_ref()).map(|_| "NAME:PASSWORD@");
        let url = format!("http://{}{}", user.unwrap_or_default(), proxy.authority());
        words.push(option("--proxy", &url));
    }
}

fn connections(asked: &ConnectionsSpec, words: &mut Vec<String>) {
    if !asked.keep_alive {
        words.push("--no-keepalive".to_owned());
    }
    match asked.close {
        usual if usual == ConnectionsSpec::default().close => {}
        Close::Await => words.push("--close await".to_owned()),
        Close::Fin => words.push("--close fin".to_owned()),
        Close::Reset => words.push("--close reset".to_owned()),
    }
    if !asked.repeat {
        words.push("--no-repeat".to_owned());
    }
    let most = asked.requests_per_connection;
    words.extend(most.map(|most| format!("--requests-per-connection {most}")));
    // One walk has few connections: the first of the addresses is enough.
    let address = asked.local_addresses.first();
    words.extend(address.map(|address| format!("--local-address {address}")));
}

fn tls(asked: &TlsSpec, words: &mut Vec<String>) {
    match &asked.trust {
        TrustSpec::System => {}
        TrustSpec::Anyone => words.push("-k".to_owned()),
        TrustSpec::Issuers(issuers) => {
            words.push(format!("--cacert {}", file(Some(&issuers.name))))
        }
    }
    if asked.identity.is_some() {
        words.push("--cert FILE --key FILE".to_owned());
    }
    let name = if asked.send_server_name { asked.server_name.as_deref() } else { Some("none") };
    words.extend(name.map(|name| option("--sni", name)));
    let number = |version| if version == TlsVersion::V1_2 { "1.2" } else { "1.3" };
    words.extend(asked.oldest.map(|oldest| format!("--tls-min {}", number(oldest))));
    words.extend(asked.newest.map(|newest| format!("--tls-max {}", number(newest))));
    let lists = [
        ("--tls-ciphers", asked.suites.iter().map(|suite| suite_name(*suite)).collect::<Vec<_>>()),
        ("--tls-groups", asked.groups.iter().map(|group| group_name(*group)).collect()),
    ];
    let given = lists.iter().filter(|(_, names)| !names.is_empty());
    words.extend(given.map(|(name, names)| option(name, &names.join(","))));
}

/// As the option takes it: a whole number of the largest unit that it is one of.
fn time(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.into_iter().find(|(unit, _)| ns.is_multiple_of(*unit));
    let (unit, name) = whole.unwrap_or((1, "ns"));
    format!("{}{name}", ns / unit)
}
