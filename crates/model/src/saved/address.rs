//! What attempts to connect came to at each address, in the file.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::read::by_kind as restored;
use super::save::by_kind;
use crate::record::AddressRecord;

#[derive(Serialize, Deserialize)]
pub(super) struct Address {
    address: SocketAddr,
    connected: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failed: BTreeMap<String, u64>,
}

impl Address {
    pub(super) fn save(own: &AddressRecord) -> Self {
        Self { address: own.address, connected: own.stood, failed: by_kind(&own.failures) }
    }

    pub(super) fn restore(&self) -> AddressRecord {
        let failures = restored(&self.failed);
        AddressRecord { address: self.address, stood: self.connected, failures }
    }
}
