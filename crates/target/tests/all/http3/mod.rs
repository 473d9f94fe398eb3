//! HTTP/3 on the built-in servers, over real sockets. `client`: one over quinn-proto that sends whatever bytes it is told on
//! its streams; `responses`: what is asked for comes, on every model that speaks it; `conditions`: delays, faults, limits,
//! lost datagrams and ends; `violations`: what a client must not do; `programs`: a client of others.

#![allow(clippy::unwrap_used)]

mod client;
mod conditions;
mod programs;
mod responses;
mod violations;

use ablaze_target::options::Http3Options;
use ablaze_target::{Model, Options};

/// The models that speak HTTP/3.
fn models() -> impl Iterator<Item = Model> {
    let names = ["epoll-lt", "epoll-et", "uring", "async"];
    names.into_iter().map(|name| Model::from_name(name).unwrap())
}

/// A server of HTTP/3 on a free port.
fn options() -> Options {
    Options {
        http2: true,
        http3: Some(Http3Options::default()),
        ..ablaze_tamper::tls_client::options()
    }
}

#[test]
fn other_models_refuse_with_the_reason() {
    for model in Model::ALL {
        let checked = Options { model: *model, http2: false, ..options() }.validate();
        assert_eq!(checked.is_ok(), models().any(|one| one == *model), "{model}: {checked:?}");
    }
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let without_tls = Options { tls: None, ..options() };
    let mut old_tls = options();
    old_tls.tls.as_mut().unwrap().max = ablaze_target::tls::TlsVersion::Tls12;
    let loss = Some(Http3Options { loss: 1.5, ..Http3Options::default() });
    let too_much_loss = Options { http3: loss, ..options() };
    let handed = ablaze_target::accepting::AcceptMode::Single;
    let handed = Options { accept: handed, threads: 2, ..options() };
    for refused in [without_tls, old_tls, too_much_loss, handed] {
        assert!(refused.validate().is_err(), "{refused:?}");
    }
}
