//! A handler that writes down everything, checks the seam's rules as it goes, and reacts as the
//! case tells it to.

use std::time::{Duration, Instant};

use ablaze_net::driver::{CloseReason, Datagrams, Handler, Io, Setup, Slot, Turn, Wait};
use ablaze_net::{Address, Endpoint};

use crate::conformance::TestDriver;

/// No case takes longer on any machine that is not stuck.
const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Opened,
    Received { bytes: Vec<u8>, more: bool },
    Datagrams { bytes: Vec<u8>, segment_bytes: usize, ecn: u8 },
    Discarded(u64),
    Sent,
    Closed(CloseReason),
}

/// What a case does when something happens.
pub type Reaction<I> = Box<dyn FnMut(&mut I, Slot, &Event)>;

pub struct Recorder<I: Io> {
    pub events: Vec<(Slot, Event)>,
    /// Sizes of the batches, in events.
    pub batches: Vec<u32>,
    reaction: Reaction<I>,
    is_open: Vec<bool>,
    last_at: u64,
}

impl<I: Io> Recorder<I> {
    pub fn new(reaction: impl FnMut(&mut I, Slot, &Event) + 'static) -> Self {
        Self {
            events: Vec::new(),
            batches: Vec::new(),
            reaction: Box::new(reaction),
            is_open: Vec::new(),
            last_at: 0,
        }
    }

    /// A handler that does nothing but write down.
    pub fn silent() -> Self {
        Self::new(|_, _, _| {})
    }

    /// All bytes a slot received, one after the other.
    pub fn received(&self, slot: Slot) -> Vec<u8> {
        let mut all = Vec::new();
        for (of, event) in &self.events {
            if let (true, Event::Received { bytes, .. }) = (*of == slot, event) {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// How many datagrams a slot received.
    pub fn datagrams_of(&self, slot: Slot) -> usize {
        let of_slot = self.events.iter().filter(|(of, _)| *of == slot);
        of_slot
            .map(|(_, event)| match event {
                Event::Datagrams { bytes, segment_bytes, .. } => {
                    bytes.len().div_ceil(*segment_bytes)
                }
                _ => 0,
            })
            .sum()
    }

    /// How many bytes of a slot were dropped.
    pub fn discarded(&self, slot: Slot) -> u64 {
        let of_slot = self.events.iter().filter(|(of, _)| *of == slot);
        of_slot.map(|(_, event)| if let Event::Discarded(bytes) = event { *bytes } else { 0 }).sum()
    }

    /// Why a slot's connection ended, once it did.
    pub fn closed(&self, slot: Slot) -> Option<CloseReason> {
        self.closes(slot).next()
    }

    /// All the slot's ends.
    pub fn closes(&self, slot: Slot) -> impl Iterator<Item = CloseReason> + '_ {
        self.events.iter().filter_map(move |(of, event)| match event {
            Event::Closed(reason) if *of == slot => Some(*reason),
            _ => None,
        })
    }

    pub fn count(&self, wanted: &Event) -> usize {
        self.events.iter().filter(|(_, event)| event == wanted).count()
    }

    fn note(&mut self, io: &mut I, slot: Slot, event: Event, at: u64) {
        assert!(at >= self.last_at, "event times go back");
        self.last_at = at;
        if self.is_open.len() <= slot as usize {
            self.is_open.resize(slot as usize + 1, false);
        }
        let is_open = self.is_open[slot as usize];
        self.is_open[slot as usize] = match event {
            Event::Opened => {
                assert!(!is_open, "slot {slot} opened twice");
                true
            }
            Event::Closed(_) => false,
            _ => {
                assert!(is_open, "slot {slot}: {event:?} outside of a connection");
                true
            }
        };
        self.events.push((slot, event.clone()));
        (self.reaction)(io, slot, &event);
    }
}

impl<I: Io> Handler<I> for Recorder<I> {
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.note(io, slot, Event::Opened, at);
    }

    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, more: bool) {
        assert!(!bytes.is_empty(), "an empty read was delivered");
        self.note(io, slot, Event::Received { bytes: bytes.to_vec(), more }, at);
    }

    fn datagrams(&mut self, io: &mut I, slot: Slot, datagrams: Datagrams<'_>, at: u64) {
        let Datagrams { bytes, segment_bytes, ecn } = datagrams;
        assert!(!bytes.is_empty() && segment_bytes > 0, "an empty read was delivered");
        self.note(io, slot, Event::Datagrams { bytes: bytes.to_vec(), segment_bytes, ecn }, at);
    }

    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        self.note(io, slot, Event::Discarded(bytes), at);
    }

    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        self.note(io, slot, Event::Sent, at);
    }

    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        self.note(io, slot, Event::Closed(why), at);
    }

    fn batch_end(&mut self, _: &mut I, events: u32, oldest_at: u64, at: u64) {
        assert!(oldest_at <= at);
        assert!(events > 0, "an empty batch was ended");
        self.batches.push(events);
    }
}

/// A set-up for `slots` slots, all the given endpoints, and these constant bytes.
pub fn setup(slots: u32, endpoints: Vec<Endpoint>, constant_bytes: &[u8]) -> Setup {
    Setup {
        slots,
        spares: 0,
        endpoints,
        constant_bytes: constant_bytes.into(),
        batch_cap: 64,
        short_connections: false,
        head_bytes: None,
    }
}

/// A driver with four slots and one endpoint with nothing special about it.
pub fn driver_to<D: TestDriver>(address: Address, constant_bytes: &[u8]) -> D {
    D::make(setup(4, vec![Endpoint::new(address)], constant_bytes)).expect("a driver can be made")
}

/// Wait for so long at most by the driver's clock, for one event.
pub fn wait_ns<D: TestDriver>(driver: &mut D, ns: u64) -> Wait {
    Wait { until_ns: driver.io().now() + ns, spin_ns: 0, at_least: 1, gather_ns: 0 }
}

/// Turns until the condition holds, or panics with everything that was written down. Then once more, for
/// what was queued on the way, such as the close of a direct descriptor.
pub fn run<D: TestDriver>(
    driver: &mut D,
    recorder: &mut Recorder<D::Io>,
    mut until: impl FnMut(&Recorder<D::Io>) -> bool,
) {
    let start = Instant::now();
    while !until(recorder) {
        if start.elapsed() > TIMEOUT {
            let from = recorder.events.len().saturating_sub(20);
            panic!("nothing came of it; the last events: {:?}", &recorder.events[from..]);
        }
        turn(driver, recorder, 20_000_000);
    }
    turn(driver, recorder, 0);
}

/// One turn of at most `ns`.
pub fn turn<D: TestDriver>(driver: &mut D, recorder: &mut Recorder<D::Io>, ns: u64) -> Turn {
    let wait = wait_ns(driver, ns);
    driver.turn(recorder, wait).expect("the loop itself never fails")
}

/// Turns for this long, whatever happens: to see that nothing does.
pub fn run_for<D: TestDriver>(driver: &mut D, recorder: &mut Recorder<D::Io>, time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        turn(driver, recorder, 5_000_000);
    }
}

/// Bytes that show when one is lost, doubled or out of place.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index % 251) as u8 ^ (index / 251 % 241) as u8).collect()
}
