//! Servers that say anything at all: whatever comes, a request ends at most once, and nothing of it is counted behind its end.

use ablaze_quic::quinn_proto::StreamId;

use super::server::{Script, Served, Setup, control, data, frame, head, ok};
use super::world::World;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(256) as u8).collect()
    }

    /// Something that a server might say, or nearly so.
    fn saying(&mut self) -> Vec<u8> {
        let payload = self.bytes(40);
        let mut said = match self.below(9) {
            0 => ok(&payload),
            1 => head(&[(":status", "200")]),
            2 => head(&[(":status", "103"), ("x", "y")]),
            3 => data(&payload),
            4 => frame(self.below(16), &payload),
            5 => frame(0x21 + 0x1f * self.below(1_000), &payload),
            6 => control(),
            7 => payload,
            _ => frame(7, &[self.below(64) as u8]),
        };
        if self.below(4) == 0 && !said.is_empty() {
            let at = self.below(said.len() as u64) as usize;
            said[at] ^= 1 << self.below(8);
        }
        if self.below(8) == 0 {
            said.truncate(self.below(said.len() as u64 + 1) as usize);
        }
        said
    }
}

struct Noise(Random);

impl Script for Noise {
    fn connected(&mut self, served: &mut Served) {
        if self.0.below(8) > 0 {
            served.open(&control());
        }
        for _ in 0..self.0.below(3) {
            let said = [vec![self.0.below(64) as u8], self.0.saying()].concat();
            let id = served.open(&said);
            if self.0.below(8) == 0 {
                served.send(id, b"", true);
            }
        }
    }

    fn began(&mut self, served: &mut Served, id: StreamId) {
        if self.0.below(10) == 0 {
            served.stop(id, 0x100 + self.0.below(20));
        }
    }

    fn request(&mut self, served: &mut Served, id: StreamId, _: &[u8]) {
        if self.0.below(4) > 0 {
            return served.send(id, &ok(b"fine"), true);
        }
        for _ in 0..1 + self.0.below(3) {
            let said = self.0.saying();
            served.send(id, &said, false);
        }
        match self.0.below(5) {
            0 => served.reset(id, 0x100 + self.0.below(20)),
            1 => {}
            _ => served.send(id, b"", true),
        }
    }
}

#[test]
fn whatever_a_server_says_every_request_ends_at_most_once() {
    let (mut whole, mut over) = (0, 0);
    for seed in 0..400 {
        let mut world = World::new(Setup::default(), Noise(Random(seed)));
        world.connect();
        world.get(&["/"; 8]);
        // The log refuses what comes behind an end.
        world.run_for(300_000_000, |world| world.client.ended().is_some());
        let open: Vec<u32> = world.client.open_streams().map(|(tag, _)| tag).collect();
        assert_eq!(open.len() as u32, world.client.streams_live());
        for tag in 0..8 {
            assert_ne!(world.log.end_of(tag).is_some(), open.contains(&tag), "{seed} {tag}");
        }
        whole += world.log.ended();
        over += usize::from(world.client.ended().is_some());
        let now_ns = world.now_ns;
        world.client.close(now_ns);
    }
    // Both happen often enough to mean something.
    assert!(whole > 400 && (50..350).contains(&over), "{whole} {over}");
}
