//! Native options that are one word of several.

use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::plan::{Arrivals, Close, IoChoice, Spin};

use crate::values;

/// How arrivals are spaced.
pub(super) fn arrivals(text: &str) -> Result<Arrivals, String> {
    match text {
        "constant" => Ok(Arrivals::Constant),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err("expected constant or poisson".to_owned()),
    }
}

pub(super) fn tls_version(text: &str) -> Result<TlsVersion, String> {
    match text {
        "1.2" => Ok(TlsVersion::V1_2),
        "1.3" => Ok(TlsVersion::V1_3),
        "1.0" | "1.1" => {
            Err(format!("TLS {text} is deprecated (RFC 8996) and not supported, use 1.2 or 1.3"))
        }
        _ => Err("expected 1.2 or 1.3".to_owned()),
    }
}

pub(super) fn close(text: &str) -> Result<Close, String> {
    match text {
        "await" => Ok(Close::Await),
        "fin" => Ok(Close::Fin),
        "reset" => Ok(Close::Reset),
        _ => Err("expected await, fin or reset".to_owned()),
    }
}

pub(super) fn io_choice(text: &str) -> Result<IoChoice, String> {
    match text {
        "auto" => Ok(IoChoice::Auto),
        "uring" | "io_uring" => Ok(IoChoice::Uring),
        "epoll" => Ok(IoChoice::Epoll),
        _ => Err("expected auto, uring or epoll".to_owned()),
    }
}

pub(super) fn spin(text: &str) -> Result<Spin, String> {
    match text {
        "auto" => Ok(Spin::Auto),
        "off" => Ok(Spin::Off),
        _ => match values::duration_ns(text) {
            Ok(0) => Ok(Spin::Off),
            Ok(ns) => Ok(Spin::For(ns)),
            Err(_) => Err("expected auto, off or a time such as 50us".to_owned()),
        },
    }
}
