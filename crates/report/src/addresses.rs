//! What attempts to connect came to at each address of a name that has several, in words.

use ablaze_model::{FailureKind, Run};

use crate::number::{counted, grouped};

/// An item for each address: `[::1]:8080: 10 refused`, `127.0.0.1:8080: 10 connections`. `None` where nothing failed to connect
/// and responses came.
pub(crate) fn in_words(run: &Run) -> Option<Vec<String>> {
    let all = &run.record.by_address;
    let all_stood = all.iter().all(|one| one.kinds().next().is_none());
    if all.is_empty() || (all_stood && run.record.responses > 0) {
        return None;
    }
    let mut items = Vec::new();
    for one in all {
        let stood = (one.stood > 0).then(|| counted(one.stood, "connection"));
        let failed = one.kinds().map(|(kind, number)| of_kind(kind, number));
        let came: Vec<String> = stood.into_iter().chain(failed).collect();
        items.push(match came.is_empty() {
            true => format!("{}: not tried", one.address),
            false => format!("{}: {}", one.address, came.join(", ")),
        });
    }
    Some(items)
}

fn of_kind(kind: FailureKind, number: u64) -> String {
    format!("{} {}", grouped(number), kind.of_a_count())
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::AddressRecord;

    use super::*;
    use crate::sample::ordinary;

    #[test]
    fn each_address_is_told_with_what_came_of_it() {
        let mut run = ordinary();
        let addresses = ["[::1]:80", "127.0.0.1:80", "127.0.0.2:80"];
        let all = addresses.map(|address| AddressRecord::new(address.parse().unwrap()));
        run.record.by_address = all.to_vec();
        run.record.by_address[1].stood = 1_200;
        assert_eq!(in_words(&run), None, "the first responds, or all do");
        run.record.responses = 0;
        let said = ["[::1]:80: not tried", "127.0.0.1:80: 1,200 connections"];
        assert_eq!(in_words(&run).unwrap()[..2], said);
        run.record.by_address[0].failures[FailureKind::Refused as usize] = 10;
        run.record.by_address[0].failures[FailureKind::Timeout as usize] = 1;
        let said = ["[::1]:80: 10 refused, 1 timed out", "127.0.0.1:80: 1,200 connections"];
        assert_eq!(in_words(&run).unwrap()[..2], said);
        assert_eq!(in_words(&run).unwrap()[2], "127.0.0.2:80: not tried");
    }
}
