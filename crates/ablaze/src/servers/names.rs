//! The words that options take for one thing out of a few, and the words an error lists.

use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::spec::HttpVersion;
use ablaze_model::spec::server::values::{
    AcceptBatch, AcceptMode, Arm, Fault, PerAccept, ResponseKind, Scheduler, WriteMode,
};
use ablaze_target::Model;

use crate::suggest::nearest;
use crate::values;

/// `--model`.
pub fn model(text: &str) -> Result<Model, String> {
    let known: Vec<_> = Model::ALL.iter().map(|model| (model.name(), *model)).collect();
    one_of(text, &known)
}

/// `--accept`.
pub fn accept(text: &str) -> Result<AcceptMode, String> {
    word_of(text, AcceptMode::ALL, AcceptMode::name)
}

/// `--scheduler`.
pub fn scheduler(text: &str) -> Result<Scheduler, String> {
    word_of(text, Scheduler::ALL, Scheduler::name)
}

/// `--arm`.
pub fn arm(text: &str) -> Result<Arm, String> {
    word_of(text, Arm::ALL, Arm::name)
}

/// `--http`.
pub fn http(text: &str) -> Result<HttpVersion, String> {
    match values::http_version(text) {
        _ if matches!(text, "3" | "3.0") => Ok(HttpVersion::Http3),
        Ok(version @ (HttpVersion::Http11 | HttpVersion::Http2)) => Ok(version),
        _ => Err("expected 1.1, 2 or 3".to_owned()),
    }
}

/// `--tls-min` and `--tls-max`.
pub fn tls_version(text: &str) -> Result<TlsVersion, String> {
    one_of(text, &[("1.2", TlsVersion::V1_2), ("1.3", TlsVersion::V1_3)])
}

/// `--response`.
pub fn response(text: &str) -> Result<ResponseKind, String> {
    word_of(text, ResponseKind::ALL, ResponseKind::name)
}

/// `--write`.
pub fn write(text: &str) -> Result<WriteMode, String> {
    word_of(text, WriteMode::ALL, WriteMode::name)
}

/// `--accept-batch`.
pub fn accept_batch(text: &str) -> Result<AcceptBatch, String> {
    word_of(text, AcceptBatch::ALL, AcceptBatch::name)
}

/// `--per-accept`.
pub fn per_accept(text: &str) -> Result<PerAccept, String> {
    word_of(text, PerAccept::ALL, PerAccept::name)
}

/// The kind of `--fault`.
pub fn fault(text: &str) -> Result<Fault, String> {
    word_of(text, Fault::ALL, Fault::name)
}

/// `--nodelay`.
pub fn on_or_off(text: &str) -> Result<bool, String> {
    one_of(text, &[("on", true), ("off", false)])
}

fn word_of<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let known: Vec<_> = all.iter().map(|value| (name(*value), *value)).collect();
    one_of(text, &known)
}

/// The value of this name.
///
/// # Errors
/// The second half of a sentence: the name that was probably meant, or all there are.
fn one_of<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    Err(match nearest(text, &names) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("expected one of {}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_a_slip_corrected_and_a_stranger_shown_the_list() {
        assert_eq!(accept("exclusive"), Ok(AcceptMode::Exclusive));
        assert_eq!(accept("reusport"), Err("did you mean reuseport?".into()));
        assert_eq!(on_or_off("maybe"), Err("expected one of on, off".into()));
        for model_of in Model::ALL {
            assert_eq!(model(model_of.name()), Ok(*model_of));
        }
    }
}
