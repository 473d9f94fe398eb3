//! The protection of records once the handshake is over: opened where they lie, sealed where they
//! leave from, without allocating (RFC 8446, 5.2; for TLS 1.2 RFC 5246, 6.2.3.3, RFC 5288 and
//! RFC 7905). rustls does the handshake and hands the keys over; its own buffers would copy and
//! allocate for each record.

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{self, Prk};
use rustls::{ConnectionTrafficSecrets, ProtocolVersion};

/// Bytes before each record's payload: type, version, length.
pub const HEADER_BYTES: usize = 5;
/// The longest plaintext of a record.
pub const PLAIN_BYTES_MAX: usize = 1 << 14;
/// The longest payload of a record as TLS 1.2 permits it; TLS 1.3 permits less (RFC 8446, 5.2).
const PAYLOAD_BYTES_MAX_1_2: usize = PLAIN_BYTES_MAX + 2048;
const PAYLOAD_BYTES_MAX_1_3: usize = PLAIN_BYTES_MAX + 256;
/// What sealing adds at most: header, explicit nonce, tag, inner type.
pub const OVERHEAD_BYTES: usize = HEADER_BYTES + EXPLICIT_BYTES + TAG_BYTES + 1;
const TAG_BYTES: usize = 16;
const EXPLICIT_BYTES: usize = 8;

/// Types of records (RFC 8446, B.1).
pub mod record_type {
    /// change_cipher_spec
    pub const CHANGE_CIPHER_SPEC: u8 = 20;
    /// alert
    pub const ALERT: u8 = 21;
    /// handshake
    pub const HANDSHAKE: u8 = 22;
    /// application_data
    pub const APPLICATION_DATA: u8 = 23;

    /// Whether it is any of them.
    pub fn is_one(byte: u8) -> bool {
        (CHANGE_CIPHER_SPEC..=APPLICATION_DATA).contains(&byte)
    }
}

/// Why a record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// It is longer than any record may be.
    TooLong,
    /// It is none: an unknown type or version.
    NotARecord,
    /// It was not sealed with the key of this connection, or changed on its way.
    NotAuthentic,
    /// It is well sealed and says what may not be said now.
    Unexpected,
}

impl Damage {
    /// The alert that says so (RFC 8446, 6.2).
    pub fn alert(self) -> u8 {
        match self {
            Self::TooLong => 22,
            Self::NotAuthentic => 20,
            Self::NotARecord | Self::Unexpected => 10,
        }
    }
}

/// How nonces and additional data are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    /// TLS 1.3.
    V1_3,
    /// AES-GCM in TLS 1.2: a part of the nonce travels with the record.
    V1_2Explicit,
    /// ChaCha20-Poly1305 in TLS 1.2.
    V1_2,
}

/// The keys of one direction.
#[derive(Debug)]
pub struct Protection {
    key: LessSafeKey,
    iv: [u8; 12],
    scheme: Scheme,
    /// Number of the next record.
    pub sequence: u64,
}

/// A record whose payload is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// As written; in TLS 1.3 the true one is inside.
    pub record_type: u8,
    /// Bytes of payload behind the header.
    pub payload_bytes: usize,
}

impl Header {
    /// Reads the header at the front of these bytes; `None` if it is not there whole.
    ///
    /// # Errors
    /// When it cannot be that of a record.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Damage> {
        let &[record_type, major, _, high, low, ..] = bytes else { return Ok(None) };
        if !record_type::is_one(record_type) || major != 3 {
            return Err(Damage::NotARecord);
        }
        let payload_bytes = usize::from(u16::from_be_bytes([high, low]));
        if payload_bytes > PAYLOAD_BYTES_MAX_1_2 {
            return Err(Damage::TooLong);
        }
        Ok(Some(Self { record_type, payload_bytes }))
    }

    /// Bytes of the whole record.
    pub fn record_bytes(&self) -> usize {
        HEADER_BYTES + self.payload_bytes
    }
}

