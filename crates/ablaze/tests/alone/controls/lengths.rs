//! Runs too short to say anything.

use crate::alone;
use crate::controls::support::{Server, load};

#[test]
fn a_run_of_a_third_of_a_second_is_too_short() {
    let _alone = alone();
    // Without a delay the client itself may be full, and that is graver.
    let server = Server::start(&["--delay", "2ms"]);
    let report = load(&[&server.url("/"), "-c40", "-d300ms"]);
    let evidence = report.assert_root("D14", "suspect");
    assert!(evidence.contains("The run took 30"), "{evidence}");
}

#[test]
fn nine_requests_per_connection_are_too_few() {
    let _alone = alone();
    let server = Server::start(&["--delay", "200ms"]);
    let report = load(&[&server.url("/"), "-c100", "-n900"]);
    let evidence = report.assert_root("D14", "suspect");
    assert!(evidence.contains("9.00 requests per connection"), "{evidence}");
}
