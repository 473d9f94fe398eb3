//! The server's side of an HTTP/1 connection: whatever comes, it does not panic, never offers nothing
//! while something is left to write, and what it says does not depend on how the bytes are cut.
#![no_main]

use std::io::IoSlice;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ablaze_target::Options;
use ablaze_target::conditions::{ResponseKind, Fault, FaultShare, WriteMode};
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use libfuzzer_sys::fuzz_target;

/// Responses may have any length; this much of them is looked at.
const HEARD_BYTES_MAX: usize = 200_000;
const TURNS_MAX: usize = 1_000;
const HEAD_BYTES_MAX: usize = 1_000;

static DATE: LazyLock<Date> = LazyLock::new(Date::now);

fuzz_target!(|input: &[u8]| {
    let [server, piece_bytes, write_bytes, bytes @ ..] = input else { return };
    // 100 Continue is left out when the body comes with the head, and the status page tells the
    // time: both depend on more than the bytes. So does whether a head is too long or malformed.
    let has =
        |word: &[u8]| bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    if bytes.len() > HEAD_BYTES_MAX || has(b"expect") || has(b"/_/status") {
        return;
    }
    // The beginning of a head is looked at again only when a line ends.
    let bytes = [bytes, b"\n"].concat();
    let pieces = (usize::from(*piece_bytes) + 1, usize::from(*write_bytes) + 1);
    let (whole, whole_ended) = converse(*server, &bytes, usize::MAX, usize::MAX);
    let (heard, heard_ended) = converse(*server, &bytes, pieces.0, pieces.1);
    let len = whole.len().min(heard.len());
    assert!(whole[..len] == heard[..len], "the bytes depend on the cut");
    assert!(!whole_ended || !heard_ended || whole.len() == heard.len(), "how many depends on it");
});

fn options(server: u8) -> Options {
    let share = |fault| FaultShare { fault, share: 0.1 };
    let faults = [Fault::ResetDuring, Fault::ShortBody, Fault::WrongLength, Fault::Trickle];
    let bit = |bit: u8| server >> bit & 1 == 1;
    Options {
        faults: if bit(0) { faults.map(share).to_vec() } else { Vec::new() },
        write: if bit(1) { WriteMode::Split } else { WriteMode::Whole },
        max_requests: bit(2).then_some(3),
        delay: if bit(3) { Duration::from_nanos(5).into() } else { Duration::ZERO.into() },
        head_bytes: bit(4).then_some(250),
        echo_everywhere: bit(5),
        response: if bit(6) && !bit(4) && !bit(5) && !bit(2) {
            ResponseKind::Echo
        } else {
            ResponseKind::Http
        },
        max_body_bytes: if bit(7) { 100 } else { 1 << 20 },
        max_head_bytes: HEAD_BYTES_MAX,
        ..Options::default()
    }
}

/// What a client gets, and whether that is all.
fn converse(server: u8, input: &[u8], piece_bytes: usize, write_bytes: usize) -> (Vec<u8>, bool) {
    let mut options = options(server);
    if options.response == ResponseKind::Echo {
        // Each read is a response of its own: delays and faults hang on the cut.
        options.faults = Vec::new();
    }
    let service =
        Service::new(Routes::new(&options), &options, None, Arc::new(Registry::default()));
    let mut protocol = Protocol::new(&service);
    let mut out = Output::default();
    let mut heard = Vec::new();
    let mut turns = 0;
    for piece in input.chunks(piece_bytes.min(input.len()).max(1)) {
        let mut next = protocol.receive(piece, &service, &DATE, &mut out);
        loop {
            turns += 1;
            while !out.is_empty() {
                let mut slices = [IoSlice::new(&[]); 3];
                let used = out.slices(&mut slices);
                let offered: usize = slices[..used].iter().map(|slice| slice.len()).sum();
                assert!(offered > 0, "{} bytes are left and none are offered", out.left());
                let mut taken = 0;
                for slice in &slices[..used] {
                    let here = slice.len().min(write_bytes - taken);
                    heard.extend_from_slice(&slice[..here]);
                    taken += here;
                }
                out.wrote(taken);
                if heard.len() > HEARD_BYTES_MAX {
                    return (heard, false);
                }
            }
            match next {
                Next::Read | Next::ReadFor(_) => break,
                Next::Close { .. } | Next::Reset => return (heard, true),
                Next::Proceed | Next::Wait(_) if turns > TURNS_MAX => return (heard, false),
                Next::Proceed | Next::Wait(_) => {
                    next = protocol.proceed(&service, &DATE, &mut out);
                }
            }
        }
    }
    (heard, true)
}
