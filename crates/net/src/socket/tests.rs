//! What a route makes of an endpoint.

use super::*;

#[test]
fn rotation_reaches_every_pair_even_with_a_common_divisor() {
    let mut rotation = Rotation::default();
    let pairs: std::collections::HashSet<_> = (0..8).map(|_| rotation.next(2, 4)).collect();
    assert_eq!(pairs.len(), 8);
}

#[test]
fn a_unix_path_too_long_is_an_error_that_names_it() {
    let path = format!("/tmp/{}", "x".repeat(200));
    let endpoint = Endpoint::new(Address::Unix(path.clone().into()));
    let error = Route::new(&endpoint).expect_err("108 bytes are the limit");
    assert!(error.to_string().contains(&path));
}

#[test]
fn sockets_are_non_blocking_and_close_on_exec() {
    let endpoint = Endpoint::new(Address::Tcp(([127, 0, 0, 1], 9).into()));
    let mut calls = 0;
    let mut route = Route::new(&endpoint).unwrap();
    let socket = route.socket(&mut calls).unwrap();
    assert_eq!(calls, 2, "socket and TCP_NODELAY");
    assert!(SockRef::from(&socket).nonblocking().unwrap());
    let flags = rustix::io::fcntl_getfd(&socket).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn a_local_address_leaves_the_port_to_connect() {
    for (far, near) in [("127.0.0.1:9", "127.0.0.2"), ("[::1]:9", "::1")] {
        let mut endpoint = Endpoint::new(Address::Tcp(far.parse().unwrap()));
        endpoint.local_addresses = vec![near.parse().unwrap()];
        let mut calls = 0;
        let Ok(socket) = Route::new(&endpoint).unwrap().socket(&mut calls) else {
            ablaze_testing::skip::skip(&format!("this machine has no {near}"));
            continue;
        };
        let bound = SockRef::from(&socket).local_addr().unwrap().as_socket().unwrap();
        assert_eq!(bound, SocketAddr::new(near.parse().unwrap(), 0));
    }
}
