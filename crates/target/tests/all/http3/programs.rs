//! A client of others: curl, where it was built with HTTP/3.

use std::process::Command;

use ablaze_target::{Options, Server};
use ablaze_testing::Bounded;
use ablaze_testing::skip::{installed, skip};

use super::{models, options};

#[test]
fn curl_speaks_it() {
    if installed("curl").is_none() {
        return;
    }
    let version = Command::new("curl").arg("--version").bounded_output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).contains("HTTP3") {
        return skip("this curl was built without HTTP/3");
    }
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        let url = format!("https://{}", server.address());
        let ask = |words: &[&str]| {
            let always = ["-sS", "-k", "--http3-only", "--max-time", "20"];
            let told = ["-w", "%{http_version} %{size_download}"];
            let words = [&always, &told[..], words].concat();
            let output = Command::new("curl").args(words).bounded_output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(ask(&[&format!("{url}/hello")]), "hello, world!\n3 14", "{model}");
        let long = format!("{url}/bytes/8MiB");
        assert_eq!(ask(&["-o", "/dev/null", &long]), "3 8388608", "{model}");
        let text = "x".repeat(100_000);
        let echo = format!("{url}/echo");
        assert_eq!(ask(&["--data", &text, &echo]), format!("{text}3 100000"), "{model}");
        server.stop().unwrap();
    }
}
