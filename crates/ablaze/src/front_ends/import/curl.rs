//! curl's command line as a request. What stands behind an option is read as curl reads it; an option that is not
//! known here is named and left out with its value.

use ablaze_wire::multipart::argument::{self, Field, Source};

use super::Imported;
use super::encoded::{form_fields, percent_encoded};
use super::hurl::{Body, Entry, Part};

/// Gives the content of a file, or why it cannot.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Long names of the short options that are taken over.
const SHORT: [(char, &str); 14] = [
    ('X', "request"),
    ('H', "header"),
    ('d', "data"),
    ('F', "form"),
    ('u', "user"),
    ('b', "cookie"),
    ('A', "user-agent"),
    ('e', "referer"),
    ('k', "insecure"),
    ('L', "location"),
    ('G', "get"),
    ('I', "head"),
    ('g', "globoff"),
    ('q', "disable"),
];

/// Other short options that take a value (curl 8).
const SHORT_WITH_VALUE: &str = "CDEKPQTUYcmortwxyz";

/// Long options that take a value and are not taken over (`curl --help all`).
const WITH_VALUE: &str = "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config \
    connect-timeout connect-to continue-at cookie-jar create-file-mode crlfile curves delegation dns-interface \
    dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save \
    expect100-timeout ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode \
    happy-eyeballs-timeout-ms haproxy-clientip help hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway \
    keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port login-options mail-auth mail-from \
    mail-rcpt max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass \
    pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert \
    proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass \
    proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser \
    proxy-user proxy1.0 pubkey quote random-file range rate request-target resolve retry retry-delay \
    retry-max-time sasl-authzid service-name socks4 socks4a socks5 socks5-gssapi-service socks5-hostname \
    speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype \
    tlspassword tlsuser trace trace-ascii trace-config unix-socket upload-file url-query variable vlan-priority \
    write-out";

const FORM: &str = "application/x-www-form-urlencoded";

/// Reads the words behind `curl`: an entry for each URL.
///
/// # Errors
/// When they are no command, or a file that they name cannot be read.
pub fn import(
    words: &[String],
    read_file: &mut ReadFile<'_>,
    imported: &mut Imported,
) -> Result<(), String> {
    let mut words = words.iter();
    // `--next` begins another command line.
    loop {
        let mut command =
            Command { read_file, notes: &mut imported.notes, asked: Asked::default() };
        let goes_on = command.read(&mut words)?;
        let asked = command.asked;
        if asked.urls.is_empty() {
            return Err("the curl command has no URL".into());
        }
        for url in &asked.urls {
            imported.entries.push(asked.entry(url)?);
        }
        if !goes_on {
            return Ok(());
        }
    }
}

/// What the options ask for.
#[derive(Debug, Default)]
struct Asked {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Headers that curl would make itself and that are not wanted: `-H 'Accept:'`.
    unwanted: Vec<String>,
    options: Vec<(&'static str, String)>,
    user: Option<(String, String)>,
    cookies: Vec<(String, String)>,
    data: Option<Vec<u8>>,
    /// Data that is one whole file.
    file: Option<String>,
    json: bool,
    form: Vec<Part>,
    get: bool,
    head: bool,
}

struct Command<'a, 'r> {
    read_file: &'a mut ReadFile<'r>,
    notes: &'a mut Vec<String>,
    asked: Asked,
}

impl Command<'_, '_> {
    /// Reads up to the end, or to `--next`: then true.
    fn read(&mut self, words: &mut std::slice::Iter<'_, String>) -> Result<bool, String> {
        let mut only_urls = false;
        while let Some(word) = words.next() {
            if only_urls || !word.starts_with('-') || word == "-" {
                self.asked.urls.push(word.clone());
            } else if word == "--" {
                only_urls = true;
            } else if word == "--next" || word == "-:" {
                return Ok(true);
            } else if let Some(name) = word.strip_prefix("--") {
                self.long(name, words)?;
            } else {
                self.short(&word[1..], words)?;
            }
        }
        Ok(false)
    }

    fn long(&mut self, name: &str, words: &mut std::slice::Iter<'_, String>) -> Result<(), String> {
        if self.switch(name) {
            return Ok(());
        }
        if is_taken_over(name) {
            let value =
                words.next().ok_or_else(|| format!("--{name} of the curl command has no value"))?;
            return self.option(name, value);
        }
        let value =
            WITH_VALUE.split_whitespace().any(|own| own == name).then(|| words.next()).flatten();
        self.leave_out(&format!("--{name}"), value.map(String::as_str));
        Ok(())
    }

