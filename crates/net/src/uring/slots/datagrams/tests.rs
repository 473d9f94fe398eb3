//! What loopback does not show: a kernel that takes no datagrams for now.

use super::*;
use crate::udp::testing::what_was_refused_leaves_in_order;
use crate::uring::UringDriver;

#[test]
fn what_a_full_socket_refuses_leaves_when_there_is_room() {
    what_was_refused_leaves_in_order(
        |setup| UringDriver::new(setup).unwrap(),
        |driver, datagrams| {
            let io = &mut driver.io;
            let sender = &mut io.datagrams.senders[0];
            let (bytes, beside) = sender.next_call(datagrams);
            sender.sent(bytes.len(), datagrams.segment_bytes);
            let generation = io.slots[0].generation;
            let messages = &mut io.datagrams.messages;
            let number = messages.fill((0, generation), datagrams, beside).unwrap();
            let tag = tag(MESSAGE, messages.get(number).generation, number);
            let refused = RingCompletion::made(tag, -libc::EAGAIN);
            assert!(matches!(io.recognise(&refused), Recognised::Nobody), "nothing to be told of");
        },
    );
}
