//! The list of diagnoses: a line for each. The rules that look for them, a file each, are those of
//! `ablaze-verdict`, which declares its files by this list.

use std::fmt;

use serde::{Serialize, Serializer};

/// Calls the macro `$declare` with every diagnosis: its number, the name of its file in
/// `crates/verdict/src/diagnosis`, and its name as reports write it.
#[doc(hidden)]
#[macro_export]
macro_rules! diagnoses {
    ($declare:ident) => {
        $declare! {
            D01 d01_concurrency_not_reached "concurrency not reached";
            D02 d02_no_response "no response";
            D03 d03_echoed_request "echoed request";
            D04 d04_error_pages "error pages";
            D05 d05_unequal_comparison "unequal comparison";
            D06 d06_too_coarse "too coarse";
            D07 d07_global_stall "global stall";
            D08 d08_connection_attempts_lost "connection attempts lost";
            D09 d09_retransmission "retransmission";
            D10 d10_delayed_acknowledgement "delayed acknowledgement";
            D11 d11_client_at_its_limit "client at its limit";
            D12 d12_server_at_its_limit "server at its limit";
            D13 d13_shared_processors "shared processors";
            D14 d14_too_short "too short";
            D15 d15_noise "noise";
            D16 d16_impossible_speed_up "impossible speed-up";
            D17 d17_cliff "cliff";
            D18 d18_connections_cut "connections cut";
            D19 d19_keep_alive_refused "keep-alive refused";
            D20 d20_out_of_local_ports "out of local ports";
            D21 d21_out_of_descriptors "out of descriptors";
            D22 d22_kernel_queue_overflow "kernel queue overflow";
            D23 d23_machine_paused "machine paused";
            D24 d24_unoptimised_target "unoptimised target";
            D25 d25_path_not_exercised "path not exercised";
            D26 d26_work_beside_the_load "work beside the load";
            D27 d27_uneven_threads "uneven threads";
            D28 d28_thundering_herd "thundering herd";
            D29 d29_stuck_connection "stuck connection";
            D30 d30_late_sending "late sending";
            D31 d31_units "units";
            D32 d32_counter_wrapped "counter wrapped";
            D33 d33_several_addresses "several addresses";
            D34 d34_edges_of_the_run "edges of the run";
            D35 d35_read_size "read size";
            D36 d36_not_from_that_command "not from that command";
            D37 d37_lengths_differ "responses differ";
            D38 d38_observed_by_a_profiler "observed by a profiler";
            D39 d39_one_at_a_time "one at a time";
            D40 d40_streams_limited "streams limited";
            D41 d41_window_stalls "window stalls";
            D42 d42_client_fault "client fault";
            D43 d43_contradictory_figures "contradictory figures";
            D44 d44_lost_workers "lost workers";
            D45 d45_start_skew "start skew";
            D46 d46_worker_machines "worker machines";
            D47 d47_unlike_workers "unlike workers";
            D48 d48_client_receive_buffer "client receive buffer";
            D49 d49_server_receive_buffer "server receive buffer";
            D50 d50_one_datagram_per_call "one datagram per call";
            D51 d51_packets_lost "packets lost";
            D52 d52_handshake_retry "handshake retry";
            D53 d53_translated_addresses "translated addresses";
            D55 d55_amplification_limit "amplification limit";
            D56 d56_kernel_udp "UDP in the kernel";
            D57 d57_slower_and_slower "slower and slower";
            D58 d58_cpu_quota "CPU quota";
            D59 d59_requests_not_taken "requests not taken";
        }
    };
}

/// Declares the numbers.
macro_rules! numbers {
    ($($id:ident $file:ident $name:literal;)*) => {
        /// The number of a diagnosis. Numbers are for ever: scripts and documents refer to them. New ones come.
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DiagnosisId {
            $(#[doc = concat!("\"", $name, "\": docs/diagnoses.md explains it.")] $id,)*
        }

        impl DiagnosisId {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$id,)*];

            /// Its name: `no response`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$id => $name,)*
                }
            }
        }
    };
}

diagnoses!(numbers);

impl DiagnosisId {
    /// Where docs/diagnoses.md explains it: `d02-no-response`.
    pub fn anchor(self) -> String {
        format!("{self} {}", self.name()).to_lowercase().replace(' ', "-")
    }
}

impl fmt::Display for DiagnosisId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Serialize for DiagnosisId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
