//! Checks for a Plan: compiled, with what their samples must not show.

use std::sync::Arc;

use ablaze_journey::Check;
use ablaze_model::plan::checks::PlannedChecks;
use ablaze_model::record::{add_credential, longest_first};
use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{Head, Line, LoadSpec, Secrets};
use ablaze_wire::http1::credentials::basic;

use crate::Error;

/// What every response is checked for; `None` where nothing is.
///
/// # Errors
/// When one is no check, with its place; or when responses of this load cannot be checked.
pub fn compose(spec: &LoadSpec, secrets: &Secrets) -> Result<Option<Arc<PlannedChecks>>, Error> {
    if spec.checks.is_empty() {
        return Ok(None);
    }
    if spec.requests.journey.is_some() {
        let text = "--assert and --journey cannot be used together: write what a step's response must be below its \
                    request in the file, under [Asserts]";
        return Err(Error::usage(text));
    }
    let each = spec.checks.iter().map(|text| Check::parse(text, "--assert"));
    let each: Result<Vec<Check>, _> = each.collect();
    let each = each.map_err(|error| Error::usage(error.to_string()))?;
    Ok(Some(Arc::new(PlannedChecks { each, secrets: hidden(spec, secrets)? })))
}

/// Texts that responses may send back and that nobody is to see.
fn hidden(spec: &LoadSpec, secrets: &Secrets) -> Result<Vec<String>, Error> {
    let mut hidden = Vec::new();
    if let Head::Composed { user: Some(user), .. } = &spec.requests.head {
        let typed = secrets.text(user)?;
        hidden.push(typed.to_owned());
        hidden.extend(typed.split_once(':').map(|(_, password)| password.to_owned()));
        add_credential(&basic(typed.as_bytes()), &mut hidden);
    }
    for line in spec.requests.lines() {
        let text = match line {
            Line::Secret(of) => secrets.text(of)?.to_owned(),
            Line::Text(text) if secret_field(&text.0).is_some() => {
                String::from_utf8_lossy(&text.0).into_owned()
            }
            Line::Text(_) | Line::BodyLength(_) => continue,
        };
        if let Some((_, value)) = text.split_once(':') {
            add_credential(value.trim(), &mut hidden);
        }
    }
    if let Some(of) = spec.destination.proxy.as_ref().and_then(|proxy| proxy.credentials.as_ref()) {
        add_credential(secrets.text(of)?, &mut hidden);
    }
    // Shorter ones stand in too many other words.
    hidden.retain(|text| text.len() >= 4);
    Ok(longest_first(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(checks: &[&str]) -> LoadSpec {
        let checks = checks.iter().map(|text| (*text).to_owned()).collect();
        LoadSpec { checks, ..LoadSpec::default() }
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        let refused =
            |spec: &LoadSpec| compose(spec, &Secrets::default()).map(drop).unwrap_err().to_string();
        assert!(compose(&with(&[]), &Secrets::default()).unwrap().is_none());
        let said = refused(&with(&["status==200", "statu==200"]));
        assert!(said.starts_with("--assert:1:1: expected what to look at: status,"), "{said}");
        let spec = with(&["status==200"]);
        assert_eq!(compose(&spec, &Secrets::default()).unwrap().unwrap().each.len(), 1);
    }

    #[test]
    fn secrets_of_the_request_are_hidden_the_longest_first() {
        let mut secrets = Secrets::default();
        let mut spec = with(&["status==200"]);
        let user = Some(secrets.keep_text("user", "me:s3cret"));
        let lines = vec![
            Line::Secret(secrets.keep_text("header Authorization", "Authorization: Bearer t0ken")),
            Line::Secret(secrets.keep_text("header Cookie", "Cookie: sid=abcd; lang=en")),
        ];
        spec.requests.head = Head::Composed { lines, content_type: None, user, user_agent: None };
        let planned = compose(&spec, &secrets).unwrap().unwrap();
        let hidden = &planned.secrets;
        for text in ["me:s3cret", "s3cret", "bWU6czNjcmV0", "Bearer t0ken", "t0ken", "abcd"] {
            assert!(hidden.iter().any(|own| own == text), "{text}: {hidden:?}");
        }
        assert!(hidden.is_sorted_by_key(|text| std::cmp::Reverse(text.len())));
        assert!(!format!("{planned:?}").contains("s3cret"));
    }
}
