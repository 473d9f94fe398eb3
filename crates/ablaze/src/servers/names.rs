//! The words that options take for one thing out of a few, and the words an error lists.

use ablaze_target::Model;
use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{
    AcceptBatch, Arm, Fault, PerAccept, ResponseKind, Scheduler, WriteMode,
};

use ablaze_target::tls::TlsVersion;

use super::command_line::HttpVersion;
use crate::suggest::nearest;
use crate::values;

/// The faults of `--fault`, with what each does.
pub const FAULTS: [(&str, Fault); 8] = [
    ("reset-before", Fault::ResetBefore),
    ("reset-during", Fault::ResetDuring),
    ("reset-after", Fault::ResetAfter),
    ("close-unanswered", Fault::CloseUnanswered),
    ("short-body", Fault::ShortBody),
    ("wrong-length", Fault::WrongLength),
    ("garbage", Fault::Garbage),
    ("trickle", Fault::Trickle),
];

/// `--model`.
pub fn model(text: &str) -> Result<Model, String> {
    let known: Vec<_> = Model::ALL.iter().map(|model| (model.name(), *model)).collect();
    one_of(text, &known)
}

/// `--accept`.
pub fn accept(text: &str) -> Result<AcceptMode, String> {
    one_of(text, &AcceptMode::ALL.map(|mode| (mode.name(), mode)))
}

/// `--scheduler`.
pub fn scheduler(text: &str) -> Result<Scheduler, String> {
    one_of(text, &[("per-thread", Scheduler::PerThread), ("shared", Scheduler::Shared)])
}

/// `--arm`.
pub fn arm(text: &str) -> Result<Arm, String> {
    one_of(text, &[("persistent", Arm::Persistent), ("per-wait", Arm::PerWait)])
}

/// `--http`.
pub fn http(text: &str) -> Result<HttpVersion, String> {
    match values::http_version(text) {
        Ok(ablaze_model::spec::HttpVersion::Http11) => Ok(HttpVersion::Http1),
        Ok(ablaze_model::spec::HttpVersion::Http2) => Ok(HttpVersion::Http2),
        _ => Err("expected 1.1 or 2".to_owned()),
    }
}

/// `--tls-min` and `--tls-max`.
pub fn tls_version(text: &str) -> Result<TlsVersion, String> {
    one_of(text, &TlsVersion::ALL.map(|version| (version.name(), version)))
}

/// `--response`.
pub fn response(text: &str) -> Result<ResponseKind, String> {
    let known =
        [("http", ResponseKind::Http), ("echo", ResponseKind::Echo), ("none", ResponseKind::None)];
    one_of(text, &known)
}

/// `--write`.
pub fn write(text: &str) -> Result<WriteMode, String> {
    one_of(text, &[("whole", WriteMode::Whole), ("split", WriteMode::Split)])
}

/// `--accept-batch`.
pub fn accept_batch(text: &str) -> Result<AcceptBatch, String> {
    one_of(text, &[("one", AcceptBatch::One), ("drain", AcceptBatch::Drain)])
}

/// `--per-accept`.
pub fn per_accept(text: &str) -> Result<PerAccept, String> {
    one_of(text, &[("nothing", PerAccept::Nothing), ("sylar", PerAccept::Sylar)])
}

/// `--nodelay`.
pub fn on_or_off(text: &str) -> Result<bool, String> {
    one_of(text, &[("on", true), ("off", false)])
}

/// The value of this name.
///
/// # Errors
/// The second half of a sentence: the name that was probably meant, or all there are.
pub fn one_of<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
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
