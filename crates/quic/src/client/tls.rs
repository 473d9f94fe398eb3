//! TLS 1.3 in QUIC's handshake (RFC 9001), by rustls. It is quinn-proto's own binding once more because that one
//! keeps for itself what a report is to say: suite and group, the error as rustls has it, and whether there was a Retry.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::aead;
use quinn_proto::crypto::{self, ExportKeyingMaterialError, KeyPair, Keys, PacketKey};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, KeyChange, Secrets, Suite, Version};

use super::parameters;
use crate::padding::Unpadded;

/// QUIC version 1 (RFC 9000, 15): the only one that is spoken.
pub const VERSION: u32 = 1;

/// What a TLS session knows besides its keys. `crypto_session().handshake_data()` of a connection is this.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The application protocol that was chosen.
    pub alpn: Option<Vec<u8>>,
    /// The number of the cipher suite, once it is known.
    pub suite: Option<u16>,
    /// The number of the key exchange group, once it is known.
    pub group: Option<u16>,
    /// Streams for requests that the server permits from the beginning (`initial_max_streams_bidi`).
    pub streams_permitted: Option<u64>,
    /// The server wanted the handshake repeated with a token (RFC 9000, 8.1.2).
    pub retried: bool,
    /// Why it failed, if it did.
    pub error: Option<rustls::Error>,
}

/// Makes sessions.
pub struct TlsConfig(pub Arc<rustls::ClientConfig>);

/// The suite that the first packets are protected with (RFC 9001, 5).
fn initial_suite() -> Suite {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite());
    suite.expect("aws-lc-rs has this suite for QUIC")
}

impl crypto::ClientConfig for TlsConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        if version != VERSION {
            return Err(ConnectError::UnsupportedVersion);
        }
        let wrong_name = || ConnectError::InvalidServerName(server_name.into());
        let name = ServerName::try_from(server_name).map_err(|_| wrong_name())?.to_owned();
        // The configuration was tried when the connector was made: only the name can be wrong now.
        let tls =
            ClientConnection::new(self.0.clone(), Version::V1, name, parameters::sent(params))
                .map_err(|_| wrong_name())?;
        Ok(Box::new(Session {
            tls,
            next_secrets: None,
            told: false,
            error: None,
            retried: AtomicBool::new(false),
        }))
    }
}

struct Session {
    tls: ClientConnection,
    next_secrets: Option<Secrets>,
    /// quinn-proto was told that the protocol is chosen.
    told: bool,
    error: Option<rustls::Error>,
    /// Noted where quinn-proto asks whether a Retry is genuine.
    retried: AtomicBool,
}

impl crypto::Session for Session {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        let side = match side {
            Side::Client => rustls::Side::Client,
            Side::Server => rustls::Side::Server,
        };
        keys(initial_suite().keys(dst_cid, side, Version::V1))
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        let parameters = self.tls.quic_transport_parameters();
        Some(Box::new(Known {
            alpn: self.tls.alpn_protocol().map(<[u8]>::to_vec),
            suite: self.tls.negotiated_cipher_suite().map(|suite| suite.suite().into()),
            group: self.tls.negotiated_key_exchange_group().map(|group| group.name().into()),
            streams_permitted: parameters.map(parameters::streams_permitted),
            retried: self.retried.load(Ordering::Relaxed),
            error: self.error.clone(),
        }))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(false)
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        if let Err(error) = self.tls.read_hs(bytes) {
            let code = match self.tls.alert() {
                Some(alert) => TransportErrorCode::crypto(alert.into()),
                None => TransportErrorCode::PROTOCOL_VIOLATION,
            };
            let failed = TransportError { code, frame: None, reason: error.to_string() };
            self.error = Some(error);
            return Err(failed);
        }
        let chosen = self.tls.alpn_protocol().is_some() || !self.tls.is_handshaking();
        Ok(chosen && !std::mem::replace(&mut self.told, true))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(bytes) = self.tls.quic_transport_parameters() else { return Ok(None) };
        let parameters = TransportParameters::read(Side::Client, &mut Cursor::new(bytes))?;
        Ok(Some(parameters))
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        Some(keys(match self.tls.write_hs(out)? {
            KeyChange::Handshake { keys } => keys,
            KeyChange::OneRtt { keys, next } => {
                self.next_secrets = Some(next);
                keys
            }
        }))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next_secrets.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(keys.local), remote: Box::new(Unpadded(keys.remote)) })
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let is_valid = retry_is_genuine(orig_dst_cid, header, payload);
        self.retried.fetch_or(is_valid, Ordering::Relaxed);
        is_valid
    }

    /// Nothing here asks for keys besides those of packets.
    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

fn keys(keys: rustls::quic::Keys) -> Keys {
    let rustls::quic::Keys { local, remote } = keys;
    Keys {
        header: KeyPair { local: Box::new(local.header), remote: Box::new(remote.header) },
        packet: KeyPair {
            local: Box::new(local.packet),
            remote: Box::new(Unpadded(remote.packet)),
        },
    }
}

/// Whether the tag at the end of a Retry packet is right (RFC 9001, 5.8).
fn retry_is_genuine(orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
    const KEY: [u8; 16] = [
        0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8,
        0x4e,
    ];
    const NONCE: [u8; 12] =
        [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];
    let Some(tag_at) = payload.len().checked_sub(aead::AES_128_GCM.tag_len()) else { return false };
    let (payload, tag) = payload.split_at(tag_at);
    // A connection ID has at most 20 bytes.
    let pseudo_packet = [&[orig_dst_cid.len() as u8], &orig_dst_cid[..], header, payload].concat();
    let Ok(key) = aead::UnboundKey::new(&aead::AES_128_GCM, &KEY) else { return false };
    let nonce = aead::Nonce::assume_unique_for_key(NONCE);
    let mut tag = tag.to_vec();
    aead::LessSafeKey::new(key)
        .open_in_place(nonce, aead::Aad::from(pseudo_packet), &mut tag)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_of_the_rfc_is_genuine() {
        // RFC 9001, A.4.
        let original = ConnectionId::new(&[0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08]);
        let header = [
            0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x08, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62,
            0xb5,
        ];
        let mut payload = b"token".to_vec();
        payload.extend([
            0x04, 0xa2, 0x65, 0xba, 0x2e, 0xff, 0x4d, 0x82, 0x90, 0x58, 0xfb, 0x3f, 0x0f, 0x24,
            0x96, 0xba,
        ]);
        assert!(retry_is_genuine(&original, &header, &payload));
        payload[0] ^= 1;
        assert!(!retry_is_genuine(&original, &header, &payload));
        assert!(!retry_is_genuine(&original, &header, b"short"));
    }
}
