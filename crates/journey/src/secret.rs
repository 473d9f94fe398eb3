//! A text that nobody is to see, in every way in which a journey may write it into a request. A server that repeats the
//! request in its response repeats these.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::template::escape_json;
use crate::{html, percent};

type Encode = fn(&[u8], &mut Vec<u8>);

/// The text as it is, percent-encoded as forms, paths and filters do it, and as JSON, base64 and HTML have it. Each once,
/// and none of them empty.
pub fn written_forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), html::escape(secret), STANDARD.encode(secret)];
    forms.push(URL_SAFE_NO_PAD.encode(secret));
    let in_a_path: Encode = |bytes, out| percent::encode_but(bytes, |byte| byte == b'/', out);
    for write in [percent::encode, percent::encode_unsendable, in_a_path] {
        let mut form = Vec::new();
        write(secret.as_bytes(), &mut form);
        forms.push(String::from_utf8_lossy(&form).into_owned());
        // What a form's spaces are to many servers.
        forms.push(String::from_utf8_lossy(&form).replace("%20", "+"));
    }
    let mut json = Vec::new();
    escape_json(secret, &mut json);
    forms.push(String::from_utf8_lossy(&json).into_owned());
    forms.retain(|form| !form.is_empty());
    // Of two that begin alike the longer is hidden first.
    forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_in_every_form_that_is_written() {
        let forms = written_forms("s3 c/r&\"é");
        for form in [
            "s3 c/r&\"é",
            // RFC 3986, 2.1, with and without what a path may have.
            "s3%20c%2Fr%26%22%C3%A9",
            "s3%20c/r%26%22%C3%A9",
            "s3%20c/r&%22%C3%A9",
            "s3+c%2Fr%26%22%C3%A9",
            // RFC 8259, 7.
            "s3 c/r&\\\"é",
            // RFC 4648, 4, as `base64` writes it.
            "czMgYy9yJiLDqQ==",
            "s3 c/r&amp;&quot;é",
        ] {
            assert!(forms.iter().any(|own| own == form), "{form}: {forms:?}");
        }
        assert!(forms.is_sorted_by_key(|form| std::cmp::Reverse(form.len())));
        assert_eq!(written_forms("plain"), ["cGxhaW4=", "cGxhaW4", "plain"]);
        assert!(written_forms("").is_empty());
    }
}
