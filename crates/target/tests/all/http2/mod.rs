//! HTTP/2 on the built-in servers. `frames`: by hand, frame by frame, right and wrong, in pieces;
//! `limits`: floods, and what else a client cannot have; `violations`: what it must not do;
//! `faults`: what clients are to cope with.
//! `with_h2`: the `h2` crate as client, on every model that speaks it. `with_ours`: our own client.
//! `programs`: curl and h2load.

#![allow(clippy::unwrap_used)]

mod by_hand;
mod faults;
mod frames;
mod limits;
mod programs;
mod violations;
pub mod with_h2;
mod with_ours;

use ablaze_target::{Model, Options};

/// The models that speak HTTP/2.
pub fn models() -> impl Iterator<Item = Model> {
    let names = ["epoll-lt", "epoll-et", "poll", "uring", "async"];
    names.into_iter().map(|name| Model::from_name(name).unwrap())
}

/// A server of HTTP/2 on a free port.
pub fn options() -> Options {
    Options {
        address: "127.0.0.1:0".parse().unwrap(),
        threads: 1,
        http2: true,
        ..Options::default()
    }
}

#[test]
fn other_models_refuse_with_the_reason() {
    for model in Model::ALL {
        let checked = Options { model: *model, ..options() }.validate();
        assert_eq!(checked.is_ok(), models().any(|one| one == *model), "{model}: {checked:?}");
        if let Err(why) = checked {
            assert!(why.to_string().contains("HTTP/2"), "{why}");
        }
    }
}
