//! Patterns of paths: `*` stands for any bytes, also none and also `/`; `?` for any one byte.

/// Whether a pattern is only a path.
pub fn is_exact(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// Whether the pattern matches all of `text`. Goes back to the last `*` only, so it takes at most
/// the product of both lengths (Krauss, "Matching Wildcards: An Algorithm", 2008).
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Behind the last `*`: where the pattern goes on, and up to where that star reaches.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((behind, reach)) => {
                    *reach += 1;
                    (p, t) = (*behind, *reach);
                }
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, as it is read aloud.
    fn by_definition(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], text) => text.is_empty(),
            ([b'*', rest @ ..], _) => {
                (0..=text.len()).any(|reach| by_definition(rest, &text[reach..]))
            }
            ([b'?', rest @ ..], [_, text @ ..]) => by_definition(rest, text),
            ([byte, rest @ ..], [first, text @ ..]) => byte == first && by_definition(rest, text),
            (_, []) => false,
        }
    }

    #[test]
    fn the_usual_patterns() {
        for (pattern, text, expected) in [
            ("/*", "/a/b", true),
            ("/*", "/", true),
            ("*", "", true),
            ("/a/*/c", "/a/x/y/c", true),
            ("/a/*/c", "/a/c", false),
            ("/v?/x", "/v1/x", true),
            ("/v?/x", "/v/x", false),
            ("/a", "/ab", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
        assert!(is_exact(b"/a") && !is_exact(b"/a*") && !is_exact(b"/?"));
    }

    #[test]
    fn many_stars_take_no_long_time() {
        // Exponential for a matcher that goes back to every star.
        assert!(!matches("*a".repeat(500).as_bytes(), "a".repeat(400).as_bytes()));
        assert!(!matches(("a*".repeat(50) + "b").as_bytes(), "a".repeat(10_000).as_bytes()));
    }

    proptest! {
        #[test]
        fn as_defined(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(matches(pattern, text), by_definition(pattern, text));
        }
    }
}
