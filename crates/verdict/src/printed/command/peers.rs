//! Reads the command lines of wrk, wrk2, h2load, hey, oha, bombardier, vegeta and siege by their grammars
//! ([`super::grammars`]).

use super::grammars::Meaning::{self, *};
use super::grammars::{BOMBARDIER, Grammar, H2LOAD, HEY, OHA, SIEGE, VEGETA, WRK};
use super::native::count;
use super::options::range;
use super::{Parse, Program, Words, is_url_like};

/// The parser for a program of this name.
pub(super) fn of(name: &str) -> Option<Parse> {
    Some(match name {
        "wrk" | "wrk2" => wrk,
        "h2load" => |words| read(&H2LOAD, words),
        "hey" => |words| read(&HEY, words),
        "oha" => |words| read(&OHA, words),
        "bombardier" => |words| read(&BOMBARDIER, words),
        "siege" => |words| read(&SIEGE, words),
        _ => return None,
    })
}

/// The options of wrk, also behind `ablaze wrk`.
fn wrk(words: &[String]) -> Option<(Words, usize)> {
    read(&WRK, words)
}

/// `vegeta attack -rate=50/1s …`, to which the URLs come from elsewhere.
pub(super) fn vegeta(words: &[String]) -> Option<(Words, usize)> {
    if words.first().map(String::as_str) != Some("attack") {
        return None;
    }
    let (mut asked, used) = options(&VEGETA, &words[1..])?;
    asked.open_loop = true;
    // Without one it is 50/s; `-rate=0` sends as fast as its workers can.
    asked.rate_per_s = asked.rate_per_s.or(Some(50.0)).filter(|rate| *rate > 0.0);
    (asked.options > 0).then_some((asked, used + 1))
}

fn read(grammar: &Grammar, words: &[String]) -> Option<(Words, usize)> {
    let (mut asked, used) = options(grammar, words)?;
    if asked.is_listed {
        asked.list = asked.url.take();
    }
    if asked.url.is_none() && asked.list.is_none() {
        return None;
    }
    let connections = asked.concurrency;
    // siege waits between requests unless it is told not to, and follows redirects.
    asked.open_loop |= asked.program == Program::Siege && !asked.without_pauses;
    // 0 is no limit.
    let limit = |rate: Option<f64>| rate.filter(|per_s| *per_s > 0.0);
    asked.rate_per_s = match limit(asked.rate_each.take()) {
        Some(each) => Some(each * connections.0 as f64),
        None => limit(asked.rate_per_s).or(of_bursts(asked.burst)),
    };
    if asked.timed {
        asked.requests = None;
    }
    Some((asked, used))
}

/// oha's bursts, of one request each unless it is told otherwise.
fn of_bursts((delay_s, requests): (Option<f64>, Option<f64>)) -> Option<f64> {
    Some(requests.unwrap_or(1.0) / delay_s?)
}

/// The options and the URL among them.
fn options(grammar: &Grammar, words: &[String]) -> Option<(Words, usize)> {
    let mut asked = Words::new(grammar.program, grammar.requests, grammar.connections);
    asked.threads = grammar.threads;
    let (mut index, mut end) = (0, 0);
    while let Some(word) = words.get(index) {
        let next = words.get(index + 1).map(String::as_str);
        index += 1;
        if word == "--" {
            // No options are behind it: the URL, or the arguments of wrk's script.
            if asked.url.is_none() {
                continue;
            }
            break;
        }
        let long =
            word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|_| grammar.go));
        if let Some(long) = long.filter(|long| !long.is_empty()) {
            index += usize::from(of_word(grammar, &mut asked, long, next)?);
            asked.options += 1;
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            index += usize::from(of_letters(grammar, &mut asked, letters, next)?);
            asked.options += 1;
        } else if asked.url.is_none() && (asked.is_listed || is_url_like(word)) {
            asked.url = Some(of_siege(&mut asked, word).to_owned());
        } else if grammar.program == Program::H2load && word.contains("://") && is_url_like(word) {
            // It asks for each in turn, all of them of the first one's host.
            asked.has_more_urls = true;
        } else {
            // Words of the sentence in which the command stands.
            break;
        }
        end = index;
    }
    Some((asked, end))
}

