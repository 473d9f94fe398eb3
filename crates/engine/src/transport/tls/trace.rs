//! What was said on a worker's first connection, message by message, for `ab -v 3`.
//!
//! rustls tells no single messages. So the bytes of that one handshake are kept as they go by, and
//! rustls's key log gives the keys that its later half is sealed with: `messages` opens it after the
//! run. The key log belongs to a configuration of that connection alone; all others are not touched.

use std::sync::{Arc, Mutex, PoisonError};

use ablaze_net::Slot;
use rustls::{ClientConfig, KeyLog};

use super::messages::{self, Flight};
use ablaze_model::record::{Spoken, TlsParty};

/// Labels of the key log (RFC 9850, 2.1).
const SECRETS: [&str; 2] = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET"];
/// Nobody's handshake is longer; what a hostile server sends beyond it is not kept.
const BYTES_MAX: usize = 1 << 17;
/// As many messages behind the handshake are kept.
const LATER_MAX: usize = 64;

/// The secrets that the two sides of a handshake in TLS 1.3 seal it with.
#[derive(Debug, Clone, Default)]
pub struct HandshakeSecrets {
    /// The client's; empty before it is known, and in TLS 1.2.
    pub client: Vec<u8>,
    /// The messages of the server.
    pub server: Vec<u8>,
}

#[derive(Debug, Default)]
struct Secrets(Mutex<HandshakeSecrets>);

impl KeyLog for Secrets {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        let mut secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match label {
            _ if label == SECRETS[0] => secrets.client = secret.to_vec(),
            _ if label == SECRETS[1] => secrets.server = secret.to_vec(),
            _ => {}
        }
    }

    fn will_log(&self, label: &str) -> bool {
        SECRETS.contains(&label)
    }
}

/// Where the first connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has not begun.
    Awaited,
    /// It is being connected in this slot.
    Begun(Slot),
    /// It stands, in this slot.
    In(Slot),
    /// The connection is closed.
    Over,
}

/// The first connection of a worker.
#[derive(Debug)]
pub struct Trace {
    config: Arc<ClientConfig>,
    secrets: Arc<Secrets>,
    stage: Stage,
    flights: Vec<Flight>,
    kept_bytes: usize,
    later: Vec<Spoken>,
}

impl Trace {
    /// Of a connection that is made as the others are.
    pub fn new(config: &ClientConfig) -> Self {
        let secrets = Arc::new(Secrets::default());
        let mut config = config.clone();
        config.key_log = Arc::clone(&secrets) as Arc<dyn KeyLog>;
        Self {
            config: Arc::new(config),
            secrets,
            stage: Stage::Awaited,
            flights: Vec::new(),
            kept_bytes: 0,
            later: Vec::new(),
        }
    }

    /// A connection begins: what to make it with, if it is the first.
    pub fn begin(&mut self, slot: Slot) -> Option<Arc<ClientConfig>> {
        if self.stage != Stage::Awaited {
            return None;
        }
        self.stage = Stage::Begun(slot);
        Some(Arc::clone(&self.config))
    }

    /// The handshake of a connection is complete.
    pub fn stands(&mut self, slot: Slot) {
        if self.stage == Stage::Begun(slot) {
            self.stage = Stage::In(slot);
        }
    }

    /// Bytes of a handshake went by.
    pub fn heard(&mut self, slot: Slot, from: TlsParty, bytes: &[u8]) {
        let is_first = [Stage::Begun(slot), Stage::In(slot)].contains(&self.stage);
        if !is_first || bytes.is_empty() {
            return;
        }
        let bytes = &bytes[..bytes.len().min(BYTES_MAX - self.kept_bytes)];
        self.kept_bytes += bytes.len();
        self.flights.push(Flight { from, bytes: bytes.to_vec() });
    }

    /// A message behind the handshake went by: a ticket, new keys.
    pub fn message(&mut self, slot: Slot, from: TlsParty, kind: u8, bytes: usize) {
        self.later(slot, messages::handshake(from, kind, bytes));
    }

    /// An alert behind the handshake went by.
    pub fn alert(&mut self, slot: Slot, from: TlsParty, alert: [u8; 2]) {
        self.later(slot, messages::alert(from, &alert));
    }

    fn later(&mut self, slot: Slot, spoken: Spoken) {
        if self.stage == Stage::In(slot) && self.later.len() < LATER_MAX {
            self.later.push(spoken);
        }
    }

    /// The connection in this slot is closed.
    pub fn closed(&mut self, slot: Slot) {
        match self.stage {
            Stage::In(first) if first == slot => self.stage = Stage::Over,
            Stage::Begun(first) if first == slot => self.forget(),
            _ => {}
        }
    }

    /// Nothing of it was heard by anybody: the next connection is the first.
    fn forget(&mut self) {
        self.stage = Stage::Awaited;
        self.kept_bytes = 0;
        self.flights.clear();
    }

    /// All that was said, in its order.
    pub fn spoken(&self) -> Vec<Spoken> {
        if matches!(self.stage, Stage::Awaited | Stage::Begun(_)) {
            return Vec::new();
        }
        let secrets = self.secrets.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut spoken = messages::read(&self.flights, &secrets);
        spoken.extend(self.later.iter().cloned());
        spoken
    }
}
