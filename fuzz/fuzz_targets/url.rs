//! URLs: no reading panics, and the native one reads what it wrote as the same and fits a
//! request line.
#![no_main]

use ablaze_wire::url::{Url, is_url_like};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = is_url_like(text);
    let _ = Url::parse_like_gurl(text);
    if let Ok(url) = Url::parse_like_ab(text) {
        assert!(url.path_and_query.starts_with('/') && !url.host.is_empty() && url.port != 0);
    }
    let Ok(url) = Url::parse(text) else { return };
    assert!(!url.host.is_empty() && url.port != 0);
    let target = url.path_and_query.as_bytes();
    assert!(target[0] == b'/' && target.iter().all(|b| (0x21..0x7f).contains(b)));
    assert_eq!(Url::parse(&url.to_string()), Ok(Url { userinfo: None, ..url }));
});
