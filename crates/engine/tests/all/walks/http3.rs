//! Journeys over HTTP/3.

use ablaze_journey::Site;
use ablaze_net::sim::Path;
use ablaze_wire::url::Url;

use super::journeys::{journey, walk_among};
use crate::simulated::http3::over_http3;
use crate::simulated::http3::peer::Server;
use crate::simulated::support::*;

/// Where a step uploads something, datagrams become as long as loopback carries; else finding that out costs more than it saves.
#[test]
fn uploads_of_journeys_fill_the_datagrams_that_the_device_takes() {
    let body = format!("POST https://there/up\n`{}`\nHTTP 200\n", "b".repeat(100_000));
    for (text, grows) in [(&*body, true), ("GET https://there/\nHTTP 200\n", false)] {
        let path = Path { delay_ns: MS, device_bytes_max: Some(65_507), ..Path::default() };
        let server = Server::new(100, path, |asked| asked.respond(5));
        let plan = journey(over_http3(plan(40, 1), 2), text, |route, _| {
            route.sites = vec![Site::of(&Url::parse("https://there/").unwrap(), "test")];
        });
        walk_among(&plan, std::slice::from_ref(&server), |run, journeys| {
            assert_eq!((run.record.responses, journeys.whole), (40, 40));
            let bytes = run.record.http3.as_ref().unwrap().quic.datagram_bytes.unwrap().max;
            assert_eq!(bytes > 1_452, grows, "{bytes}");
            server.restart();
        });
    }
}
