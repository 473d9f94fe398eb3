//! What a message carries beside its bytes: control messages, as `struct cmsghdr` of the kernel's
//! include/linux/socket.h lays them out (a length of the size of a pointer, two ints, and the data, aligned to a pointer).

use super::Version;

const LENGTH_BYTES: usize = size_of::<usize>();
const HEADER_BYTES: usize = LENGTH_BYTES + 8;

/// The two bits of the Traffic Class that are ECN's (RFC 3168, section 5).
const ECN_MASK: u8 = 0b11;

/// Room for what [`read`] knows, with some to spare.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Room(pub(crate) [u8; ROOM_BYTES]);

/// The size of [`Room`].
pub(crate) const ROOM_BYTES: usize = 128;

impl Default for Room {
    fn default() -> Self {
        Self([0; ROOM_BYTES])
    }
}

/// What came beside received datagrams.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    /// The length of each datagram but the last; `None` for a single one.
    pub(crate) segment_bytes: Option<usize>,
    /// Their ECN bits.
    pub(crate) ecn: u8,
    /// Datagrams dropped since the socket was made, modulo 2^32; `None` before the first.
    pub(crate) dropped: Option<u32>,
}

/// Reads control messages; unknown ones are passed over.
pub(crate) fn read(mut rest: &[u8]) -> Received {
    let mut received = Received::default();
    while let Some((level, kind, data, behind)) = first(rest) {
        match (level, kind) {
            (libc::SOL_UDP, libc::UDP_GRO) => {
                received.segment_bytes = int(data)
                    .and_then(|bytes| usize::try_from(bytes).ok())
                    .filter(|&bytes| bytes > 0);
            }
            // One byte for IPv4, an int for IPv6 (ip_cmsg_recv_tos, ip6_datagram_recv_common_ctl).
            (libc::SOL_IP, libc::IP_TOS) => {
                received.ecn = data.first().map_or(0, |class| class & ECN_MASK);
            }
            (libc::SOL_IPV6, libc::IPV6_TCLASS) => {
                received.ecn = int(data).map_or(0, |class| class as u8 & ECN_MASK);
            }
            (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                received.dropped = int(data).map(i32::cast_unsigned);
            }
            _ => {}
        }
        rest = behind;
    }
    received
}

/// The first control message: its level, its type, its data, and what is behind it.
fn first(bytes: &[u8]) -> Option<(i32, i32, &[u8], &[u8])> {
    let (length, behind) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::from_ne_bytes(*length);
    let (level, kind) = (int(behind)?, int(behind.get(4..)?)?);
    let data = bytes.get(HEADER_BYTES..length)?;
    Some((level, kind, data, bytes.get(length.next_multiple_of(LENGTH_BYTES)..).unwrap_or(&[])))
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes))
}

/// What goes beside datagrams that are sent.
#[derive(Debug, Clone, Copy)]
#[repr(align(8))]
pub(crate) struct Beside {
    bytes: [u8; 2 * (HEADER_BYTES + LENGTH_BYTES)],
    length: usize,
}

impl Beside {
    /// Nothing.
    pub(crate) const NONE: Self = Self { bytes: [0; 2 * (HEADER_BYTES + LENGTH_BYTES)], length: 0 };

    /// How long each datagram is but the last, if there are several, and their ECN bits.
    pub(crate) fn new(segment_bytes: Option<u16>, ecn: u8, version: Version) -> Self {
        let mut beside = Self::NONE;
        if let Some(bytes) = segment_bytes {
            beside.push(libc::SOL_UDP, libc::UDP_SEGMENT, &bytes.to_ne_bytes());
        }
        if ecn & ECN_MASK != 0 {
            let (level, kind) = match version {
                Version::V4 | Version::V4OverV6 => (libc::SOL_IP, libc::IP_TOS),
                Version::V6 => (libc::SOL_IPV6, libc::IPV6_TCLASS),
            };
            beside.push(level, kind, &i32::from(ecn & ECN_MASK).to_ne_bytes());
        }
        beside
    }

    /// The control messages.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The data is no longer than a pointer, so that two messages fit.
    fn push(&mut self, level: i32, kind: i32, data: &[u8]) {
        let message = &mut self.bytes[self.length..];
        message[..LENGTH_BYTES].copy_from_slice(&(HEADER_BYTES + data.len()).to_ne_bytes());
        message[LENGTH_BYTES..][..4].copy_from_slice(&level.to_ne_bytes());
        message[LENGTH_BYTES + 4..][..4].copy_from_slice(&kind.to_ne_bytes());
        message[HEADER_BYTES..][..data.len()].copy_from_slice(data);
        self.length += HEADER_BYTES + data.len().next_multiple_of(LENGTH_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the C library's macros, which the kernel's layout is the model of.
    #[test]
    fn messages_are_where_the_c_library_finds_them() {
        let beside = Beside::new(Some(1200), 0b10, Version::V4);
        // SAFETY: the macros compute lengths only.
        let (of_u16, of_int) = unsafe { (libc::CMSG_SPACE(2), libc::CMSG_SPACE(4)) };
        assert_eq!(beside.bytes().len(), (of_u16 + of_int) as usize);
        let (level, kind, data, behind) = first(beside.bytes()).unwrap();
        assert_eq!(
            (level, kind, data),
            (libc::SOL_UDP, libc::UDP_SEGMENT, &1200u16.to_ne_bytes()[..])
        );
        // SAFETY: as above.
        assert_eq!(behind.len(), unsafe { libc::CMSG_SPACE(4) } as usize);
        assert_eq!(read(beside.bytes()), Received { ecn: 0b10, ..Received::default() });
    }

    #[test]
    fn a_message_cut_short_ends_the_reading() {
        let beside = Beside::new(None, 0b11, Version::V6);
        assert_eq!(read(beside.bytes()).ecn, 0b11);
        for length in 0..HEADER_BYTES + 4 {
            assert_eq!(read(&beside.bytes()[..length]), Received::default(), "{length} bytes");
        }
        assert_eq!(read(&[0; 64]), Received::default(), "a length of 0");
    }
}
