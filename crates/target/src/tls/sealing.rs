//! From output to records: what a handshake has to say, and what a protocol said, encrypted. A
//! cut in the output is one between the records, too.

use std::io::IoSlice;

use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, UnbufferedStatus, WriteTraffic,
};

use crate::http1::output::Output;

/// The most that a record holds (RFC 8446, 5.1).
const RECORD_BYTES: usize = 16 * 1024;
/// What a record has around it, at most: its head, TLS 1.2's explicit nonce, the tag, and the
/// content type of TLS 1.3; doubled, so that no arithmetic of the library's can miss it.
const AROUND_BYTES: usize = 64;
/// Encrypted at once: the records are in the cache when they are written.
const AT_ONCE_BYTES: u64 = 4 * RECORD_BYTES as u64;
/// Slices that are looked at together.
const SLICES: usize = 8;

/// The connection cannot be written to any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritable;

/// Adds what a handshake, or an alert, has to say.
pub(super) fn push_encoded(data: &mut EncodeTlsData<'_, ServerConnectionData>, out: &mut Output) {
    out.push_with(|text| {
        let start = text.len();
        let mut room = AROUND_BYTES;
        loop {
            text.resize(start + room, 0);
            match data.encode(&mut text[start..]) {
                Ok(bytes) => return text.truncate(start + bytes),
                Err(EncodeError::InsufficientSize(needed)) => room = needed.required_size,
                Err(EncodeError::AlreadyEncoded) => return text.truncate(start),
            }
        }
    });
}

/// Puts the next of `plain` into records, as much as leaves at once. `shown` is what rustls has read of
/// the received bytes and is not done with: the beginning of a handshake message, no less and no more.
///
/// # Errors
/// When the connection is past writing: its keys are used up, or it has failed.
pub(super) fn seal(
    tls: &mut UnbufferedServerConnection,
    shown: &mut [u8],
    plain: &mut Output,
    out: &mut Output,
) -> Result<(), Unwritable> {
    while !plain.is_empty() {
        let UnbufferedStatus { discard, state } = tls.process_tls_records(shown);
        debug_assert_eq!(discard, 0, "nothing was left to be read");
        match state {
            Ok(ConnectionState::EncodeTlsData(mut data)) => push_encoded(&mut data, out),
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                let mut room = AT_ONCE_BYTES;
                while room > 0 && !plain.is_empty() {
                    room = room.saturating_sub(seal_piece(&mut traffic, room, plain, out)?);
                }
                return Ok(());
            }
            _ => return Err(Unwritable),
        }
    }
    Ok(())
}

/// Says that nothing more follows, if the handshake is done; before, the connection just ends. `shown`
/// is as for [`seal`].
pub(super) fn seal_end(tls: &mut UnbufferedServerConnection, shown: &mut [u8], out: &mut Output) {
    loop {
        match tls.process_tls_records(shown).state {
            Ok(ConnectionState::EncodeTlsData(mut data)) => push_encoded(&mut data, out),
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                let mut alert = [0; AROUND_BYTES];
                if let Ok(bytes) = traffic.queue_close_notify(&mut alert) {
                    out.push_text(&alert[..bytes]);
                }
                return;
            }
            _ => return,
        }
    }
}

/// Encrypts the next piece: a stretch of memory in as many records as it takes, or several short
/// ones gathered into one record. Returns its length.
fn seal_piece(
    traffic: &mut WriteTraffic<'_, ServerConnectionData>,
    room: u64,
    plain: &mut Output,
    out: &mut Output,
) -> Result<u64, Unwritable> {
    let to_cut = plain.uncut();
    let mut slices = [IoSlice::new(&[]); SLICES];
    let used = plain.slices(&mut slices);
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let first = &slices[0][..slices[0].len().min(room)];
    let bytes = if used == 1 || first.len() >= RECORD_BYTES {
        encrypt(traffic, first, out)?;
        first.len()
    } else {
        // Not on the stack, which may be a fiber's.
        let mut gathered = Vec::with_capacity(RECORD_BYTES);
        for slice in &slices[..used] {
            let here = slice.len().min(RECORD_BYTES - gathered.len());
            gathered.extend_from_slice(&slice[..here]);
        }
        encrypt(traffic, &gathered, out)?;
        gathered.len()
    };
    plain.wrote(bytes);
    if bytes as u64 == to_cut {
        out.cut();
    }
    Ok(bytes as u64)
}

fn encrypt(
    traffic: &mut WriteTraffic<'_, ServerConnectionData>,
    bytes: &[u8],
    out: &mut Output,
) -> Result<(), Unwritable> {
    let mut encrypted = Ok(0);
    out.push_with(|text| {
        let start = text.len();
        let records = bytes.len().div_ceil(RECORD_BYTES);
        text.resize(start + bytes.len() + records * AROUND_BYTES, 0);
        encrypted = traffic.encrypt(bytes, &mut text[start..]);
        text.truncate(start + encrypted.as_ref().map_or(0, |bytes| *bytes));
    });
    encrypted.map(drop).map_err(|_| Unwritable)
}
