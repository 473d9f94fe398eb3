//! D33: the host name has several addresses, and another than the first answered.

use std::net::SocketAddr;

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D33;
use crate::finding::{Finding, Severity};
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
    Some(Finding::new(
        D33,
        Severity::Note,
        format!(
            "{} has {}: {}. {} accepted no connection, so all requests went to {used}.",
            target.host,
            counted(target.addresses.len() as u64, "address").replace("addresss", "addresses"),
            listed(&target.addresses),
            listed(before)
        ),
        "Nothing listens at the first address, a firewall blocks it, or what listens there did not accept in time; on many \
         machines `localhost` is ::1 first, and many servers listen on 127.0.0.1 only.",
        format!(
            "Use the intended address in the URL, here {used}, so that every tool measures the \
             same server."
        ),
    ))
}

fn seen(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let used = used(run)?;
    Some(match target.addresses.len() {
        1 => format!("{} has one address, and connections went to it.", target.host),
        many => {
            format!("{} has {many} addresses; connections went to the first, {used}.", target.host)
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
        run.connected_to = "[::1]:8080".to_owned();
        assert_eq!(on_run(&run), None);
        assert!(seen(&run).unwrap().contains("the first, [::1]:8080"));
        run.plan.target.unix_socket = Some("/run/server".into());
        assert_eq!((on_run(&run), seen(&run)), (None, None));
    }
}
