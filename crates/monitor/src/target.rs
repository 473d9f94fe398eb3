//! Where the load goes, and whether that is this host.

use crate::Destination;
use crate::listener::Found;

impl Destination {
    /// Whether connections stay on this host.
    pub fn is_on_this_host(&self) -> bool {
        match self {
            Self::Tcp(addresses) => {
                addresses.first().is_some_and(|address| ablaze_sys::is_local_address(address.ip()))
            }
            Self::Unix(_) => true,
        }
    }

    /// The listener that the connections reach.
    pub(crate) fn listener(&self) -> Option<Found> {
        match self {
            Self::Tcp(addresses) => addresses
                .iter()
                .filter(|address| ablaze_sys::is_local_address(address.ip()))
                .find_map(|address| Found::at(*address)),
            Self::Unix(path) => Found::at_path(path),
        }
    }
}
