//! Samples of requests and responses that failed a check: at most [`Samples::KEPT`] of a run, each as likely as any
//! other, however late it came. Whatever is in them is from others: it is kept without secrets, fit to be shown, and cut.

use crate::printable::printable;
use crate::spec::is_secret_field;

/// Samples of a run, or of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Samples {
    /// How many failed: what these were drawn from.
    pub failed: u64,
    /// By their keys, smallest first.
    kept: Vec<Sample>,
}

/// A request and its response, of which something was not as it was to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// A random number that follows from the run's seed: the smallest ones are kept. So what is kept of all is what is
    /// kept of what is kept of the parts.
    pub key: u64,
    /// When the response was complete, ns since the clock started.
    pub at_ns: u64,
    /// Number of the request, or of its journey, in the run.
    pub number: u64,
    /// The step of the journey.
    pub step: Option<String>,
    /// Status of the response.
    pub status: u16,
    /// From when the request began to the last byte, ns.
    pub total_ns: u64,
    /// What failed, each with what was there instead.
    pub failed: Vec<String>,
    /// What was sent.
    pub request: Message,
    /// What came.
    pub response: Message,
}

/// A request or a response, line by line, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The head without its empty line.
    pub head: Vec<String>,
    /// Whether it was longer.
    pub head_is_cut: bool,
    /// The body, as text.
    pub body: Vec<String>,
    /// Its whole length, bytes.
    pub body_bytes: u64,
    /// Whether it is longer than what is kept of it.
    pub body_is_cut: bool,
}

/// What stands in place of a secret.
const HIDDEN: &str = "***";

impl Samples {
    /// Most that are kept of a run.
    pub const KEPT: usize = 100;

    /// Counts one that failed; whether a sample of it would be kept.
    pub fn wants(&mut self, key: u64) -> bool {
        self.failed += 1;
        self.kept.len() < Self::KEPT || self.kept.last().is_some_and(|last| key < last.key)
    }

    /// Keeps one, in place of the one with the largest key if there are too many.
    pub fn keep(&mut self, sample: Sample) {
        let place = self.kept.partition_point(|own| own.key <= sample.key);
        self.kept.insert(place, sample);
        self.kept.truncate(Self::KEPT);
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { failed, kept } = other;
        self.failed += failed;
        kept.into_iter().for_each(|sample| self.keep(sample));
    }

    /// Those that are kept, the earliest first.
    pub fn in_order(&self) -> Vec<&Sample> {
        let mut kept: Vec<&Sample> = self.kept.iter().collect();
        kept.sort_by_key(|sample| (sample.at_ns, sample.key));
        kept
    }
}

impl Message {
    /// Most bytes that are kept of a head.
    pub const HEAD_BYTES: usize = 4096;
    /// Most bytes that are kept of a body.
    pub const BODY_BYTES: usize = 4096;

    /// Of a head and its body, of which less may be here than its length of `body_bytes`. `secrets` are not kept, nor the
    /// values of fields that carry credentials.
    pub fn of(head: &[u8], body: &[u8], body_bytes: u64, secrets: &[String]) -> Self {
        let shown_head = &head[..head.len().min(Self::HEAD_BYTES)];
        let head_is_cut = shown_head.len() < head.len();
        let shown_body = &body[..body.len().min(Self::BODY_BYTES)];
        let body_is_cut = (shown_body.len() as u64) < body_bytes;
        let head = without_secrets(shown_head, head_is_cut, secrets);
        let body = without_secrets(shown_body, body_is_cut, secrets);
        Self {
            head: without_credentials(&head),
            head_is_cut,
            body: lines(&body).map(|line| printable(line).into_owned()).collect(),
            body_bytes,
            body_is_cut,
        }
    }

