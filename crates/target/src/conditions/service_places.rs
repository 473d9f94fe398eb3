//! A server of limited capacity: this many requests are in service at a time, over all workers, and
//! the others queue. For requests that only take time this is arithmetic: nobody waits for a
//! place, its end is computed when the request comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Places for requests that take time, first come, first served.
#[derive(Debug)]
pub struct ServicePlaces {
    places: usize,
    /// When the places that were ever taken are free again, earliest first.
    free_at_ns: Mutex<BinaryHeap<Reverse<u64>>>,
}

impl ServicePlaces {
    /// `places` places, all free.
    pub fn new(places: u32) -> Self {
        Self { places: places as usize, free_at_ns: Mutex::default() }
    }

    /// Takes the place that is free first, for `service_ns` from `arrived_ns` or from when it is
    /// free, and returns when the service ends. A request that takes no time waits for its turn
    /// and takes up no place.
    pub fn serve(&self, arrived_ns: u64, service_ns: u64) -> u64 {
        let mut heap = self.free_at_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let free_at_ns = match heap.peek() {
            Some(Reverse(earliest_ns)) if heap.len() >= self.places => *earliest_ns,
            _ => 0,
        };
        let ends_ns = arrived_ns.max(free_at_ns).saturating_add(service_ns);
        if service_ns > 0 {
            if heap.len() >= self.places {
                heap.pop();
            }
            heap.push(Reverse(ends_ns));
        }
        ends_ns
    }
}

/// Places for requests that keep a CPU busy: who finds none waits, with its whole worker.
#[derive(Debug)]
pub struct WorkPlaces {
    free: Mutex<u32>,
    freed: Condvar,
}

impl WorkPlaces {
    /// `places` places, all free.
    pub fn new(places: u32) -> Self {
        Self { free: Mutex::new(places), freed: Condvar::new() }
    }

    /// Does `work` on a place, as soon as there is one.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        drop(free);
        let done = work();
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    use proptest::prelude::*;

    #[test]
    fn as_many_as_there_are_places_are_served_at_a_time() {
        for places in [1, 2, 3, 8] {
            let service = ServicePlaces::new(places);
            // All come at once: every delay, as many end as there are places.
            for number in 0..100u64 {
                let round = number / u64::from(places) + 1;
                assert_eq!(service.serve(1000, 50), 1000 + round * 50);
            }
        }
    }

    #[test]
    fn the_capacity_is_places_by_delay() {
        // 4 places, 10 ms: 400 a second, asked for 1000 a second for 10 s.
        let service = ServicePlaces::new(4);
        let ends: Vec<_> =
            (0..10_000u64).map(|n| service.serve(n * 1_000_000, 10_000_000)).collect();
        let in_time = ends.iter().filter(|end| **end <= 10_000_000_000).count();
        assert!((3_990..=4_000).contains(&in_time), "{in_time}");
    }

    #[test]
    fn who_takes_no_time_waits_in_the_queue_but_holds_up_no_one() {
        let service = ServicePlaces::new(1);
        assert_eq!(service.serve(5, 0), 5);
        assert_eq!(service.serve(10, 100), 110);
        assert_eq!(service.serve(20, 0), 110);
        assert_eq!(service.serve(30, 100), 210);
        assert_eq!(service.serve(500, 0), 500);
    }

    proptest! {
        /// Against a simulation that knows nothing of heaps: each place's timetable.
        #[test]
        fn ends_are_those_of_a_queue_in_order(
            places in 1..5u32,
            requests in prop::collection::vec((0..50u64, 1..100u64), 0..200),
        ) {
            let service = ServicePlaces::new(places);
            let mut timetable = vec![0u64; places as usize];
            let mut now = 0;
            for (gap, length) in requests {
                now += gap;
                let first_free = timetable.iter_mut().min().unwrap();
                *first_free = now.max(*first_free) + length;
                prop_assert_eq!(service.serve(now, length), *first_free);
            }
        }
    }

    #[test]
    fn no_more_work_at_a_time_than_there_are_places() {
        let places = WorkPlaces::new(2);
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|threads| {
            for _ in 0..6 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        places.with(|| {
                            let now_inside = inside.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(now_inside, Ordering::SeqCst);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(*places.free.lock().unwrap(), 2);
    }
}
