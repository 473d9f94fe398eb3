//! Faults, as they show in HTTP/2.

use ablaze_target::Options;
use ablaze_target::conditions::{Fault, FaultShare};
use ablaze_target::protocol::Next;
use ablaze_wire::http2::frame::kind;

use super::by_hand::{Frame, Side, get};
use super::options;

fn struck(fault: Fault) -> (Vec<Frame>, Side) {
    let faults = vec![FaultShare { fault, share: 1.0 }];
    let mut side = Side::open(&Options { faults, ..options() }, &[]);
    side.receive(&get(1, "/hello"));
    // What comes later comes when it is asked for.
    let mut frames = if fault == Fault::Garbage { Vec::new() } else { side.frames() };
    while side.end.is_none() && fault == Fault::Trickle && !frames.iter().any(Frame::ends_stream) {
        std::thread::sleep(std::time::Duration::from_millis(11));
        side.receive(&[]);
        frames.extend(side.frames());
    }
    assert_eq!(side.struck(), 1, "{fault:?}");
    (frames, side)
}

/// Kind, length of the content, whether it ends the stream.
type Shape = (u8, usize, bool);

fn shape(frames: &[Frame]) -> Vec<Shape> {
    let body = |frame: &Frame| if frame.kind == kind::DATA { frame.payload.len() } else { 0 };
    let ends = |frame: &Frame| frame.kind != kind::RST_STREAM && frame.ends_stream();
    frames.iter().map(|frame| (frame.kind, body(frame), ends(frame))).collect()
}

const HEADERS: Shape = (kind::HEADERS, 0, false);
const RESET: Shape = (kind::RST_STREAM, 0, false);

#[test]
fn each_shows_as_it_should() {
    let cases: [(Fault, &[Shape], Option<Next>); 6] = [
        (Fault::ResetBefore, &[RESET], None),
        (Fault::ResetDuring, &[HEADERS, (kind::DATA, 7, false), RESET], None),
        (Fault::ResetAfter, &[HEADERS, (kind::DATA, 14, true)], Some(Next::Reset)),
        (Fault::CloseUnanswered, &[], Some(Next::Close { unread: false })),
        (Fault::ShortBody, &[HEADERS, (kind::DATA, 7, true)], None),
        (Fault::WrongLength, &[HEADERS, (kind::DATA, 14 + 27, true)], None),
    ];
    for (fault, expected, end) in cases {
        let (frames, side) = struck(fault);
        assert_eq!((&shape(&frames)[..], side.end), (expected, end), "{fault:?}");
    }
    let (_, side) = struck(Fault::Garbage);
    assert_eq!(side.end, Some(Next::Close { unread: false }));
    assert!(side.written_bytes() > 50);
    let (frames, _) = struck(Fault::Trickle);
    let pieces = frames.iter().filter(|frame| frame.kind == kind::DATA).count();
    assert_eq!(pieces, 14, "single bytes");
}