    /// Letters behind one dash: switches, of which the last option may take the rest, or the next word, as its value.
    fn short(
        &mut self,
        letters: &str,
        words: &mut std::slice::Iter<'_, String>,
    ) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            let name = SHORT.iter().find(|(own, _)| *own == letter).map(|(_, name)| *name);
            if name.is_some_and(|name| self.switch(name)) {
                continue;
            }
            let takes_value = name.is_some() || SHORT_WITH_VALUE.contains(letter);
            if !takes_value {
                self.leave_out(&format!("-{letter}"), None);
                continue;
            }
            let rest = &letters[at + letter.len_utf8()..];
            let value = if rest.is_empty() { words.next().map(String::as_str) } else { Some(rest) };
            match (name, value) {
                (Some(name), Some(value)) => return self.option(name, value),
                (Some(_), None) => {
                    return Err(format!("-{letter} of the curl command has no value"));
                }
                (None, value) => self.leave_out(&format!("-{letter}"), value),
            }
            return Ok(());
        }
        Ok(())
    }

    fn leave_out(&mut self, option: &str, value: Option<&str>) {
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        self.notes.push(format!("left out: curl's {option}{value}"));
    }

    /// An option without a value, if it is one that is taken over.
    fn switch(&mut self, name: &str) -> bool {
        let options = &mut self.asked.options;
        match name {
            // A journey that has it is refused: it is said for the whole run.
            "insecure" => self.leave_out("-k (use --insecure with run and load)", None),
            "location" => options.push(("location", "true".into())),
            "compressed" => options.push(("compressed", "true".into())),
            "get" => self.asked.get = true,
            "head" => self.asked.head = true,
            // They say how the command itself is read.
            "globoff" | "disable" => {}
            _ => return false,
        }
        true
    }

    fn option(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "url" => self.asked.urls.push(value.to_owned()),
            "request" => self.asked.method = Some(value.to_owned()),
            "header" => self.header(value),
            "user-agent" => self.header(&format!("User-Agent: {value}")),
            "referer" => self.header(&format!("Referer: {value}")),
            "user" => {
                let (user, password) = value.split_once(':').unwrap_or_else(|| {
                    self.notes
                        .push("-u has no password, which curl would ask for: it is empty".into());
                    (value, "")
                });
                self.asked.user = Some((user.to_owned(), password.to_owned()));
            }
            "cookie" if !value.contains('=') => self.leave_out("-b", Some(value)),
            "cookie" => {
                let pairs = value.split(';').filter_map(|pair| pair.trim().split_once('='));
                let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
                self.asked.cookies.extend(pairs);
            }
            "form" => self.form(argument::form(value))?,
            "form-string" => self.form(argument::form_string(value))?,
            _ => self.data(name, value)?,
        }
        Ok(())
    }

    fn header(&mut self, line: &str) {
        if line.starts_with('@') {
            return self.leave_out("-H", Some(line));
        }
        // `Name;` sends a header without a value, `Name:` keeps curl from sending its own.
        match (line.split_once(':'), line.trim_end().strip_suffix(';')) {
            (Some((name, value)), _) if value.trim().is_empty() => {
                self.asked.unwanted.push(name.to_owned())
            }
            (Some((name, value)), _) => {
                self.asked.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            (None, Some(name)) => self.asked.headers.push((name.to_owned(), String::new())),
            (None, None) => self.leave_out("-H", Some(line)),
        }
    }

    fn form(&mut self, field: Result<Field, String>) -> Result<(), String> {
        let field = field.map_err(|why| format!("-F: {why}"))?;
        let part = match field.source {
            Source::File(path) => {
                if let Some(filename) = field.filename {
                    self.leave_out("-F …;filename=", Some(&filename));
                }
                Part::File(field.name, path, field.content_type)
            }
            Source::Text(text) => self.value(field.name, text, field.content_type),
            Source::TextOf(path) => {
                let text = self.text_of(&path)?;
                self.value(field.name, text, field.content_type)
            }
        };
        self.asked.form.push(part);
        Ok(())
    }

    fn value(&mut self, name: String, text: String, content_type: Option<String>) -> Part {
        if let Some(kind) = content_type {
            self.leave_out("-F …;type= of a value:", Some(&kind));
        }
        Part::Value(name, text)
    }

    fn text_of(&mut self, path: &str) -> Result<String, String> {
        let bytes = (self.read_file)(path)?;
        String::from_utf8(bytes).map_err(|_| format!("`{path}` is not UTF-8"))
    }

    fn data(&mut self, name: &str, value: &str) -> Result<(), String> {
        let is_file = value.starts_with('@') && name != "data-raw";
        let piece = match name {
            "data-urlencode" => self.encoded(value)?,
            _ if is_file && name == "data" => {
                let mut bytes = (self.read_file)(&value[1..])?;
                bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
                bytes
            }
            _ if is_file && self.asked.data.is_none() => {
                self.asked.file = Some(value[1..].to_owned());
                (self.read_file)(&value[1..])?
            }
            _ if is_file => (self.read_file)(&value[1..])?,
            _ => value.as_bytes().to_vec(),
        };
        let asked = &mut self.asked;
        asked.json |= name == "json";
        match &mut asked.data {
            None => asked.data = Some(piece),
            Some(data) => {
                // Several pieces are no file any more.
                asked.file = None;
                if name != "json" {
                    data.push(b'&');
                }
                data.extend(piece);
            }
        }
        Ok(())
    }

    /// `content`, `=content`, `name=content`, `@file`, `name@file`.
    fn encoded(&mut self, value: &str) -> Result<Vec<u8>, String> {
        // curl writes blanks as forms do.
        let encoded = |content: &[u8]| percent_encoded(content).replace("%20", "+");
        let Some(at) = value.find('=').or_else(|| value.find('@')) else {
            return Ok(encoded(value.as_bytes()).into_bytes());
        };
        let (name, content) = (&value[..at], &value[at + 1..]);
        let content = match value.as_bytes()[at] {
            b'@' => (self.read_file)(content)?,
            _ => content.as_bytes().to_vec(),
        };
        let equals = if name.is_empty() { "" } else { "=" };
        Ok(format!("{name}{equals}{}", encoded(&content)).into_bytes())
    }
}

