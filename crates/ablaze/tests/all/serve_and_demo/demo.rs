//! `ablaze demo`: its report, and that it leaves nothing behind.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::serve_and_demo::support::Serving;

#[test]
fn the_demo_reports_and_leaves_no_server_behind() {
    let demo = Serving::start(&["demo", "--duration", "300ms", "-c", "4"]);
    let address = demo.address;
    let (report, status) = demo.rest();
    assert_eq!(status.code(), Some(0));
    for needle in ["responses", "p99", "errors 0", "What to try next"] {
        assert!(report.contains(needle), "{needle} is missing in\n{report}");
    }
    assert!(TcpStream::connect(address).is_err());
    // A journey has one line, and all of its steps went well.
    let journey = report.lines().find(|line| line.contains(" journeys/s of 4 users"));
    let journey = journey.unwrap_or_else(|| panic!("{report}"));
    assert!(
        journey.contains(" passed, 0 failed") && !journey.contains("  0 journeys/s"),
        "{journey}"
    );
    // Then two servers are compared, and their page lies where it says.
    let compared = "$ ablaze compare serve:fiber-ucontext serve:fiber-asm -c 4 -d 300ms --repeat 6";
    assert!(report.contains(compared), "{report}");
    assert!(report.contains("  fiber-ucontext / fiber-asm  "), "{report}");
    let page = report.split("  page ").nth(1).and_then(|rest| rest.split(" · ").next()).unwrap();
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"), "{page}");
    let folder = std::path::Path::new(page).parent().unwrap();
    assert!(folder.file_name().unwrap().to_string_lossy().starts_with("ablaze-demo-"), "{page}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_demos_server_is_gone_even_if_the_demo_is_killed() {
    let mut demo = Serving::start(&["demo", "--duration", "60s"]);
    assert!(TcpStream::connect(demo.address).is_ok());
    demo.child.kill().unwrap();
    demo.child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(demo.address).is_ok() {
        assert!(Instant::now() < until, "the server is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_ends_the_demo_with_its_report() {
    let demo = Serving::start(&["demo", "--duration", "60s", "-c", "2"]);
    let address = demo.address;
    // Its own words: 130, and the report all the same. Not before the load has begun.
    std::thread::sleep(Duration::from_millis(700));
    demo.signal("-INT");
    let (report, status) = demo.rest();
    assert_eq!(status.code(), Some(130));
    assert!(report.contains("responses"), "{report}");
    assert!(TcpStream::connect(address).is_err());
}
