//! What an HTTP/3 server can send: its streams, and a response, in pieces of a size that the input chooses.
#![no_main]

use ablaze_wire::http3::control::{PeerStream, PeerStreams};
use ablaze_wire::http3::response::{Response, ResponseHead, Sections, Sink};
use libfuzzer_sys::fuzz_target;

struct Silent(u64);

impl Sink for Silent {
    fn head(&mut self, head: ResponseHead) {
        assert!((200..=999).contains(&head.status));
    }

    fn data(&mut self, content: &[u8]) {
        assert!(!content.is_empty());
        self.0 += content.len() as u64;
    }

    fn wants_fields(&self) -> bool {
        true
    }
}

fuzz_target!(|input: (u8, u16, Vec<(u8, Vec<u8>)>)| {
    let (piece_bytes, table_bytes, parts) = input;
    let mut sections = Sections::new(u32::from(table_bytes), 4_096);
    let mut streams = PeerStreams::default();
    let mut own: Vec<PeerStream> = vec![PeerStream::default(); 4];
    let (mut response, mut sink) = (Response::new(false), Silent(0));
    let mut out = Vec::new();
    for (stream, bytes) in &parts {
        for piece in bytes.chunks(usize::from(piece_bytes).max(1)) {
            let fails = match stream % 8 {
                number @ 0..=3 => {
                    let own = &mut own[usize::from(number)];
                    streams
                        .receive(
                            own,
                            piece,
                            stream & 0x80 != 0,
                            &mut sections,
                            &mut out,
                            &mut |_| {},
                        )
                        .is_err()
                }
                _ => response.receive(0, piece, &mut sections, &mut sink, &mut out).is_err(),
            };
            if fails {
                return;
            }
        }
    }
    assert_eq!(response.content_bytes(), sink.0);
    let _ = response.end();
});