/// siege has the method and the body in the word of the URL: `http://h/ POST a=b`, `http://h/ POST < body.json`.
fn of_siege<'a>(asked: &mut Words, word: &'a str) -> &'a str {
    match word.split_once(' ').filter(|_| asked.program == Program::Siege) {
        Some((url, request)) => {
            asked.request(request.trim());
            url
        }
        None => word,
    }
}

/// An option written as a word; whether the next word is its value.
fn of_word(grammar: &Grammar, asked: &mut Words, long: &str, next: Option<&str>) -> Option<bool> {
    let (name, attached) =
        long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
    let named = |known: &&(&str, &str, Meaning)| {
        known.1 == name && !name.is_empty() || (grammar.go && known.0 == name)
    };
    if let Some((_, _, meaning)) = grammar.alone.iter().find(named) {
        // `-keepalive=false`.
        take(asked, *meaning, "")?;
        return Some(false);
    }
    let known = grammar.with_value.iter().find(named).map(|(_, _, meaning)| *meaning);
    asked.is_guessed |= known.is_none();
    let meaning = known.or(grammar.many.then_some(Other))?;
    take(asked, meaning, attached.or(next)?)?;
    Some(attached.is_none())
}

/// Letters behind one dash; whether the value of the last is the next word.
fn of_letters(
    grammar: &Grammar,
    asked: &mut Words,
    letters: &str,
    next: Option<&str>,
) -> Option<bool> {
    for (at, letter) in letters.char_indices() {
        let is_it = |known: &&(&str, &str, Meaning)| known.0.chars().eq([letter]);
        if let Some((_, _, meaning)) = grammar.with_value.iter().find(is_it) {
            let attached = letters[at + letter.len_utf8()..].trim_start_matches('=');
            let apart = attached.is_empty();
            take(asked, *meaning, if apart { next? } else { attached })?;
            return Some(apart);
        }
        let (_, _, meaning) = grammar.alone.iter().find(is_it)?;
        take(asked, *meaning, "")?;
    }
    Some(false)
}

/// One option's value; `None` where it cannot be one.
fn take(asked: &mut Words, meaning: Meaning, value: &str) -> Option<()> {
    match meaning {
        Requests => asked.requests = Some(count(value)?),
        Connections => asked.concurrency = range(value)?,
        Threads => asked.threads = Some(count(value)?),
        Streams => asked.streams = count(value)?,
        Duration => {
            asked.timed = true;
            // siege takes a number without a letter for minutes.
            let is_of_siege = asked.program == Program::Siege;
            let is_bare = value.bytes().all(|byte| byte.is_ascii_digit());
            let minutes = if is_of_siege && is_bare { 60.0 } else { 1.0 };
            asked.duration_s = Some(seconds(value)? * minutes);
        }
        Rate => asked.rate_per_s = Some(per_second(value)?),
        RateEach => asked.rate_each = Some(per_second(value)?),
        ConnectionRate => asked.ramps = true,
        Proxy => asked.proxied = true,
        Host => asked.request(&format!("Host: {value}")),
        Elsewhere(how) => asked.elsewhere = Some(how),
        Base if value.starts_with("unix:") => asked.elsewhere = Some("--unix-socket"),
        Base => asked.base = Some(value.to_owned()),
        List => {
            asked.request(value);
            asked.list = Some(value.to_owned());
        }
        Listed => asked.is_listed = true,
        Pattern => asked.is_pattern = true,
        BurstDelay => asked.burst.0 = Some(seconds(value)?),
        BurstSize => asked.burst.1 = Some(count(value)? as f64),
        WithoutPauses => asked.without_pauses = true,
        NoKeepAlive => asked.keep_alive = Some(false),
        Request => asked.request(value),
        Http2 => asked.http2 = true,
        Other => {}
    }
    Some(())
}

/// `10`, `30s`, `1m30s`, `500ms`; siege's `10S`, `1M`, `1H`.
fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let value: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "" | "s" | "S" | "sec" | "secs" => 1.0,
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "m" | "M" | "min" => 60.0,
            "h" | "H" => 3600.0,
            _ => return None,
        };
        sum += value * unit;
        rest = &rest[letters..];
    }
    (sum > 0.0).then_some(sum)
}

