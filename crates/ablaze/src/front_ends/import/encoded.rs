//! Percent-encoding of forms and queries, as curl and Hurl do it.

/// Names and values.
pub type Fields = Vec<(String, String)>;

/// The fields of an encoded form, if encoding them gives the same bytes again.
pub fn form_fields(data: &[u8]) -> Option<Fields> {
    let text = std::str::from_utf8(data).ok().filter(|text| !text.is_empty())?;
    let fields: Option<Fields> = text
        .split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((percent_decoded(name)?, percent_decoded(value)?))
        })
        .collect();
    let fields = fields?;
    let again = |(name, value): &(String, String)| {
        format!("{}={}", percent_encoded(name.as_bytes()), percent_encoded(value.as_bytes()))
    };
    let same = fields.iter().map(again).collect::<Vec<_>>().join("&") == text;
    (same && fields.iter().all(|(name, _)| !name.is_empty())).then_some(fields)
}

/// As curl encodes (`curl_easy_escape`): all but letters, digits and `-._~`.
pub fn percent_encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_fields_only_if_they_make_the_same_bytes_again() {
        let pairs = |list: &[(&str, &str)]| {
            Some(
                list.iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
            )
        };
        let cases: [(&[u8], Option<Fields>); 8] = [
            (b"a=1&b=%C3%BC%20x&c=", pairs(&[("a", "1"), ("b", "ü x"), ("c", "")])),
            (b"a=1+2", None),
            (b"a=%c3%bc", None),
            (b"a=b=c", None),
            (b"a", None),
            (b"=a", None),
            (b"a=%4", None),
            (b"", None),
        ];
        for (data, expected) in cases {
            assert_eq!(form_fields(data), expected, "{}", String::from_utf8_lossy(data));
        }
    }
}
