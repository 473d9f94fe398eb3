//! What every driver must do, run against each of them.
//!
//! A case is a function over [`TestDriver`] that talks to a small blocking server in a thread of
//! its own; the simulated driver reaches it by a [`relay`]. The lists of `cases!` say which driver is
//! held to which: a new driver implements [`TestDriver`] here and adds its lines below.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

mod blocked;
mod datagram_server;
mod datagrams;
mod direct;
mod ending;
mod opening;
mod receiving;
mod recorder;
mod relay;
mod running;
mod sending;
mod server;

use std::io;
use std::time::Duration;

use ablaze_net::driver::{Driver, Outgoing, Setup};
use ablaze_net::epoll::EpollDriver;
use ablaze_net::uring::UringDriver;
use ablaze_net::waker::Waker;

/// Longest that a case waits for its server or its server for it.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// A driver that the cases can be run with.
trait TestDriver: Driver + Sized {
    /// What a case opens a connection with that has nothing to say at first.
    const NO_BYTES: Option<Outgoing> = None;

    fn make(setup: Setup) -> io::Result<Self>;
}

/// A driver that sleeps, and can be woken.
trait Wakes: TestDriver {
    fn waker(&self) -> Waker;
}

impl TestDriver for UringDriver {
    fn make(setup: Setup) -> io::Result<Self> {
        Self::new(setup)
    }
}

impl Wakes for UringDriver {
    fn waker(&self) -> Waker {
        Self::waker(self)
    }
}

impl TestDriver for EpollDriver {
    fn make(setup: Setup) -> io::Result<Self> {
        Self::new(setup)
    }
}

impl Wakes for EpollDriver {
    fn waker(&self) -> Waker {
        Self::waker(self)
    }
}

/// Makes the tests of one driver from the cases of the lists it is held to.
macro_rules! conformance {
    ($driver_name:ident, $driver:ty: $($list:ident)+) => {
        mod $driver_name {
            $( mod $list { crate::conformance::cases! { $list, $driver } } )+
        }
    };
}

macro_rules! tests {
    ($driver:ty: $($room:ident { $($case:ident)+ })+) => {
        $(mod $room { $(
            #[test]
            fn $case() {
                crate::conformance::$room::$case::<$driver>();
            }
        )+ })+
    };
}

