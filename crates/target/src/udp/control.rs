//! Control messages (cmsg(3)): what the kernel says of datagrams, and is told of them, beside their bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libc::{c_int, cmsghdr, in_pktinfo, in6_pktinfo, msghdr};

/// The three control messages of a call need at most this, in words so that they are aligned.
pub type Control = [u64; 12];

/// Appends a control message of at most 20 bytes; how much of `control` is used then.
pub fn push(control: &mut Control, used: usize, kind: (c_int, c_int), data: &[u8]) -> usize {
    const HEAD_BYTES: usize = size_of::<cmsghdr>();
    let head = cmsghdr { cmsg_len: HEAD_BYTES + data.len(), cmsg_level: kind.0, cmsg_type: kind.1 };
    let space = (HEAD_BYTES + data.len()).next_multiple_of(size_of::<usize>());
    assert!(used + space <= size_of::<Control>() && used.is_multiple_of(8) && data.len() <= 20);
    // SAFETY: the assertion says that head and data lie within `control`, and that the head is aligned in it as its
    // words are.
    unsafe {
        let at = control.as_mut_ptr().cast::<u8>().add(used);
        at.cast::<cmsghdr>().write(head);
        at.add(HEAD_BYTES).copy_from_nonoverlapping(data.as_ptr(), data.len());
    }
    used + space
}

/// Shows the control messages that came.
pub fn for_each(message: &msghdr, mut show: impl FnMut(c_int, c_int, &[u8])) {
    // SAFETY: the kernel has filled the control buffer, which lives as long as `message` is used here, up to the length
    // that it wrote into the message; the macros of cmsg(3) stay within that.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while let Some(head) = next.as_ref() {
            let bytes = head.cmsg_len - libc::CMSG_LEN(0) as usize;
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(next), bytes);
            show(head.cmsg_level, head.cmsg_type, data);
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
}

/// An int in the machine's order, or 0.
pub fn number_of(data: &[u8]) -> c_int {
    data.first_chunk().map_or(0, |bytes| c_int::from_ne_bytes(*bytes))
}

/// The address at which datagrams came (IP_PKTINFO, IPV6_PKTINFO), from the data of such a message.
pub fn local_of(level: c_int, data: &[u8]) -> Option<IpAddr> {
    // As in_pktinfo (the interface, the local address, the one in the header) and in6_pktinfo (the address, the interface)
    // have it, in the network's order.
    match level {
        libc::IPPROTO_IP => Some(Ipv4Addr::from(*data.get(4..8)?.first_chunk::<4>()?).into()),
        _ => Some(Ipv6Addr::from(*data.first_chunk::<16>()?).into()),
    }
}

/// Appends the address that datagrams are to leave from; how much of `control` is used then. An IPv6 socket takes an IPv4
/// address in IPv6's form.
pub fn push_local(control: &mut Control, used: usize, local: IpAddr) -> usize {
    match local {
        IpAddr::V4(ip) => {
            let mut data = [0; size_of::<in_pktinfo>()];
            data[4..8].copy_from_slice(&ip.octets());
            push(control, used, (libc::IPPROTO_IP, libc::IP_PKTINFO), &data)
        }
        IpAddr::V6(ip) => {
            let mut data = [0; size_of::<in6_pktinfo>()];
            data[..16].copy_from_slice(&ip.octets());
            push(control, used, (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO), &data)
        }
    }
}
