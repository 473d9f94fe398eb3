//! What browsers ask for: a short queue between the threads that serve them and whoever has the run.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::carry_out::interrupt;

/// So many wait at most.
const WAITING_MAX: usize = 32;
/// Whoever has the run looks ten times a second.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// To end, with the report.
    Stop,
    /// To pause the rate, or to go on.
    Pause,
    /// A tenth more.
    Faster,
    /// A tenth less.
    Slower,
    /// So many requests in a thousand seconds.
    Rate(u64),
}

/// The queue, if somebody takes from it.
#[derive(Debug)]
pub enum Orders {
    /// Whoever has the run takes them.
    Taken(Mutex<Vec<(Order, SyncSender<String>)>>),
    /// An experiment can only be ended, as by Ctrl-C.
    Interrupting,
}

impl Default for Orders {
    fn default() -> Self {
        Self::Taken(Mutex::default())
    }
}

impl Order {
    /// By the name that the page has for it.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "stop" => Self::Stop,
            "pause" => Self::Pause,
            "faster" => Self::Faster,
            "slower" => Self::Slower,
            _ => return None,
        })
    }
}

impl Order {
    /// To another rate, in requests a second as a person types it, to a thousandth.
    pub fn of_rate(text: &str) -> Option<Self> {
        let rate: f64 = text.parse().ok()?;
        (rate.is_finite() && (0.001..=1e9).contains(&rate))
            .then(|| Self::Rate((rate * 1e3).round() as u64))
    }
}

impl Orders {
    /// Asks, and waits for what came of it; `None` when nobody takes orders now.
    pub fn ask(&self, order: Order) -> Option<String> {
        if matches!(self, Self::Interrupting) && order == Order::Stop {
            interrupt();
            return Some("ending".to_owned());
        }
        let reply = self.leave(order)?;
        reply.recv_timeout(TIMEOUT).ok()
    }

    fn leave(&self, order: Order) -> Option<Receiver<String>> {
        let Self::Taken(waiting) = self else { return None };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= WAITING_MAX {
            return None;
        }
        let (reply, came) = sync_channel(1);
        waiting.push((order, reply));
        Some(came)
    }

    /// Does what was asked for in order; `act` says what came of each.
    pub fn take(&self, mut act: impl FnMut(Order) -> String) {
        let Self::Taken(waiting) = self else { return };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = std::mem::take(&mut *waiting);
        drop(waiting);
        for (order, reply) in taken {
            // Whoever asked may have gone.
            let _ = reply.try_send(act(order));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_done_in_order_and_a_full_queue_refuses() {
        let orders = Orders::default();
        let replies: Vec<_> = (0..WAITING_MAX).map(|_| orders.leave(Order::Faster)).collect();
        assert!(orders.leave(Order::Stop).is_none());
        let mut done = 0;
        orders.take(|_| {
            done += 1;
            done.to_string()
        });
        let said = replies.into_iter().map(|reply| reply.unwrap().recv().unwrap());
        assert_eq!(said.last().as_deref(), Some("32"));
        assert!(orders.leave(Order::Stop).is_some());
    }
}
