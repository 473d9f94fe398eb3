//! From the bytes of a handshake to its messages (RFC 8446, 4 and 5; RFC 5246, 7.4). What is sealed is
//! opened with the secrets of the handshake; of what cannot be opened, as `Finished` in TLS 1.2, the
//! name follows from its place.

use aws_lc_rs::hkdf;
use rustls::AlertDescription;

use super::gathering::Messages;
use super::protection::{Header, Protection, record_type};
use super::trace::HandshakeSecrets;
use ablaze_model::record::{Spoken, TlsParty};

/// Bytes that one side sent at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flight {
    /// Who sent them.
    pub from: TlsParty,
    /// What was sent, in records.
    pub bytes: Vec<u8>,
}

/// Types of handshake messages (RFC 8446, B.3; RFC 5246, 7.4; RFC 6066, 8).
const SERVER_HELLO: u8 = 2;
const FINISHED: u8 = 20;

/// The random of a ServerHello that is a HelloRetryRequest (RFC 8446, 4.1.3).
const HELLO_RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The messages of a handshake, in the order in which they went by. Reads as far as it can.
pub fn read(flights: &[Flight], secrets: &HandshakeSecrets) -> Vec<Spoken> {
    let mut client = Side::new(TlsParty::Client, &secrets.client);
    let mut server = Side::new(TlsParty::Server, &secrets.server);
    let mut spoken = Vec::new();
    for flight in flights {
        let (side, other) = match flight.from {
            TlsParty::Client => (&mut client, &mut server),
            TlsParty::Server => (&mut server, &mut client),
        };
        side.unread.extend_from_slice(&flight.bytes);
        side.read(other, &mut spoken);
    }
    spoken
}

/// A handshake message of this type, with this many bytes behind its header.
pub fn handshake(from: TlsParty, kind: u8, bytes: usize) -> Spoken {
    let name = match kind {
        0 => "HelloRequest",
        1 => "ClientHello",
        SERVER_HELLO => "ServerHello",
        4 => "NewSessionTicket",
        8 => "EncryptedExtensions",
        11 => "Certificate",
        12 => "ServerKeyExchange",
        13 => "CertificateRequest",
        14 => "ServerHelloDone",
        15 => "CertificateVerify",
        16 => "ClientKeyExchange",
        FINISHED => "Finished",
        22 => "CertificateStatus",
        24 => "KeyUpdate",
        25 => "CompressedCertificate",
        _ => return Spoken { from, message: format!("message of type {kind}"), bytes },
    };
    Spoken { from, message: name.to_owned(), bytes }
}

/// An alert: its level and its description.
pub fn alert(from: TlsParty, payload: &[u8]) -> Spoken {
    let message = match *payload {
        [level, description] => {
            let level = if level == 1 { "warning" } else { "fatal" };
            format!("{level} alert {:?}", AlertDescription::from(description))
        }
        _ => "alert, sealed".to_owned(),
    };
    Spoken { from, message, bytes: payload.len() }
}

/// What one side sent.
struct Side<'s> {
    from: TlsParty,
    secret: &'s [u8],
    /// Bytes behind the last whole record.
    unread: Vec<u8>,
    /// The beginning of a message that goes on in the next record.
    messages: Messages,
    sealing: Sealing,
}

/// How a side's records are sealed.
enum Sealing {
    /// Not sealed yet.
    Clear,
    /// In TLS 1.3, with the keys of the handshake.
    Opened(Box<Protection>),
    /// In TLS 1.2, behind ChangeCipherSpec.
    Closed,
    /// What follows belongs to the handshake no more.
    Over,
}

impl<'s> Side<'s> {
    fn new(from: TlsParty, secret: &'s [u8]) -> Self {
        let (unread, messages) = (Vec::new(), Messages::default());
        Self { from, secret, unread, messages, sealing: Sealing::Clear }
    }