    /// Of a request of `whole_bytes`, of which less may be here.
    pub fn of_request(request: &[u8], whole_bytes: u64, secrets: &[String]) -> Self {
        let end = request.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = request.split_at(end.map_or(request.len(), |end| end + 4));
        let body_bytes = whole_bytes.saturating_sub(head.len() as u64);
        Self::of(head, body, if end.is_some() { body_bytes } else { 0 }, secrets)
    }
}

/// Words about a response, without secrets.
pub fn masked(words: &str, secrets: &[String]) -> String {
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    secrets.fold(words.to_owned(), |words, secret| match words.contains(secret.as_str()) {
        true => words.replace(secret.as_str(), HIDDEN),
        false => words,
    })
}

/// Secrets, so that none is hidden before another that it is a part of.
pub fn longest_first(mut secrets: Vec<String>) -> Vec<String> {
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// Shorter values stand in too many other words.
const CREDENTIAL_BYTES_MIN: usize = 4;

/// The values in a request's head that are credentials, which a response may repeat.
pub fn credentials_in(request: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, value) in credential_fields(&String::from_utf8_lossy(request)) {
        add_credential(value, &mut found);
    }
    found.retain(|value| value.len() >= CREDENTIAL_BYTES_MIN);
    found
}

/// Basic credentials in a request's head, as they are sent.
pub fn basic_credentials_in(request: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(request);
    let basic = credential_fields(&text).filter_map(|(_, value)| {
        let (scheme, rest) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("basic").then(|| rest.trim().to_owned())
    });
    basic.filter(|value| !value.is_empty()).collect()
}

/// Names and values of the fields with credentials.
fn credential_fields(request: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = lines(request).skip(1).take_while(|line| !line.is_empty());
    fields
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
        .filter(|(name, _)| is_secret_field(name))
}

/// A field's value, and what stands in it behind the name of its scheme, or of its cookies.
pub fn add_credential(value: &str, found: &mut Vec<String>) {
    found.push(value.to_owned());
    found.extend(value.split_once(' ').map(|(_, rest)| rest.trim().to_owned()));
    let cookies = value.split(';').filter_map(|pair| pair.split_once('='));
    found.extend(cookies.map(|(_, value)| value.trim().trim_matches('=').to_owned()));
}

