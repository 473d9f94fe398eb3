//! D33: the host name has several addresses, and another than the first answered.

use std::net::SocketAddr;

use ablaze_model::printable::printable;
use ablaze_model::record::AddressRecord;
use ablaze_model::{FailureKind, Run};

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D33;
use crate::finding::{Finding, Severity};
use crate::live::whose::observed_elsewhere;
use crate::words::{counted, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D33,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

fn on_run(run: &Run) -> Option<Finding> {
    let target = &run.plan.target;
    let used = used(run)?;
    let place = target.addresses.iter().position(|address| *address == used)?;
    let before = target.addresses.get(..place).filter(|before| !before.is_empty())?;
    let observed = observed_elsewhere(run).map_or(String::new(), |observed| {
        format!(" What was observed is the server at {observed}: nothing is known of the CPU time of this one.")
    });
    Some(Finding::new(
        D33,
        Severity::Note,
        format!(
            "{} has {}: {}. {} {}, so all requests went to {used}.{observed}",
            resolved(run),
            counted(target.addresses.len() as u64, "address").replace("addresss", "addresses"),
            listed(&target.addresses),
            listed(before.iter().map(|address| with_failures(run, *address))),
            match may_fail_above_tcp(run) {
                true => "had no connection that could be used",
                false => "accepted no connection",
            }
        ),
        match may_fail_above_tcp(run) {
            _ if all_refused(run, before) => REFUSED,
            true => ABOVE_TCP,
            false => NOBODY,
        },
        format!(
            "Use the intended address {}, here {used}, so that every tool measures the same server.",
            match () {
                () if target.proxy.is_some() => "of the proxy",
                () if is_elsewhere(run) => "to connect to",
                () => "in the URL",
            }
        ),
    ))
}

const REFUSED: &str = "Nothing listens at the first address, or a firewall rejects connections there; on many machines `localhost` is \
     ::1 first, and many servers listen on 127.0.0.1 only.";
const NOBODY: &str = "Nothing listens at the first address, a firewall blocks it, or what listens there did not accept in time; on many \
     machines `localhost` is ::1 first, and many servers listen on 127.0.0.1 only.";
const ABOVE_TCP: &str = "Nothing listens at the first address, a firewall blocks it, what listens there did not accept in time, or it \
     accepted connections whose handshakes or tunnels failed; on many machines `localhost` is ::1 first, and many servers listen on \
     127.0.0.1 only.";

/// `[::1]:8080 (10 refused)`
fn with_failures(run: &Run, address: SocketAddr) -> String {
    let known = run.record.by_address.iter().find(|one| one.address == address);
    match known.map(AddressRecord::failed_in_words).filter(|words| !words.is_empty()) {
        Some(words) => format!("{address} ({words})"),
        None => address.to_string(),
    }
}

/// Whether all attempts at these addresses were refused.
fn all_refused(run: &Run, addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|address| {
        let known = run.record.by_address.iter().find(|one| one.address == *address);
        let mut kinds = known.into_iter().flat_map(AddressRecord::kinds).map(|(kind, _)| kind);
        kinds.next() == Some(FailureKind::Refused) && kinds.next().is_none()
    })
}

/// Whether a connection that TCP opened may still be none for requests.
fn may_fail_above_tcp(run: &Run) -> bool {
    run.plan.tls.is_some() || run.plan.target.proxy.is_some()
}

/// Whether connections were to go to another host than the URL's (`--connect-to`).
fn is_elsewhere(run: &Run) -> bool {
    run.asked.as_ref().is_some_and(|asked| !asked.destination.connect_to.is_empty())
}

/// Whose addresses they are.
fn resolved(run: &Run) -> String {
    let target = &run.plan.target;
    match &target.proxy {
        Some(proxy) => format!("The proxy {}", printable(&proxy.authority())),
        None if is_elsewhere(run) => "The host to connect to".to_owned(),
        None => target.host.clone(),
    }
}

fn seen(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let used = used(run)?;
    Some(match target.addresses.len() {
        1 => format!("{} has one address, and connections went to it.", resolved(run)),
        many => {
            format!(
                "{} has {many} addresses; connections went to the first, {used}.",
                resolved(run)
            )
        }
    })
}

