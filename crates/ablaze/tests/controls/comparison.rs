//! Servers that differ in something that never happens under the load.

use crate::support::{Server, alone, load};

/// Answers of 14 bytes never fill a send buffer, so that level- and edge-triggered waiting for
/// room in it do the same: nothing.
#[test]
fn where_no_write_ever_blocks_the_way_of_waiting_is_not_exercised() {
    let _alone = alone();
    for model in ["epoll-lt", "epoll-et"] {
        let server = Server::start(&["--model", model]);
        let report = load(&[&server.url("/"), "-c10", "-d1.2s"]);
        let evidence = report.assert_root("D25", "note");
        assert!(evidence.contains(&format!("--model {model}")), "{evidence}");
    }
}
