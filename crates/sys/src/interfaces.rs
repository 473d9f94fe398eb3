//! Which addresses are this host's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether packets to this address stay on this host: it is a loopback address or belongs to one
/// of its interfaces. An address that cannot be judged counts as elsewhere.
pub fn is_local_address(address: IpAddr) -> bool {
    let address = address.to_canonical();
    // 0.0.0.0 and :: reach this host on Linux.
    address.is_loopback() || address.is_unspecified() || interface_addresses().contains(&address)
}

/// The addresses of all interfaces of this host; empty when the kernel does not say.
pub fn interface_addresses() -> Vec<IpAddr> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `list` is a valid place for the pointer that getifaddrs returns.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Vec::new();
    }
    let mut addresses = Vec::new();
    let mut entry = list;
    while !entry.is_null() {
        // SAFETY: `entry` is an element of the list getifaddrs returned, which is freed only
        // after this loop.
        let interface = unsafe { &*entry };
        // SAFETY: `ifa_addr` is null or points to the sockaddr of this element, which has the
        // length that belongs to its family.
        addresses.extend(unsafe { ip_of(interface.ifa_addr) });
        entry = interface.ifa_next;
    }
    // SAFETY: `list` came from getifaddrs, is freed once, and nothing borrowed from it is left.
    unsafe { libc::freeifaddrs(list) };
    addresses
}

/// # Safety
/// `address` is null or points to a socket address as long as its family demands.
unsafe fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, and every socket address begins with its family (by the contract above).
    match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: an AF_INET address is a sockaddr_in; read without assuming its alignment.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an AF_INET6 address is a sockaddr_in6; read without assuming its alignment.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_interfaces_are_local_and_documentation_addresses_are_not() {
        assert!(is_local_address("127.0.0.1".parse().unwrap()));
        assert!(is_local_address("127.9.8.7".parse().unwrap()));
        assert!(is_local_address("::1".parse().unwrap()));
        assert!(is_local_address("::ffff:127.0.0.1".parse().unwrap()));
        for address in interface_addresses() {
            assert!(is_local_address(address), "{address}");
        }
        // RFC 5737 and RFC 3849: addresses for documentation, on no interface.
        assert!(!is_local_address("192.0.2.1".parse().unwrap()));
        assert!(!is_local_address("2001:db8::1".parse().unwrap()));
    }

    #[test]
    fn the_loopback_interface_is_listed() {
        assert!(interface_addresses().contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }
}
