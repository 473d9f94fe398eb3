//! Datagrams as they go in and come out: several of one size, one behind the other, as the kernel takes and hands them over.

/// Datagrams that arrived together.
#[derive(Debug)]
pub struct Received<'a> {
    /// Their bytes.
    pub bytes: &'a mut [u8],
    /// The length of each but the last, which may be shorter.
    pub segment_bytes: usize,
    /// The ECN bits that they came with (RFC 3168, section 5).
    pub ecn: u8,
}

/// What is to be sent, one datagram behind the other in the buffer that was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The length of each but the last, which may be shorter; at least 1.
    pub segment_bytes: usize,
    /// The ECN bits to send them with.
    pub ecn: u8,
}

/// The kernel takes no more datagrams at once (`UDP_MAX_SEGMENTS` of Linux 4.18 to 6.8).
pub const SEGMENTS_MAX: usize = 64;

/// Nor more bytes: the largest payload of UDP over IPv4.
pub const BYTES_MAX: usize = 65_507;

/// Of several datagrams at once, devices take no more: packets below 65,536 bytes with the heads of Ethernet, IPv6 and UDP
/// (`GSO_LEGACY_MAX_SIZE`). The kernel cuts up what is longer in front of the device, and nothing arrives together.
pub const BATCH_BYTES_MAX: usize = 65_535 - 14 - 40 - 8;

/// How many datagrams of this size can leave at once.
pub fn segments_max(segment_bytes: u16) -> usize {
    (BATCH_BYTES_MAX / usize::from(segment_bytes.max(1))).clamp(1, SEGMENTS_MAX)
}