/// Bytes as text without secrets. Of one that was cut, its end may be the beginning of a secret.
fn without_secrets(bytes: &[u8], is_cut: bool, secrets: &[String]) -> String {
    let mut text = masked(&String::from_utf8_lossy(bytes), secrets);
    if !is_cut {
        return text;
    }
    // A character that was cut is none.
    text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
    let begun = secrets.iter().filter_map(|secret| {
        let ends = secret.char_indices().map(|(at, _)| at).skip(1);
        ends.filter(|at| text.ends_with(&secret[..*at])).max()
    });
    if let Some(length) = begun.max() {
        text.truncate(text.len() - length);
        text.push_str(HIDDEN);
    }
    text
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines = (!text.is_empty()).then(|| text.split('\n'));
    lines.into_iter().flatten().map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// The lines of a head; of fields with credentials, their names.
fn without_credentials(head: &str) -> Vec<String> {
    let mut is_hidden = false;
    let mut kept = Vec::new();
    for line in lines(head).take_while(|line| !line.is_empty()) {
        if line.starts_with([' ', '\t']) && is_hidden {
            // It continues the value of the line before (RFC 9112, 5.2).
            continue;
        }
        let name = line.split(':').next().unwrap_or_default().trim();
        is_hidden = line.contains(':') && is_secret_field(name);
        kept.push(match is_hidden {
            true => format!("{}: {HIDDEN}", printable(name)),
            false => printable(line).into_owned(),
        });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(key: u64) -> Sample {
        Sample {
            key,
            at_ns: 1000 - key,
            number: key,
            step: None,
            status: 500,
            total_ns: 1,
            failed: vec!["status==200: it is 500".to_owned()],
            request: Message::default(),
            response: Message::default(),
        }
    }

    fn keys(samples: &Samples) -> Vec<u64> {
        let mut keys: Vec<u64> = samples.in_order().iter().map(|sample| sample.key).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn of_all_parts_the_same_are_kept_as_of_the_whole() {
        let all: Vec<u64> = (0..450).map(|n: u64| n.wrapping_mul(7_919) % 1_000).collect();
        let of = |keys: &[u64]| {
            let mut samples = Samples::default();
            for key in keys {
                if samples.wants(*key) {
                    samples.keep(sample(*key));
                }
            }
            samples
        };
        let mut parts = of(&all[..200]);
        parts.merge(of(&all[200..]));
        let whole = of(&all);
        assert_eq!((parts.failed, whole.failed), (450, 450));
        assert_eq!(keys(&parts), keys(&whole));
        assert_eq!(keys(&whole).len(), Samples::KEPT);
        let mut smallest = all;
        smallest.sort_unstable();
        assert_eq!(keys(&whole), smallest[..Samples::KEPT]);
        let times: Vec<u64> = whole.in_order().iter().map(|sample| sample.at_ns).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn credentials_and_secrets_are_not_kept() {
        let secrets = ["hunter2".to_owned(), "tok\u{e9}n".to_owned(), String::new()];
        let head = "POST /x?key=hunter2 HTTP/1.1\r\naUTHORIZATION : Basic abc\r\n more of it\r\nX-Key: hunter2\r\n\
                    Cookie: a=b\r\nHost: h\r\n\r\n";
        let body = "user=ann&password=hunter2\u{1b}[2J\nsecond tok\u{e9}n";
        let message = Message::of(head.as_bytes(), body.as_bytes(), body.len() as u64, &secrets);
        assert_eq!(
            message.head,
            [
                "POST /x?key=*** HTTP/1.1",
                "aUTHORIZATION: ***",
                "X-Key: ***",
                "Cookie: ***",
                "Host: h"
            ]
        );
        assert_eq!(message.body, ["user=ann&password=***\\u{1b}[2J", "second ***"]);
        assert!(!message.head_is_cut && !message.body_is_cut);
        let response = Message::of(b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\n\r\n", b"", 0, &[]);
        assert_eq!(response.head, ["HTTP/1.1 200 OK", "Set-Cookie: ***"]);
        assert!(response.body.is_empty() && !response.body_is_cut);
    }

    /// A secret that the cut goes through does not show its beginning.
    #[test]
    fn what_is_long_is_cut_and_a_cut_secret_is_hidden() {
        let secrets = ["hunter2".to_owned()];
        for shown in 0..=7 {
            let mut body = vec![b'-'; Message::BODY_BYTES - shown];
            body.extend_from_slice(b"hunter2 and more");
            let message = Message::of(b"HTTP/1.1 200\r\n\r\n", &body, 1_000_000, &secrets);
            assert!(message.body_is_cut && message.body_bytes == 1_000_000);
            let expected =
                "-".repeat(Message::BODY_BYTES - shown) + if shown > 0 { "***" } else { "" };
            assert_eq!(message.body, [expected], "{shown}");
        }
        let head = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'x'; 9000]].concat();
        let message = Message::of_request(&head, head.len() as u64, &[]);
        assert!(message.head_is_cut && !message.body_is_cut);
        assert_eq!(message.head.iter().map(String::len).sum::<usize>(), Message::HEAD_BYTES - 2);
    }

    #[test]
    fn a_request_is_its_head_and_its_body() {
        let request = b"POST / HTTP/1.1\r\nHost: h\r\n\r\na\r\n\r\nb";
        let message = Message::of_request(request, request.len() as u64, &[]);
        assert_eq!(message.head, ["POST / HTTP/1.1", "Host: h"]);
        assert_eq!(
            (message.body_bytes, message.body),
            (6, vec!["a".into(), String::new(), "b".into()])
        );
        let longer = Message::of_request(request, 1_000, &[]);
        assert_eq!((longer.body_bytes, longer.body_is_cut), (1_000 - 28, true));
    }
}
