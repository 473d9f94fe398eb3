//! What is said of a name that has several addresses, of which none took a connection that could be used.

use ablaze_model::record::AddressRecord;
use ablaze_model::{FailureKind, Run};

/// What to do where no address of a name that has several accepted a connection, and not all were refused.
pub(super) fn by_several(run: &Run) -> Option<String> {
    let (record, target) = (&run.record, &run.plan.target);
    let alike = record.failures_of(FailureKind::Refused) == record.failures_total();
    let stood = record.connections_opened > 0 || super::stood(run);
    let other = target.proxy.is_some() || target.unix_socket.is_some();
    if target.addresses.len() < 2 || alike || stood || other {
        return None;
    }
    let connecting = [FailureKind::Refused, FailureKind::Timeout, FailureKind::Unreachable];
    let seen: Vec<String> = connecting
        .into_iter()
        .filter(|kind| record.failures_of(*kind) > 0)
        .map(|kind| format!("{} {}", record.failures_of(kind), kind.of_a_count()))
        .collect();
    let each: Vec<String> = record
        .by_address
        .iter()
        .map(|one| (one.address, one.failed_in_words()))
        .filter(|(_, failed)| !failed.is_empty())
        .map(|(address, failed)| format!("{address}: {failed}"))
        .collect();
    if !each.is_empty() {
        return Some(format!(
            "no connection to {} opened ({}): try each of them with `curl -v`",
            target.host,
            each.join("; ")
        ));
    }
    let addresses: Vec<String> = target.addresses.iter().map(ToString::to_string).collect();
    (!seen.is_empty()).then(|| {
        format!(
            "no connection to {} opened, which has {} addresses ({}): {}: try each of them with `curl -v`",
            target.host,
            addresses.len(),
            addresses.join(", "),
            seen.join(", ")
        )
    })
}

/// The server that a sentence on the first failure is about, where its name has several addresses that failed in different ways:
/// the one that failed like this, or one of them where several did or where it was not kept.
pub(super) fn that_failed(run: &Run) -> Option<String> {
    let several = one_of_several(run)?;
    let kind = run.record.first_failure.map(|failure| failure.kind);
    let failed = |one: &&AddressRecord| kind.is_some_and(|kind| one.failures[kind as usize] > 0);
    let mut with_it = run.record.by_address.iter().filter(failed);
    Some(match (with_it.next(), with_it.next()) {
        (Some(one), None) => one.address.to_string(),
        _ => format!("one of the {several} addresses of {}", run.plan.target.host),
    })
}

/// How many addresses the host has, where several of them failed in different ways, so that it is not known which did what.
pub(super) fn one_of_several(run: &Run) -> Option<usize> {
    let (record, target) = (&run.record, &run.plan.target);
    let kinds = FailureKind::ALL
        .into_iter()
        .filter(|kind| record.failures_of(*kind) + record.setup_failures[*kind as usize] > 0);
    let differ = kinds.count() > 1 && record.connections_opened == 0;
    let several = target.addresses.len() > 1 && target.unix_socket.is_none();
    (several && differ).then_some(target.addresses.len())
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::FirstFailure;

    use super::*;

    /// One that drops packets and one that refuses: neither is said to have done what the other did.
    #[test]
    fn of_several_addresses_none_is_blamed_for_another() {
        let mut run = ablaze_model::by_hand::run();
        run.plan.target.addresses = vec![([127, 0, 0, 2], 80).into(), ([127, 0, 0, 3], 80).into()];
        run.record.connections_opened = 0;
        run.record.failures = [0; FailureKind::ALL.len()];
        run.record.failures[FailureKind::Timeout as usize] = 4;
        run.record.failures[FailureKind::Refused as usize] = 3;
        let said = by_several(&run).unwrap();
        assert!(said.contains("2 addresses (127.0.0.2:80, 127.0.0.3:80)"), "{said}");
        assert!(said.contains("3 refused") && said.contains("4 timed out"), "{said}");
        let all = run.plan.target.addresses.iter().map(|address| AddressRecord::new(*address));
        run.record.by_address = all.collect();
        run.record.by_address[0].failures[FailureKind::Timeout as usize] = 4;
        run.record.by_address[1].failures[FailureKind::Refused as usize] = 3;
        let said = by_several(&run).unwrap();
        assert!(said.contains("127.0.0.2:80: 4 timed out; 127.0.0.3:80: 3 refused"), "{said}");
        let failed = |kind| FirstFailure { at_ns: 0, kind, errno: 0, connecting: true };
        run.record.first_failure = Some(failed(FailureKind::Refused));
        assert_eq!(that_failed(&run).unwrap(), "127.0.0.3:80");
        run.record.by_address[0].failures[FailureKind::Refused as usize] = 1;
        assert!(that_failed(&run).unwrap().starts_with("one of the 2 addresses of "));
        run.record.by_address.clear();
        // One that sent alerts and one that refused, before the clock.
        run.record.failures[FailureKind::Refused as usize] = 0;
        assert_eq!(one_of_several(&run), None);
        run.record.setup_failures[FailureKind::TlsRefused as usize] = 2;
        assert_eq!(one_of_several(&run), Some(2));
        run.record.connections_opened = 1;
        assert_eq!((by_several(&run), one_of_several(&run)), (None, None));
    }
}
