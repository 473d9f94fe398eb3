//! What a load sends, before the fields that every request needs are added and before files become
//! templates.

use std::fmt;

use ablaze_feed::Order;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::blob::{Blob, hex, unhex};
use super::form::{self, FormField};
use super::secrets::SecretRef;
use super::users::UsersSpec;

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestsSpec {
    /// Method; `None` is GET, or POST with a body.
    pub method: Option<Bytes>,
    /// The lines of the head.
    pub head: Head,
    /// A list of URLs to ask for in turn, with their weights; `None` asks for the destination's own.
    pub urls: Option<Feed>,
    /// The files that bodies of that list are, each with the name it has there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub url_files: Vec<(String, Blob)>,
    /// The bodies.
    pub bodies: Bodies,
    /// Cookies that every request sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookies: Option<CookiesSpec>,
    /// Rows whose cells stand in the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSpec>,
    /// The journey whose steps are sent instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journey: Option<JourneySpec>,
    /// Who walks it, and further journeys.
    #[serde(default, skip_serializing_if = "UsersSpec::is_usual")]
    pub users: UsersSpec,
    /// Seed of `{rand:N}`, and of random rows.
    pub seed: u64,
}

/// Rows of a file, each the data of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSpec {
    /// The file and the part of it. Its name says its format: `.csv`, `.tsv` or `.jsonl`.
    pub feed: Feed,
    /// Which row a request takes.
    #[serde(default)]
    pub order: Order,
}

/// A journey: a file in Hurl's format, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JourneySpec {
    /// The file.
    pub file: Blob,
    /// The files that its requests send, each with the name it has there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, Blob)>,
    /// Variables and their values, as typed; the last of a name counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// Variables whose values are secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<(String, SecretRef)>,
    /// Whether an iteration goes on after a failed assert.
    #[serde(default)]
    pub continue_on_error: bool,
    /// Whether steps follow redirects that do not say whether they do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub location: bool,
    /// Whether they do, with their credentials wherever redirects lead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub location_trusted: bool,
    /// How many, of steps that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_redirects: Option<u64>,
}

/// Cookies that every request sends. All of them are secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CookiesSpec {
    /// Pairs `name=value; name=value`, sent as they are.
    pub typed: Vec<SecretRef>,
    /// Texts of files in Netscape's format, each with the file's name: sent where they are meant for host and path.
    pub files: Vec<(String, SecretRef)>,
}

/// The lines of a request's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Head {
    /// The fields that a request needs are added, and those given replace them; `{seq}` and `{rand:N}`
    /// are placeholders.
    Composed {
        /// Lines as typed. One replaces the field of the same name that would be sent by itself;
        /// `Name:` without a value leaves that field out.
        lines: Vec<Line>,
        /// Content-Type of the bodies; `None` guesses.
        content_type: Option<String>,
        /// Basic credentials, `name:password`.
        user: Option<SecretRef>,
        /// Value of User-Agent; `None` is this program's.
        user_agent: Option<String>,
    },
    /// Nothing is added and nothing checked: the head of another tool.
    Verbatim {
        /// What stands on the request line where there is no list of URLs.
        target: Bytes,
        /// Every line.
        lines: Vec<Line>,
        /// Whether `{seq}` and `{rand:N}` are placeholders.
        placeholders: bool,
    },
}

/// One line of a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// As it is sent, without its end.
    Text(Bytes),
    /// A field of this name with the length of the body.
    BodyLength(String),
    /// A whole line that is a secret.
    Secret(SecretRef),
}

/// The bodies of requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bodies {
    /// No body.
    #[default]
    None,
    /// The same in every request.
    Same(Body),
    /// Each line of a file, one after the other, over and over.
    InTurn(Feed),
    /// This form in every request.
    Form(Vec<FormField>),
}

/// One body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// The bytes themselves.
    Given(Bytes),
    /// The bytes of this file.
    File(Blob),
}

/// The lines of a file, or a part of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feed {
    /// The file.
    pub file: Blob,
    /// Which of its entries; `None` is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// One of several parts of a list: entries `index`, `index + of`, `index + 2 of`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The number of the part, from 0.
    pub index: u32,
    /// The number of parts.
    pub of: u32,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// The number in the whole of what has this number in the part: they are dealt in turn.
    #[inline]
    pub fn in_whole(self, number: u64) -> u64 {
        number.wrapping_mul(u64::from(self.of)).wrapping_add(u64::from(self.index))
    }
}

/// Bytes that are mostly text: saved as a text where they are UTF-8, else as `{"hex": "…"}`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Default for RequestsSpec {
    fn default() -> Self {
        Self {
            method: None,
            head: Head::default(),
            urls: None,
            url_files: Vec::new(),
            bodies: Bodies::None,
            cookies: None,
            data: None,
            journey: None,
            users: UsersSpec::default(),
            seed: 1,
        }
    }
}

impl Default for Head {
    fn default() -> Self {
        Self::Composed { lines: Vec::new(), content_type: None, user: None, user_agent: None }
    }
}

impl Feed {
    /// All entries of a file.
    pub fn of(file: Blob) -> Self {
        Self { file, part: None }
    }

    /// Those of the file's entries that are meant.
    pub fn taken<T>(&self, entries: Vec<T>) -> Vec<T> {
        let Some(Part { index, of }) = self.part else { return entries };
        let of = (of as usize).max(1);
        entries.into_iter().skip(index as usize).step_by(of).collect()
    }
}

impl Bodies {
    /// The files that it is made of.
    pub fn files(&self) -> Vec<&Blob> {
        match self {
            Self::None => Vec::new(),
            Self::Same(body) => body.file().into_iter().collect(),
            Self::InTurn(feed) => vec![&feed.file],
            Self::Form(fields) => form::files(fields).collect(),
        }
    }

    /// The same, to put their bytes beside them.
    pub fn files_mut(&mut self) -> Vec<&mut Blob> {
        match self {
            Self::None => Vec::new(),
            Self::Same(body) => body.file_mut().into_iter().collect(),
            Self::InTurn(feed) => vec![&mut feed.file],
            Self::Form(fields) => form::files_mut(fields).collect(),
        }
    }
}

/// The Content-Type of a body for which none was given, by how it begins.
pub fn usual_content_type(body: &[u8]) -> &'static str {
    if body.starts_with(b"{") || body.starts_with(b"[") { "application/json" } else { "text/plain" }
}

impl Body {
    /// The file that it is.
    pub fn file(&self) -> Option<&Blob> {
        match self {
            Self::File(file) => Some(file),
            Self::Given(_) => None,
        }
    }

    /// The same, to put its bytes beside it.
    pub fn file_mut(&mut self) -> Option<&mut Blob> {
        match self {
            Self::File(file) => Some(file),
            Self::Given(_) => None,
        }
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

#[derive(Serialize, Deserialize)]
struct Hex {
    hex: String,
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Hex { hex: hex(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Hex(Hex),
        }
        match Either::deserialize(deserializer)? {
            Either::Text(text) => Ok(Self(text.into_bytes())),
            Either::Hex(Hex { hex }) => {
                unhex(&hex).map(Self).ok_or_else(|| de::Error::custom("hex digits expected"))
            }
        }
    }
}
