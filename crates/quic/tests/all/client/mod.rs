//! The client's connection against a scripted server, which is quinn-proto with frames that each test writes.

mod allocations;
mod control_streams;
mod endings;
mod exchanges;
mod handshakes;
mod lossy;
mod noise;
mod oracle;
mod responses;
mod server;
mod tables;
mod uploads;
mod world;
