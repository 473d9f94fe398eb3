//! ablaze's own options, read as its command line reads them: values attached or apart, letters
//! bundled, options before and behind the URL. Only those are kept that a report can be held
//! against.

use super::options::range;
use super::{Program, Words, is_url_like};

/// Letters that take a value; all others stand alone.
const WITH_VALUE: &str = "cndrmXHbuto";

/// Words that stand alone; all others take a value.
const ALONE: [&str; 13] = [
    "no-keepalive",
    "no-repeat",
    "ipv4",
    "ipv6",
    "insecure",
    "no-monitor",
    "server-args",
    "profile",
    "explain",
    "json",
    "strict",
    "quiet",
    "help",
];

/// What is asked for, and how many words that took.
pub(super) fn read(words: &[String]) -> Option<(Words, usize)> {
    let mut asked = Words::new(Program::Ablaze, None, 50);
    asked.keep_alive = Some(true);
    let mut index = 0;
    let mut end = 0;
    while let Some(word) = words.get(index) {
        let next = words.get(index + 1).map(String::as_str);
        index += 1;
        if let Some(long) = word.strip_prefix("--") {
            let (name, attached) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if ALONE.contains(&name) {
                asked.keep_alive = Some(asked.keep_alive == Some(true) && name != "no-keepalive");
            } else {
                index += usize::from(attached.is_none());
                take(&mut asked, name, attached.or(next)?)?;
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            index += usize::from(bundle(&mut asked, letters, next)?);
        } else if asked.url.is_none() && is_url_like(word) {
            asked.url = Some(word.clone());
        } else {
            // Words that are no option: those of the sentence in which the command stands.
            break;
        }
        end = index;
    }
    asked.url.is_some().then_some((asked, end))
}

/// Letters behind one dash; whether the value of the last is the next word.
fn bundle(asked: &mut Words, letters: &str, next: Option<&str>) -> Option<bool> {
    for (at, letter) in letters.char_indices() {
        if !letter.is_ascii_alphanumeric() {
            return None;
        }
        if WITH_VALUE.contains(letter) {
            let attached = letters[at + 1..].trim_start_matches('=');
            let name = match letter {
                'c' => "connections",
                'n' => "requests",
                'd' => "duration",
                'r' => "rate",
                _ => "",
            };
            let apart = attached.is_empty();
            take(asked, name, if apart { next? } else { attached })?;
            return Some(apart);
        }
    }
    Some(false)
}

/// One option's value.
fn take(asked: &mut Words, name: &str, value: &str) -> Option<()> {
    match name {
        "connections" => asked.concurrency = range(value)?,
        "requests" => asked.requests = Some(count(value)?),
        "duration" => asked.timed = true,
        "rate" => asked.open_loop = true,
        "proxy" => asked.proxied = true,
        "connect-to" => asked.elsewhere = Some("--connect-to"),
        "unix-socket" => asked.elsewhere = Some("--unix-socket"),
        _ => {}
    }
    Some(())
}

/// `1000`, `10k`, `2M`.
pub(super) fn count(text: &str) -> Option<u64> {
    let factor: u64 = match text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return None,
    };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let value = digits.parse::<f64>().ok()? * factor as f64;
    (value.fract() == 0.0 && value < 1e18).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Words> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        read(&words).map(|(asked, _)| asked)
    }

    #[test]
    fn options_are_read_wherever_they_stand() {
        for line in [
            "-c 100 -n 1000 http://h/x",
            "-c100 -n1k http://h/x",
            "--connections=100 --requests 1000 http://h/x",
            "http://h/x -c 100 -n 1000",
            "-o run.json http://h/x -4kc100 -n 1.0k",
            "-H x.y:1 -b a/b --quiet http://h/x -c 100 --requests=1000",
        ] {
            let asked = asked(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(asked.url.as_deref(), Some("http://h/x"), "{line}");
            assert_eq!((asked.concurrency, asked.requests), ((100, 100), Some(1000)), "{line}");
            assert_eq!((asked.keep_alive, asked.open_loop), (Some(true), false), "{line}");
        }
        assert_eq!(asked("--no-keepalive h/").unwrap().keep_alive, Some(false));
        assert!(asked("h/ -r 5k/s").unwrap().open_loop);
    }

    #[test]
    fn words_behind_it_end_it() {
        let words = ["-c", "5", "h/", "is", "fast"].map(str::to_owned);
        assert_eq!(read(&words).map(|(_, used)| used), Some(3));
        for line in ["-c many h/", "-o run.json", "testing h/ is fun", "-"] {
            assert!(asked(line).is_none(), "{line}");
        }
    }
}