/// `2000`, `2k`, vegeta's `50/1s` and `100/m`.
fn per_second(text: &str) -> Option<f64> {
    let (requests, each) = text.split_once('/').unwrap_or((text, "1s"));
    let each = if each.starts_with(|c: char| c.is_ascii_digit()) {
        seconds(each)?
    } else {
        seconds(&format!("1{each}"))?
    };
    let requests = match requests {
        "infinity" => 0.0,
        requests => count(requests)? as f64,
    };
    Some(requests / each)
}

#[cfg(test)]
mod tests {
    use super::super::{Command, Program, find};

    fn command(line: &str) -> Command {
        find(line, 1).unwrap_or_else(|| panic!("no command in {line:?}"))
    }

    /// Connections (with their streams), requests, length in s, requests per second.
    fn asked(line: &str) -> (u64, Option<u64>, Option<f64>, Option<f64>) {
        let found = command(line);
        assert_eq!(found.concurrency.0, found.concurrency.1, "{line}");
        (found.concurrency.0 * found.streams, found.requests, found.duration_s, found.rate_per_s)
    }

    #[test]
    fn each_tool_s_words_are_read_as_it_reads_them() {
        for (line, expected) in [
            ("wrk -t2 -c100 -d30s http://h:8080/x", (100, None, Some(30.0), None)),
            ("$ wrk http://h/ --latency -d 1m", (10, None, Some(60.0), None)),
            ("wrk2 -t2 -c100 -d30s -R2k -L http://h/", (100, None, Some(30.0), Some(2000.0))),
            ("h2load -n1000 -c 10 -m 10 http://h/", (100, Some(1000), None, None)),
            (
                "h2load -D 5 --rps=20 -c4 --h1 --alpn-list h2 http://h/",
                (4, None, Some(5.0), Some(80.0)),
            ),
            ("hey http://h/", (50, Some(200), None, None)),
            ("$ time hey http://h/ | tee out", (50, Some(200), None, None)),
            ("hey -n 2000 -c 20 -disable-keepalive http://h/", (20, Some(2000), None, None)),
            ("hey -z 5s -q 10 http://h/", (50, None, Some(5.0), Some(500.0))),
            ("oha -n 1000 http://h/ --no-tui", (50, Some(1000), None, None)),
            (
                "oha -z 1m30s -c 10 -p 4 --http2 -q 100 https://h/",
                (40, None, Some(90.0), Some(100.0)),
            ),
            ("bombardier -c 20 -n 5000 -l http://h/", (20, Some(5000), None, None)),
            ("bombardier -kld 10s http://h/ --rate=300", (125, None, Some(10.0), Some(300.0))),
            ("siege -b -c 10 -r 100 http://h/", (10, None, None, None)),
            ("siege -t30S -c10 http://h/", (10, None, Some(30.0), None)),
        ] {
            assert_eq!(asked(line), expected, "{line}");
        }
        assert_eq!(command("hey -disable-keepalive h/").keep_alive, Some(false));
        assert_eq!(command("wrk -t 4 h/x").threads, Some(4));
        assert!(command("siege -c 10 -d 1 http://h/").open_loop);
        assert!(!command("siege -b -c 10 http://h/").open_loop);
    }

    #[test]
    fn vegeta_is_told_its_urls_elsewhere() {
        let line =
            "$ echo \"GET http://h:1/\" | vegeta attack -rate=100/m -duration=5s | vegeta report";
        let found = command(line);
        assert_eq!((found.program, found.duration_s), (Program::Vegeta, Some(5.0)));
        assert!((found.rate_per_s.unwrap() - 100.0 / 60.0).abs() < 1e-9);
        assert!(found.open_loop);
        assert_eq!(found.text, "vegeta attack -rate=100/m -duration=5s");
        assert_eq!(command("vegeta attack -duration 5s -targets=t.txt").rate_per_s, Some(50.0));
        assert_eq!(command("vegeta attack -rate=0 -max-workers=5").rate_per_s, None);
    }

    #[test]
    fn running_text_is_no_command_of_theirs() {
        for line in [
            "wrk is faster than ab",
            "we used wrk with -t2 at http://h/",
            "hey, look at http://h/",
            "hey http://h/ is down",
            "hey h/x",
            "wrk with http://h/",
            "oha -n many http://h/",
            "vegeta attack",
            "siege of h/",
            "bombardier --no-such-option http://h/",
        ] {
            assert_eq!(find(line, 1), None, "{line}");
        }
    }
}