fn is_taken_over(name: &str) -> bool {
    let long =
        ["data-ascii", "data-raw", "data-binary", "data-urlencode", "form-string", "json", "url"];
    SHORT.iter().any(|(_, own)| *own == name) || long.contains(&name)
}

impl Asked {
    fn entry(&self, url: &str) -> Result<Entry, String> {
        let mut url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("`{url}`: only http:// and https:// can be imported"));
        }
        if self.data.is_some() && !self.form.is_empty() {
            return Err("the curl command has both -d and -F: it can send only one of them".into());
        }
        let mut headers = self.headers.clone();
        let mut body = Body::Nothing;
        if let Some(data) = &self.data {
            if self.get {
                let query = String::from_utf8_lossy(data);
                url += if url.contains('?') { "&" } else { "?" };
                url += &query;
            } else {
                body = self.body(data, &mut headers);
            }
        }
        if !self.form.is_empty() {
            body = Body::Multipart(self.form.clone());
        }
        let method = match (&self.method, &body) {
            (Some(method), _) => method.clone(),
            (None, _) if self.head => "HEAD".to_owned(),
            // Without a byte, too, it is a POST.
            (None, Body::Nothing) if self.get || self.data.is_none() => "GET".to_owned(),
            (None, _) => "POST".to_owned(),
        };
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(format!("method `{method}`: a journey's methods are capital letters"));
        }
        let mut options = self.options.clone();
        options.sort_unstable();
        options.dedup();
        Ok(Entry {
            method,
            url,
            headers,
            options,
            user: self.user.clone(),
            cookies: self.cookies.clone(),
            body,
            status: None,
        })
    }

    /// The body that data makes, with the headers that curl adds for it.
    fn body(&self, data: &[u8], headers: &mut Vec<(String, String)>) -> Body {
        let is_named = |headers: &[(String, String)], name: &str| {
            headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
                || self.unwanted.iter().any(|own| own.trim().eq_ignore_ascii_case(name))
        };
        let own_type = is_named(headers, "Content-Type");
        let kind = if self.json { "application/json" } else { FORM };
        if self.json && !is_named(headers, "Accept") {
            headers.push(("Accept".into(), "application/json".into()));
        }
        if self.file.is_none() && !own_type && !self.json {
            // A form says its type itself.
            if let Some(fields) = form_fields(data) {
                return Body::Form(fields);
            }
        }
        if !own_type {
            headers.push(("Content-Type".into(), kind.into()));
        }
        match (&self.file, std::str::from_utf8(data)) {
            (Some(file), _) => Body::File(file.clone()),
            (None, Ok("")) => Body::Nothing,
            (None, Ok(text)) => Body::Text(text.to_owned()),
            (None, Err(_)) => Body::Bytes(data.to_vec()),
        }
    }
}