/// The address that connections were made to; `None` for a Unix socket, or when none stood.
fn used(run: &Run) -> Option<SocketAddr> {
    let connected = run.record.connections_opened > 0 && run.plan.target.unix_socket.is_none();
    run.connected_to.parse().ok().filter(|_| connected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    /// What listens at the first address takes no connection, as one whose queue is full; the second is another server.
    #[test]
    fn the_cpu_time_of_a_server_that_was_not_reached_is_not_taken_for_that_of_the_one_that_was() {
        use crate::limit::{self, Limit};
        let mut run = sample::run();
        run.plan.target.addresses =
            ["[::1]:8080", "127.0.0.1:8080"].map(|text| text.parse().unwrap()).to_vec();
        let listens_at = |run: &mut Run, address: &str| {
            let target = &mut sample::monitor(run).target;
            target.listener.as_mut().unwrap().address = address.to_owned();
        };
        for address in ["[::1]:8080", "[::]:8080"] {
            listens_at(&mut run, address);
            run.connected_to = "127.0.0.1:8080".to_owned();
            let limited = limit::of(&run);
            assert_eq!(limited.by, Limit::Unknown, "{address}");
            assert!(limited.evidence.contains("connections went to another"), "{limited}");
            let said = on_run(&run).unwrap().evidence;
            assert!(said.contains(&format!("observed is the server at {address}")), "{said}");
            run.connected_to = "[::1]:8080".to_owned();
            assert_eq!(limit::of(&run).by, Limit::Server, "{address}");
        }
        // It is the same: nothing listens at the first.
        run.connected_to = "127.0.0.1:8080".to_owned();
        for address in ["127.0.0.1:8080", "0.0.0.0:8080"] {
            listens_at(&mut run, address);
            assert_eq!(limit::of(&run).by, Limit::Server, "{address}");
            assert!(!on_run(&run).unwrap().evidence.contains("observed"), "{address}");
        }
    }

    #[test]
    fn a_first_address_that_does_not_answer_is_named() {
        let mut run = sample::run();
        run.plan.target.host = "localhost".to_owned();
        let addresses = ["[::1]:8080", "127.0.0.1:8080"].map(|text| text.parse().unwrap());
        run.plan.target.addresses = addresses.to_vec();
        run.connected_to = "127.0.0.1:8080".to_owned();
        let evidence = on_run(&run).unwrap().evidence;
        assert!(evidence.contains("2 addresses: [::1]:8080 and 127.0.0.1:8080"), "{evidence}");
        assert!(evidence.contains("[::1]:8080 accepted no connection"), "{evidence}");
        // Where it is known what came of each attempt, it is told.
        let all = addresses.map(AddressRecord::new);
        run.record.by_address = all.to_vec();
        run.record.by_address[0].failures[FailureKind::Refused as usize] = 10;
        let finding = on_run(&run).unwrap();
        let said = "[::1]:8080 (10 refused) accepted no connection";
        assert!(finding.evidence.contains(said), "{finding:?}");
        assert!(!finding.cause.contains("in time"), "{finding:?}");
        run.record.by_address[0].failures[FailureKind::Timeout as usize] = 1;
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("(10 refused, 1 timed out)"), "{finding:?}");
        assert!(finding.cause.contains("in time"), "{finding:?}");
        run.record.by_address.clear();
        // With TLS it may have accepted them, and sent an alert.
        run.plan.tls = Some(ablaze_model::plan::tls::Tls::new("localhost"));
        let finding = on_run(&run).unwrap();
        assert!(!finding.evidence.contains("accepted no"), "{finding:?}");
        assert!(finding.cause.contains("whose handshakes or tunnels failed"), "{finding:?}");
        run.plan.tls = None;
        run.connected_to = "[::1]:8080".to_owned();
        assert_eq!(on_run(&run), None);
        assert!(seen(&run).unwrap().contains("the first, [::1]:8080"));
        run.plan.target.unix_socket = Some("/run/server".into());
        assert_eq!((on_run(&run), seen(&run)), (None, None));
    }
}
