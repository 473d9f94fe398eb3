//! What attempts to connect came to at each address of a name that has several.

use std::net::SocketAddr;

use crate::failure::FailureKind;

/// One address of the target, and what attempts to connect to it came to, before the clock and behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRecord {
    /// Which.
    pub address: SocketAddr,
    /// Connections that stood, their TLS handshakes included.
    pub stood: u64,
    /// Attempts that failed, by kind, those of handshakes included.
    pub failures: [u64; FailureKind::ALL.len()],
}

impl AddressRecord {
    /// Of this address, to which nobody has connected yet.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stood: 0, failures: [0; FailureKind::ALL.len()] }
    }

    /// The kinds of its failures, each with how many there were.
    pub fn kinds(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        let kinds = FailureKind::ALL.into_iter().map(|kind| (kind, self.failures[kind as usize]));
        kinds.filter(|(_, number)| *number > 0)
    }

    /// `10 refused, 3 timed out`; empty where none failed.
    pub fn failed_in_words(&self) -> String {
        let kinds = self.kinds().map(|(kind, number)| format!("{number} {}", kind.of_a_count()));
        kinds.collect::<Vec<_>>().join(", ")
    }

    /// Adds those of another thread or another machine, for which a name may have other addresses.
    pub(super) fn merge(all: &mut Vec<Self>, others: Vec<Self>) {
        for theirs in others {
            let Some(own) = all.iter_mut().find(|own| own.address == theirs.address) else {
                all.push(theirs);
                continue;
            };
            own.stood += theirs.stood;
            own.failures.iter_mut().zip(theirs.failures).for_each(|(own, theirs)| *own += theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_merged_by_what_they_are() {
        let [first, second] = [1, 2].map(|last| SocketAddr::from(([127, 0, 0, last], 80)));
        let mut all = vec![AddressRecord::new(first)];
        all[0].failures[FailureKind::Refused as usize] = 3;
        let mut others = vec![AddressRecord::new(second), AddressRecord::new(first)];
        (others[0].stood, others[1].stood) = (5, 1);
        others[1].failures[FailureKind::Refused as usize] = 4;
        AddressRecord::merge(&mut all, others);
        assert_eq!((all[0].address, all[0].stood), (first, 1));
        assert_eq!(all[0].kinds().collect::<Vec<_>>(), [(FailureKind::Refused, 7)]);
        assert_eq!((all[1].address, all[1].stood, all[1].kinds().count()), (second, 5, 0));
    }
}
