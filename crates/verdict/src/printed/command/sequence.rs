//! Commands one behind the other on a line: `ab … > /dev/null; ab …`.

use super::{Command, find};

/// All commands of a line whose output is seen, or else all of them.
pub fn all(line: &str, number: usize) -> Vec<Command> {
    let parts = parts(line);
    let found = parts.iter().filter_map(|part| Some((find(part, number)?, is_silenced(part))));
    let found: Vec<(Command, bool)> = found.collect();
    // In a sentence the same signs are others.
    if found.len() < 2 {
        return find(line, number).into_iter().collect();
    }
    let all_silenced = found.iter().all(|(_, silenced)| *silenced);
    let seen = found.into_iter().filter(|(_, silenced)| all_silenced || !silenced);
    seen.map(|(command, _)| command).collect()
}

/// What stands between `;`, `&&`, `||` and `&`, where no quotes are around these.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut quote) = (0, None);
    for (at, sign) in line.char_indices() {
        let before = line[..at].chars().next_back();
        let after = line[at + sign.len_utf8()..].chars().next();
        let apart = |next: Option<char>| next.is_none_or(char::is_whitespace);
        // A URL may have both signs in it, and `2>&1` and `&>` go into one place.
        let ends = match sign {
            ';' => apart(after),
            '&' => (apart(before) || apart(after)) && after != Some('>'),
            _ => false,
        };
        match quote {
            Some(open) if open == sign => quote = None,
            None if matches!(sign, '\'' | '"') => quote = Some(sign),
            None if ends => {
                parts.push(&line[from..at]);
                from = at + sign.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&line[from..]);
    parts
}

/// What it prints goes into a file.
fn is_silenced(part: &str) -> bool {
    let to_file = |word: &str| {
        let redirects = word.strip_prefix('1').or(word.strip_prefix('&')).unwrap_or(word);
        redirects.starts_with('>')
    };
    part.split_whitespace().any(to_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_whose_output_is_seen_are_found() {
        for (line, expected) in [
            (
                "$ ab -n 9 -c 1 http://h/ >/dev/null; ab -n 90 -c 5 http://h/",
                &["ab -n 90 -c 5 http://h/"][..],
            ),
            (
                "$ wrk -c 1 -d 1s http://h/ > /dev/null && wrk -c 9 -d 9s http://h/",
                &["wrk -c 9 -d 9s http://h/"],
            ),
            (
                "ab -n 9 http://h/ &> a & ab -n 8 'http://h/?a=1&b=2; c' > b",
                &["ab -n 9 http://h/", "ab -n 8 'http://h/?a=1&b=2; c'"],
            ),
            ("ab -n 9 http://a/; ab -n 9 http://b/", &["ab -n 9 http://a/", "ab -n 9 http://b/"]),
            ("ab -n 9 http://a/?x=1&y=2 2>&1 | tee log", &["ab -n 9 'http://a/?x=1&y=2'"]),
            ("nothing; at all", &[]),
        ] {
            let texts: Vec<String> = all(line, 1).into_iter().map(|one| one.text).collect();
            let texts: Vec<&str> =
                texts.iter().map(|text| text.split(" >").next().unwrap_or(text)).collect();
            assert_eq!(texts, expected, "{line}");
        }
    }
}
