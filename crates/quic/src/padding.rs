//! Padding is cut off packets before quinn-proto reads them, which takes each byte of it as a frame of its own.
//!
//! What finds out how long a datagram the path carries is a PING with padding up to that size (RFC 9000, 14.4), from quinn-proto
//! also a wish for an acknowledgement at once: a server that tries 65,507 bytes would cost its client half a millisecond. Only
//! padding in front of other frames, or behind such of a single byte, can be told without reading the frames; a packet
//! always keeps one (12.4).

use bytes::{Buf, BytesMut};
use quinn_proto::crypto::{CryptoError, PacketKey};

const PADDING: u8 = 0x00;
const PING: u8 = 0x01;
/// draft-ietf-quic-ack-frequency.
const IMMEDIATE_ACK: u8 = 0x1f;

/// Opens packets, and cuts their padding off.
pub struct Unpadded<K>(pub K);

impl<K: PacketKey> PacketKey for Unpadded<K> {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        self.0.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.0.decrypt(packet, header, payload)?;
        cut(payload);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// Cuts padding off frames that mean the same without it.
#[inline]
fn cut(frames: &mut BytesMut) {
    if frames.first() == Some(&PADDING) {
        let others_at = frames.iter().position(|&byte| byte != PADDING);
        frames.advance(others_at.unwrap_or(frames.len() - 1));
    }
    let is_single = |byte: &u8| matches!(*byte, PING | IMMEDIATE_ACK);
    let singles = frames.iter().take_while(|byte| is_single(byte)).count();
    if singles > 0 && frames[singles..].iter().all(|&byte| byte == PADDING) {
        frames.truncate(singles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_nothing_is_cut_off() {
        let long = |first: &[u8]| [first, &[0; 60_000]].concat();
        let stream = [0x08, 0x00, b'x', 0, 0, 0];
        let cases: [(Vec<u8>, &[u8]); 10] = [
            (vec![], &[]),
            (long(&[]), &[PADDING]),
            (long(&[PING]), &[PING]),
            (long(&[PING, IMMEDIATE_ACK]), &[PING, IMMEDIATE_ACK]),
            ([&long(&[])[..], &[PING]].concat(), &[PING]),
            ([&long(&[])[..], &[PING, 0, 0]].concat(), &[PING]),
            // The content of a stream may be zeros, up to the end of its packet (RFC 9000, 19.8).
            (stream.to_vec(), &stream),
            ([&[0, 0, 0][..], &stream].concat(), &stream),
            ([&[PING, 0][..], &stream].concat(), &[PING, 0, 0x08, 0x00, b'x', 0, 0, 0]),
            (vec![PING, PING, 0], &[PING, PING]),
        ];
        for (frames, left) in cases {
            let mut cut_off = BytesMut::from(&frames[..]);
            cut(&mut cut_off);
            assert_eq!(&cut_off[..], left, "{:?}", &frames[..frames.len().min(9)]);
        }
    }
}
