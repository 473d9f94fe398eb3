//! Addresses of sockets as the kernel has them.

use std::mem;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{c_int, sockaddr_storage, socklen_t};

/// The address in what the kernel filled; `None` for a family that is not known.
pub fn address_of(name: &sockaddr_storage) -> Option<SocketAddr> {
    let name = std::ptr::from_ref(name);
    // SAFETY: a sockaddr_storage is as long and as aligned as every address, and the family says which it is.
    unsafe {
        match c_int::from((*name).ss_family) {
            libc::AF_INET => {
                let name = &*name.cast::<libc::sockaddr_in>();
                let ip = u32::from_be(name.sin_addr.s_addr).into();
                Some(SocketAddrV4::new(ip, u16::from_be(name.sin_port)).into())
            }
            libc::AF_INET6 => {
                let name = &*name.cast::<libc::sockaddr_in6>();
                let ip = Ipv6Addr::from(name.sin6_addr.s6_addr);
                let port = u16::from_be(name.sin6_port);
                Some(SocketAddrV6::new(ip, port, name.sin6_flowinfo, name.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

/// An address as the kernel takes it, and its length.
pub fn name_of(address: SocketAddr) -> (sockaddr_storage, socklen_t) {
    // SAFETY: a sockaddr_storage is integers, for which zero is a value.
    let mut storage: sockaddr_storage = unsafe { mem::zeroed() };
    let name = &raw mut storage;
    // SAFETY: a sockaddr_storage is as long and as aligned as every address.
    let bytes = unsafe {
        match address {
            SocketAddr::V4(address) => {
                let own = &mut *name.cast::<libc::sockaddr_in>();
                own.sin_family = libc::AF_INET as libc::sa_family_t;
                own.sin_port = address.port().to_be();
                own.sin_addr.s_addr = u32::from(*address.ip()).to_be();
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(address) => {
                let own = &mut *name.cast::<libc::sockaddr_in6>();
                own.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                own.sin6_port = address.port().to_be();
                own.sin6_addr.s6_addr = address.ip().octets();
                own.sin6_flowinfo = address.flowinfo();
                own.sin6_scope_id = address.scope_id();
                size_of::<libc::sockaddr_in6>()
            }
        }
    };
    (storage, bytes as socklen_t)
}
