//! What a line of `--urls` sends: lines may have a method, fields and a body of their own, and say nothing of those of others.

use ablaze_model::Run;
use ablaze_model::spec::{Bodies, Head, is_secret_field};

use super::fields::header;
use super::{BODY_BYTES, FILE, data_word};

/// What the requests of one line are.
pub(super) struct Line<'a> {
    pub method: &'a str,
    pub has_body: bool,
    /// It says its method, its fields and its body itself.
    pub is_own: bool,
    /// The request, where its bytes are known: not of a saved run.
    pub sent: Option<Sent>,
}

/// The head and the body of a line that says them itself.
pub(super) struct Sent {
    path: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The method and the path of a group that is named by both: a line of a list that says its method.
pub(super) fn method_and_path<'a>(run: &Run, name: &'a str) -> (Option<&'a str>, &'a str) {
    match name.split_once(' ') {
        Some((method, path)) if is_list(run) && path.starts_with(['/', 'h']) => {
            (Some(method), path)
        }
        _ => (None, name),
    }
}

/// The line of this name. `None` where there is no list: all requests are those of the options.
pub(super) fn line<'a>(run: &'a Run, name: &'a str) -> Option<Line<'a>> {
    let asked = run.asked.as_ref().filter(|_| is_list(run))?;
    if let (Some(method), _) = method_and_path(run, name) {
        let sent = sent(run, name);
        // Of a saved run it is not known which lines have one: those that get something usually have none.
        let has_body = match &sent {
            Some(sent) => !sent.body.is_empty(),
            None => run.plan.requests.has_body && method != "GET",
        };
        return Some(Line { method, has_body, is_own: true, sent });
    }
    let has_body = asked.requests.bodies != Bodies::None;
    let usual = if has_body { "POST" } else { "GET" };
    let given = asked.requests.method.as_ref().map(|method| std::str::from_utf8(&method.0));
    let method = given.map_or(usual, |method| method.unwrap_or(usual));
    Some(Line { method, has_body, is_own: false, sent: None })
}

fn is_list(run: &Run) -> bool {
    run.asked.as_ref().is_some_and(|asked| asked.requests.urls.is_some())
}

/// The path, or the URL, and the request of a list whose lines all have one name, so that they are no groups. `None` where the
/// bytes of it are not known.
pub(super) fn only(run: &Run) -> Option<(String, Line<'_>)> {
    let requests = &run.plan.requests;
    let has_groups = !run.record.groups.is_empty() || requests.groups.too_many > 0;
    let template = requests.templates.first().filter(|_| is_list(run) && !has_groups)?;
    let varying = template.patches.iter().filter(|patch| patch.width == 0);
    let sent = Sent::of(&template.bytes, varying.map(|patch| patch.offset as usize))?;
    let path = sent.path.clone();
    let method = requests.method.as_str();
    let has_body = !sent.body.is_empty();
    Some((path, Line { method, has_body, is_own: true, sent: Some(sent) }))
}

/// The request of the line: of several of this name the first that has a body.
fn sent(run: &Run, name: &str) -> Option<Sent> {
    let requests = &run.plan.requests;
    let group = requests.groups.names.iter().position(|known| known == name)?;
    let of_templates = requests.groups.of_templates.iter().zip(&requests.templates);
    let own = || of_templates.clone().filter(|(of, _)| **of as usize == group);
    let with_body = own().find(|(_, template)| template.bytes.len() > template.head_bytes);
    let (_, template) = with_body.or_else(|| own().next())?;
    let varying = template.patches.iter().filter(|patch| patch.width == 0);
    Sent::of(&template.bytes, varying.map(|patch| patch.offset as usize))
}

impl Sent {
    /// The bytes of a request, with cells of a feed at these places.
    fn of(bytes: &[u8], varying: impl DoubleEndedIterator<Item = usize>) -> Option<Self> {
        let mut bytes = bytes.to_vec();
        for at in varying.rev() {
            bytes.splice(at..at, *b"VALUE");
        }
        let head_bytes = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let body = bytes.split_off(head_bytes);
        let head = String::from_utf8_lossy(&bytes);
        let mut lines = head.lines();
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        Some(Self { path, fields: fields.collect(), body })
    }

    /// Its fields as curl's options: those that curl would send otherwise, or not at all. `authority` is that of the URL.
    pub fn words(&self, run: &Run, authority: &str, words: &mut Vec<String>) {
        let head = run.asked.as_ref().map(|asked| &asked.requests.head);
        let has_user = matches!(head, Some(Head::Composed { user: Some(_), .. }));
        let has_proxy = run.plan.target.proxy.is_some();
        for (name, value) in &self.fields {
            let lower = name.to_ascii_lowercase();
            match (lower.as_str(), value.as_str()) {
                ("host", value) if value == authority => {}
                // curl does not say of itself that there is no body.
                ("content-length", _) if self.body.is_empty() => {
                    words.push(header("Content-Length: 0"));
                }
                ("content-length", _) | ("accept", "*/*") => {}
                ("user-agent", value) if value.starts_with("ablaze/") => {}
                // What a connection does by itself.
                ("connection", "close" | "keep-alive") => {}
                // Said with the proxy.
                ("proxy-authorization", _) if has_proxy => {}
                ("authorization", _) if has_user => words.push("-u NAME:PASSWORD".to_owned()),
                (lower, _) if is_secret_field(lower) => {
                    words.push(header(&format!("{name}: VALUE")))
                }
                (_, value) => words.push(header(&format!("{name}: {value}"))),
            }
        }
        let has = |name: &str| self.fields.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let by_curl = ["Host", "User-Agent", "Accept"].into_iter();
        let of_body = (!self.body.is_empty()).then_some("Content-Type");
        let left_out = by_curl.chain(of_body).filter(|name| !has(name));
        words.extend(left_out.map(|name| header(&format!("{name}:"))));
    }

    /// Its body as curl's option.
    pub fn data(&self) -> String {
        match std::str::from_utf8(&self.body) {
            Ok(text) if text.len() <= BODY_BYTES => data_word(text),
            _ => FILE.to_owned(),
        }
    }
}
