//! Records of a rustls connection in the clear, and sealed again as often as one likes.
//!
//! The cipher suites of [`provider`] do not seal what rustls gives them: each record leaves as a
//! placeholder, and what it says is kept, with the key, on the thread. [`records`] puts the two together
//! again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustls::crypto::cipher::{
    AeadKey, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, OutboundChunks,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm,
    Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::{CipherSuiteCommon, CryptoProvider, aws_lc_rs};
use rustls::{
    CipherSuite, ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion,
    SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite,
};

/// What placeholders say before their number.
const MARK: [u8; 8] = *b"sealed: ";

thread_local! {
    /// What placeholders stand for.
    static KEPT: RefCell<(u64, HashMap<u64, Record>)> = RefCell::default();
}

/// A record that a peer wants to send.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its type (RFC 8446, B.1).
    pub kind: u8,
    /// What it says, in the clear.
    pub payload: Vec<u8>,
    /// The key it is to be sealed with, if it is.
    pub seal: Option<Seal>,
}

impl Record {
    /// As it is sent: sealed with the next number of its key. The header alone is right if the payload
    /// is longer than a record can be.
    pub fn encode(&self) -> Vec<u8> {
        let kind = ContentType::from(self.kind);
        match &self.seal {
            Some(seal) => seal.seal(kind, &self.payload),
            None => {
                let [high, low] = (self.payload.len() as u16).to_be_bytes();
                [&[self.kind, 3, 3, high, low], &self.payload[..]].concat()
            }
        }
    }
}

/// The key of one direction and the number of its next record.
#[derive(Clone)]
pub struct Seal(Arc<Mutex<(Box<dyn MessageEncrypter>, u64)>>);

impl Seal {
    fn new(encrypter: Box<dyn MessageEncrypter>) -> Self {
        Self(Arc::new(Mutex::new((encrypter, 0))))
    }

    fn seal(&self, typ: ContentType, payload: &[u8]) -> Vec<u8> {
        let (encrypter, next) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let version = ProtocolVersion::TLSv1_2;
        let payload = OutboundChunks::Single(payload);
        let sealed = encrypter.encrypt(OutboundPlainMessage { typ, version, payload }, *next);
        *next += 1;
        // No length fails that a record's header can say.
        sealed.map(OutboundOpaqueMessage::encode).unwrap_or_default()
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Seal")
    }
}

impl MessageEncrypter for Seal {
    fn encrypt(
        &mut self,
        message: OutboundPlainMessage<'_>,
        _number: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let kind = u8::from(message.typ);
        let payload = message.payload.to_vec();
        let record = Record { kind, payload, seal: Some(self.clone()) };
        let number = KEPT.with_borrow_mut(|(next, kept)| {
            *next += 1;
            kept.insert(*next, record);
            *next
        });
        let mut placeholder = PrefixedPayload::with_capacity(MARK.len() + 8);
        placeholder.extend_from_slice(&MARK);
        placeholder.extend_from_slice(&number.to_be_bytes());
        let kind = ContentType::ApplicationData;
        Ok(OutboundOpaqueMessage::new(kind, ProtocolVersion::TLSv1_2, placeholder))
    }

    fn encrypted_payload_len(&self, _payload_bytes: usize) -> usize {
        MARK.len() + 8
    }
}

/// The records of what a connection over [`provider`] wrote on this thread.
pub fn records(written: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut rest = written;
    while let &[kind, _, _, high, low, ref behind @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some((payload, behind)) = behind.split_at_checked(length) else { break };
        rest = behind;
        let number = payload.strip_prefix(&MARK).and_then(|number| number.try_into().ok());
        let kept = number.and_then(|number| {
            KEPT.with_borrow_mut(|(_, kept)| kept.remove(&u64::from_be_bytes(number)))
        });
        let clear = || Record { kind, payload: payload.to_vec(), seal: None };
        records.push(kept.unwrap_or_else(clear));
    }
    records
}

/// Forgets the placeholders of connections that are gone.
pub fn forget() {
    KEPT.with_borrow_mut(|(_, kept)| kept.clear());
}

/// rustls's own provider with this one suite, whose records leave as placeholders.
pub fn provider(suite: CipherSuite) -> Arc<CryptoProvider> {
    let cipher_suites = SUITES.iter().filter(|tapped| tapped.suite() == suite).copied().collect();
    Arc::new(CryptoProvider { cipher_suites, ..aws_lc_rs::default_provider() })
}

static SUITES: LazyLock<Vec<SupportedCipherSuite>> =
    LazyLock::new(|| aws_lc_rs::ALL_CIPHER_SUITES.iter().map(tapped).collect());

/// Made once for the life of the process: rustls wants them for ever.
fn tapped(suite: &SupportedCipherSuite) -> SupportedCipherSuite {
    let common = |common: &CipherSuiteCommon| CipherSuiteCommon {
        suite: common.suite,
        hash_provider: common.hash_provider,
        confidentiality_limit: common.confidentiality_limit,
    };
    match *suite {
        SupportedCipherSuite::Tls12(suite) => {
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&suite.common),
                prf_provider: suite.prf_provider,
                kx: suite.kx,
                sign: suite.sign,
                aead_alg: Box::leak(Box::new(Tapped12(suite.aead_alg))),
            })))
        }
        SupportedCipherSuite::Tls13(suite) => {
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&suite.common),
                hkdf_provider: suite.hkdf_provider,
                aead_alg: Box::leak(Box::new(Tapped13(suite.aead_alg))),
                quic: None,
            })))
        }
    }
}

struct Tapped13(&'static dyn Tls13AeadAlgorithm);

impl Tls13AeadAlgorithm for Tapped13 {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Seal::new(self.0.encrypter(key, iv)))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        self.0.decrypter(key, iv)
    }

    fn key_len(&self) -> usize {
        self.0.key_len()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.extract_keys(key, iv)
    }
}

struct Tapped12(&'static dyn Tls12AeadAlgorithm);

impl Tls12AeadAlgorithm for Tapped12 {
    fn encrypter(&self, key: AeadKey, iv: &[u8], extra: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Seal::new(self.0.encrypter(key, iv, extra)))
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        self.0.decrypter(key, iv)
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        self.0.key_block_shape()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: &[u8],
        explicit: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.0.extract_keys(key, iv, explicit)
    }
}