    /// Reads every record that is whole.
    fn read(&mut self, other: &mut Self, spoken: &mut Vec<Spoken>) {
        let mut unread = std::mem::take(&mut self.unread);
        let mut read = 0;
        while let Ok(Some(header)) = Header::read(&unread[read..]) {
            let end = read + header.record_bytes();
            if unread.len() < end || matches!(self.sealing, Sealing::Over) {
                break;
            }
            self.read_record(header, &mut unread[read..end], other, spoken);
            read = end;
        }
        unread.drain(..read);
        self.unread = unread;
    }

    fn read_record(
        &mut self,
        header: Header,
        record: &mut [u8],
        other: &mut Self,
        spoken: &mut Vec<Spoken>,
    ) {
        let (from, bytes) = (self.from, header.payload_bytes);
        let payload = &record[record.len() - bytes..];
        match (header.record_type, &mut self.sealing) {
            (record_type::CHANGE_CIPHER_SPEC, sealing) => {
                spoken.push(Spoken { from, message: "ChangeCipherSpec".to_owned(), bytes });
                // In TLS 1.3 it says nothing (RFC 8446, D.4).
                if self.secret.is_empty() {
                    *sealing = Sealing::Closed;
                }
            }
            (record_type::HANDSHAKE, Sealing::Clear) => {
                let payload = payload.to_vec();
                self.read_messages(&payload, other, spoken);
            }
            (record_type::HANDSHAKE, Sealing::Closed) => {
                spoken.push(Spoken { from, message: "Finished, sealed".to_owned(), bytes });
                self.sealing = Sealing::Over;
            }
            (record_type::ALERT, Sealing::Closed) => spoken.push(alert(from, &[])),
            (record_type::ALERT, _) => spoken.push(alert(from, payload)),
            (record_type::APPLICATION_DATA, Sealing::Opened(keys)) => {
                match keys.open(header, record).map(|(kind, plain)| (kind, plain.to_vec())) {
                    Ok((record_type::HANDSHAKE, plain)) => {
                        self.read_messages(&plain, other, spoken)
                    }
                    Ok((record_type::ALERT, plain)) => spoken.push(alert(from, &plain)),
                    // Sealed with the keys that come after.
                    _ => self.sealing = Sealing::Over,
                }
            }
            _ => self.sealing = Sealing::Over,
        }
    }

    /// Reads every message that is whole.
    fn read_messages(&mut self, payload: &[u8], other: &mut Self, spoken: &mut Vec<Spoken>) {
        let mut messages = std::mem::take(&mut self.messages);
        let read = messages.read(payload, |kind, body, _| {
            let mut said = handshake(self.from, kind, body.len());
            match kind {
                SERVER_HELLO if body.get(2..34) == Some(&HELLO_RETRY_RANDOM) => {
                    said.message = "HelloRetryRequest".to_owned();
                }
                SERVER_HELLO => {
                    if let Some(suite) = suite_of(body) {
                        self.sealing = sealing(suite, self.secret);
                        other.sealing = sealing(suite, other.secret);
                    }
                }
                FINISHED => self.sealing = Sealing::Over,
                _ => {}
            }
            spoken.push(said);
            Ok(())
        });
        self.messages = messages;
        if read.is_err() {
            self.sealing = Sealing::Over;
        }
    }
}

/// The suite a ServerHello chose: behind version, random and session id (RFC 8446, 4.1.3).
fn suite_of(server_hello: &[u8]) -> Option<u16> {
    let session_bytes = usize::from(*server_hello.get(34)?);
    let suite = server_hello.get(35 + session_bytes..)?.first_chunk()?;
    Some(u16::from_be_bytes(*suite))
}

/// How a side seals behind the ServerHello: with its secret of the handshake, if there is one.
fn sealing(suite: u16, secret: &[u8]) -> Sealing {
    let algorithm = match suite {
        0x1302 => hkdf::HKDF_SHA384,
        _ => hkdf::HKDF_SHA256,
    };
    if secret.is_empty() {
        return Sealing::Clear;
    }
    let secret = hkdf::Prk::new_less_safe(algorithm, secret);
    Protection::of_secret(suite, &secret)
        .map_or(Sealing::Over, |keys| Sealing::Opened(Box::new(keys)))
}