impl Protection {
    /// From what the handshake agreed on. `None` for a suite that is not known here.
    pub fn new(
        version: ProtocolVersion,
        sequence: u64,
        secrets: &ConnectionTrafficSecrets,
    ) -> Option<Self> {
        let (algorithm, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&aead::AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&aead::AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
                (&aead::CHACHA20_POLY1305, key, iv)
            }
            _ => return None,
        };
        let explicit = algorithm != &aead::CHACHA20_POLY1305;
        let scheme = match (version, explicit) {
            (ProtocolVersion::TLSv1_3, _) => Scheme::V1_3,
            (ProtocolVersion::TLSv1_2, true) => Scheme::V1_2Explicit,
            (ProtocolVersion::TLSv1_2, false) => Scheme::V1_2,
            _ => return None,
        };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key.as_ref()).ok()?);
        Some(Self { key, iv: iv.as_ref().try_into().ok()?, scheme, sequence })
    }

    /// From a traffic secret of TLS 1.3 (RFC 8446, 7.3). `None` for a suite that is not known here.
    pub fn of_secret(suite: u16, secret: &Prk) -> Option<Self> {
        let algorithm = match suite {
            0x1301 => &aead::AES_128_GCM,
            0x1302 => &aead::AES_256_GCM,
            0x1303 => &aead::CHACHA20_POLY1305,
            _ => return None,
        };
        let mut key = [0; 32];
        let key = &mut key[..algorithm.key_len()];
        let mut iv = [0; 12];
        expand_label(secret, b"key", key)?;
        expand_label(secret, b"iv", &mut iv)?;
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?);
        Some(Self { key, iv, scheme: Scheme::V1_3, sequence: 0 })
    }

    /// The nonce of the next record: the sequence number, laid over the initial vector.
    #[inline]
    fn nonce(&self) -> [u8; 12] {
        let mut nonce = self.iv;
        for (byte, number) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= number;
        }
        nonce
    }

    #[inline]
    fn additional_1_2(&self, record_type: u8, plain_bytes: usize) -> [u8; 13] {
        let mut additional = [0; 13];
        additional[..8].copy_from_slice(&self.sequence.to_be_bytes());
        additional[8..11].copy_from_slice(&[record_type, 3, 3]);
        additional[11..].copy_from_slice(&(plain_bytes as u16).to_be_bytes());
        additional
    }

    /// Seals up to [`PLAIN_BYTES_MAX`] bytes as one record at the front of `to`, which has
    /// [`OVERHEAD_BYTES`] more room than `plain`. Returns the record's length.
    ///
    /// # Errors
    /// When the cipher refuses, which it does for no length permitted here.
    #[inline]
    pub fn seal(&mut self, record_type: u8, plain: &[u8], to: &mut [u8]) -> Result<usize, Damage> {
        debug_assert!(plain.len() <= PLAIN_BYTES_MAX && to.len() >= plain.len() + OVERHEAD_BYTES);
        let nonce = self.nonce();
        let (outer_type, before, inner) = match self.scheme {
            Scheme::V1_3 => (record_type::APPLICATION_DATA, 0, 1),
            Scheme::V1_2Explicit => (record_type, EXPLICIT_BYTES, 0),
            Scheme::V1_2 => (record_type, 0, 0),
        };
        let payload_bytes = before + plain.len() + inner + TAG_BYTES;
        let [high, low] = (payload_bytes as u16).to_be_bytes();
        let header = [outer_type, 3, 3, high, low];
        to[..HEADER_BYTES].copy_from_slice(&header);
        let (explicit, rest) = to[HEADER_BYTES..].split_at_mut(before);
        explicit.copy_from_slice(&nonce[4..4 + before]);
        let (text, rest) = rest.split_at_mut(plain.len() + inner);
        text[..plain.len()].copy_from_slice(plain);
        if inner > 0 {
            text[plain.len()] = record_type;
        }
        let additional = self.additional_1_2(record_type, plain.len());
        let additional = if self.scheme == Scheme::V1_3 { &header[..] } else { &additional };
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::from(additional), text)
            .map_err(|_| Damage::Unexpected)?;
        rest[..TAG_BYTES].copy_from_slice(tag.as_ref());
        self.sequence += 1;
        Ok(HEADER_BYTES + payload_bytes)
    }

    /// Opens a whole record where it lies. Returns its type and its plaintext.
    ///
    /// # Errors
    /// When it is too long, or not authentic.
    #[inline]
    pub fn open<'r>(
        &mut self,
        header: Header,
        record: &'r mut [u8],
    ) -> Result<(u8, &'r mut [u8]), Damage> {
        let (head, payload) = record.split_at_mut(HEADER_BYTES);
        if self.scheme == Scheme::V1_3 {
            return self.open_1_3(head, payload);
        }
        let mut nonce = self.nonce();
        let payload = if self.scheme == Scheme::V1_2Explicit {
            let (explicit, rest) =
                payload.split_at_mut_checked(EXPLICIT_BYTES).ok_or(Damage::NotAuthentic)?;
            nonce[..4].copy_from_slice(&self.iv[..4]);
            nonce[4..].copy_from_slice(explicit);
            rest
        } else {
            payload
        };
        let plain_bytes = payload.len().checked_sub(TAG_BYTES).ok_or(Damage::NotAuthentic)?;
        if plain_bytes > PLAIN_BYTES_MAX {
            return Err(Damage::TooLong);
        }
        let additional = self.additional_1_2(header.record_type, plain_bytes);
        let plain = self
            .key
            .open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(additional), payload)
            .map_err(|_| Damage::NotAuthentic)?;
        self.sequence += 1;
        Ok((header.record_type, plain))
    }

    #[inline]
    fn open_1_3<'r>(
        &mut self,
        head: &[u8],
        payload: &'r mut [u8],
    ) -> Result<(u8, &'r mut [u8]), Damage> {
        if head[0] != record_type::APPLICATION_DATA {
            return Err(Damage::Unexpected);
        }
        if payload.len() > PAYLOAD_BYTES_MAX_1_3 {
            return Err(Damage::TooLong);
        }
        let nonce = Nonce::assume_unique_for_key(self.nonce());
        let inner = self
            .key
            .open_in_place(nonce, Aad::from(head), payload)
            .map_err(|_| Damage::NotAuthentic)?;
        self.sequence += 1;
        // The true type is the last byte that is not padding (RFC 8446, 5.4).
        let last = inner.iter().rposition(|byte| *byte != 0).ok_or(Damage::Unexpected)?;
        if last > PLAIN_BYTES_MAX {
            return Err(Damage::TooLong);
        }
        let record_type = inner[last];
        Ok((record_type, &mut inner[..last]))
    }
}

/// HKDF-Expand-Label without a context (RFC 8446, 7.1).
fn expand_label(secret: &Prk, label: &[u8], to: &mut [u8]) -> Option<()> {
    struct Bytes(usize);
    impl hkdf::KeyType for Bytes {
        fn len(&self) -> usize {
            self.0
        }
    }
    let length = (to.len() as u16).to_be_bytes();
    let label_bytes = [(LABEL.len() + label.len()) as u8];
    let info: [&[u8]; 5] = [&length, &label_bytes, LABEL, label, &[0]];
    secret.expand(&info, Bytes(to.len())).ok()?.fill(to).ok()
}

/// What every label begins with.
const LABEL: &[u8] = b"tls13 ";
