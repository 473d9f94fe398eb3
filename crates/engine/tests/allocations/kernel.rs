//! Servers on real sockets that allocate nothing once they stand: their threads are counted, too.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

const HEAD_END: &[u8] = b"\r\n\r\n";

/// A server that serves as many connections at a time as it has threads, until the process ends. After
/// `responses` responses it closes a connection.
pub fn serve(threads: usize, response: &'static [u8], responses: u64) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    for _ in 0..threads {
        let listener = listener.try_clone().unwrap();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                serve_one(stream, response, responses);
            }
        });
    }
    address
}

fn serve_one(mut stream: TcpStream, response: &[u8], responses: u64) {
    let _ = stream.set_nodelay(true);
    let mut bytes = [0; 4096];
    let (mut matched, mut answered) = (0, 0);
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        for byte in &bytes[..count] {
            matched = match *byte {
                byte if byte == HEAD_END[matched] => matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if matched < HEAD_END.len() {
                continue;
            }
            matched = 0;
            answered += 1;
            if stream.write_all(response).is_err() || answered == responses {
                return;
            }
        }
    }
}