macro_rules! cases {
    // What can be asked of every driver, the simulated one included.
    (every_driver, $driver:ty) => {
        crate::conformance::tests! { $driver:
            opening {
                connects_and_exchanges_over_ipv4
                connects_and_exchanges_over_ipv6
                connects_and_exchanges_over_a_unix_socket
                opens_without_first_bytes
                a_refused_port_is_the_peers_error
                a_missing_unix_socket_is_the_peers_error
            }
            receiving {
                a_response_split_at_every_byte_arrives_whole
                more_bytes_than_the_buffer_arrive_in_order
                bulk_arrives_whole
                a_head_is_read_in_one_small_piece
                a_stock_is_read_to_its_end_in_small_pieces
                discard_drops_exactly_what_was_asked
                discard_leaves_the_surplus
                large_bodies_dropped_in_parts_do_not_hold_up_what_follows
                a_large_body_cut_short_is_counted_to_its_last_byte
                discard_over_a_unix_socket
                discard_to_end_counts_everything
                a_pause_holds_bytes_until_resumed
                a_pause_from_another_slots_event_is_resumed
            }
            sending {
                a_slow_reader_gets_everything_in_order
                leased_bytes_are_sent
                a_slow_reader_on_a_unix_socket_gets_everything
                sends_before_the_connection_stands_keep_their_order
                a_failed_send_does_not_hide_the_response
            }
            ending {
                data_then_fin_is_data_then_eof
                a_reset_is_a_transfer_error
                a_reset_within_a_long_send_is_a_transfer_error
                a_reset_within_a_long_send_is_heard_by_the_next_receive
                data_then_reset_is_data_first
                await_peer_drops_and_waits
                a_later_close_replaces_the_wait
                await_peer_ends_with_a_reset_too
                fin_reaches_the_peer_as_end_of_stream
                what_is_sent_before_a_fin_arrives
                reset_reaches_the_peer_as_reset
                closed_comes_once_whatever_is_asked
                a_slot_is_free_for_the_next_connection_in_closed
                events_of_an_earlier_connection_are_dropped
                gathered_events_of_an_earlier_connection_are_dropped
            }
            blocked {
                a_reset_during_a_blocked_send_reaches_a_peer_that_does_not_read
                a_fin_during_a_blocked_send_ends_the_stream_behind_what_was_accepted
                a_peers_fin_during_a_blocked_send_ends_the_connection
                a_reset_during_blocked_small_sends_reaches_a_peer_that_does_not_read
                what_waits_behind_a_blocked_send_arrives_before_the_peer_is_awaited
                a_buffer_changed_once_closed_came_was_sent_as_it_was
            }
            running {
                a_batch_is_no_larger_than_its_cap
                gathering_waits_for_more_but_not_for_ever
                verbs_outside_of_a_turn_are_delivered_inside
            }
        }
    };
    // Sockets for datagrams.
    (datagrams, $driver:ty) => {
        crate::conformance::tests! { $driver:
            datagrams {
                batches_of_every_size_are_exchanged_over_ipv4
                batches_of_every_size_are_exchanged_over_ipv6
                ecn_is_carried_both_ways_over_ipv4
                ecn_is_carried_both_ways_over_ipv6
                both_ends_count_the_same
                every_manner_of_closing_closes_at_once
                a_socket_closed_before_anything_is_told_of_it_is_closed
            }
        }
    };
    // What of them only a kernel has: a receive buffer, what the network says, cutting.
    (datagrams_of_the_kernel, $driver:ty) => {
        crate::conformance::tests! { $driver:
            datagrams {
                ecn_is_carried_to_an_ipv4_address_written_as_ipv6
                what_leaves_in_one_call_arrives_in_one
                a_local_port_is_for_one_socket
                a_refused_port_ends_the_slot_behind_what_came
                a_slot_opened_again_gets_nothing_of_its_last_socket
                what_the_full_receive_buffer_drops_is_counted
                where_the_kernel_does_not_cut_each_datagram_is_a_call
                a_datagram_too_long_for_the_path_is_lost
                the_longest_datagram_of_the_device_is_known_and_exchanged
            }
        }
    };
    // What the simulation has none of: local addresses and ports, an accept queue, a connect that
    // goes on while the network is asked for more, a clock that runs by itself, sleep, a full socket.
    (of_the_kernel, $driver:ty) => {
        crate::conformance::tests! { $driver:
            opening {
                a_full_unix_accept_queue_is_waited_for
                a_connect_without_response_is_given_up_at_once
                local_addresses_take_turns
                a_foreign_local_address_fails_here
                local_ports_take_turns_and_run_out_here
            }
            running {
                a_turn_ends_by_its_deadline
                a_waker_ends_a_wait
                spinning_sees_events_and_is_counted
                sending_in_a_turn_that_spins_is_no_watching
            }
            sending {
                what_has_not_left_is_unsent
            }
        }
    };
    // What direct descriptors have none of either: a number in the process's table.
    (of_the_process, $driver:ty) => {
        crate::conformance::tests! { $driver:
            opening {
                no_descriptor_left_fails_here
            }
        }
    };
}

use {cases, tests};

conformance!(epoll, ablaze_net::epoll::EpollDriver: every_driver of_the_kernel of_the_process
    datagrams datagrams_of_the_kernel);
conformance!(uring, ablaze_net::uring::UringDriver: every_driver of_the_kernel of_the_process
    datagrams datagrams_of_the_kernel);
conformance!(uring_direct, crate::conformance::direct::Direct: every_driver of_the_kernel
    datagrams datagrams_of_the_kernel);
conformance!(simulated, crate::conformance::relay::Simulated<true>: every_driver datagrams);
conformance!(simulated_in_batches, crate::conformance::relay::Simulated<false>: every_driver datagrams);
