//! What a Hurl file says, as data. Sections are merged into the request or response they belong to; comments, spaces
//! and ways to write the same thing (`[Form]`, `[FormParams]`) are not kept. Places are kept for messages, and are
//! not compared: two trees are equal when their files say the same.

use super::checks::{Assert, Capture, Filter};

/// A place in a file. All places are equal, see the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct At {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HurlFile {
    /// In the order in which they run.
    pub entries: Vec<Entry>,
}

/// A request, and what is to be captured and checked of its response.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// From the last comment `# name: …` above the request.
    pub name: Option<String>,
    /// What is sent.
    pub request: Request,
    /// What is expected, if anything is.
    pub response: Option<Response>,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Where its method stands.
    pub at: At,
    /// Upper case letters.
    pub method: String,
    /// What follows the method.
    pub url: Template,
    /// In order.
    pub headers: Vec<KeyValue>,
    /// `[Query]`, `[QueryStringParams]`.
    pub query: Vec<KeyValue>,
    /// `[Form]`, `[FormParams]`.
    pub form: Vec<KeyValue>,
    /// `[Multipart]`, `[MultipartFormData]`.
    pub multipart: Vec<Part>,
    /// `[Cookies]`.
    pub cookies: Vec<KeyValue>,
    /// `[BasicAuth]`: user and password.
    pub basic_auth: Option<KeyValue>,
    /// `[Options]`, in order.
    pub options: Vec<EntryOption>,
    /// What is sent after the head.
    pub body: Option<Body>,
}

/// What is expected of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Where `HTTP` stands.
    pub at: At,
    /// The version.
    pub version: Version,
    /// The status; `None` is `*`.
    pub status: Option<u64>,
    /// Header fields that must be there, with these values.
    pub headers: Vec<KeyValue>,
    /// `[Captures]`, in order.
    pub captures: Vec<Capture>,
    /// `[Asserts]`, in order.
    pub asserts: Vec<Assert>,
    /// The body, exactly.
    pub body: Option<Body>,
}

/// The version of a response that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `HTTP`
    Any,
    /// `HTTP/1.0`
    Http10,
    /// `HTTP/1.1`
    Http11,
    /// `HTTP/2`
    Http2,
    /// `HTTP/3`
    Http3,
}

/// Text with variables in it. No two pieces of text are neighbours, and none is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// Where it begins.
    pub at: At,
    /// In order; none for the empty text.
    pub pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text as it is meant: escapes are resolved.
    Text(String),
    /// `{{…}}`
    Placeholder(Placeholder),
}

/// `{{name}}`, `{{newUuid}}`, `{{name urlEncode}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Placeholder {
    /// Where its name stands.
    pub at: At,
    /// What is put in its place.
    pub source: Source,
    /// What is done to it before.
    pub filters: Vec<Filter>,
}

/// What is put in place of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The value of a variable.
    Variable(String),
    /// `newUuid`: a random UUID (version 4), a new one each time.
    NewUuid,
    /// `newDate`: the time, UTC.
    NewDate,
}

/// `key: value`
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    /// Before the colon.
    pub key: Template,
    /// After it, without the spaces around.
    pub value: Template,
}

/// A part of a multipart form.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// `name: value`
    Field(KeyValue),
    /// `name: file,path; type`
    File {
        /// The name of the field.
        name: Template,
        /// The file.
        path: Template,
        /// Its type, if one is given.
        content_type: Option<Template>,
    },
}

/// `name: value` in `[Options]`.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryOption {
    /// Where its name stands.
    pub at: At,
    /// One of Hurl's options, as Hurl names it.
    pub name: &'static str,
    /// What it is set to.
    pub value: OptionValue,
}

/// What an option is set to. Which of these an option takes is Hurl's choice.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// `true`, `false`
    Boolean(bool),
    /// A whole number.
    Natural(u64),
    /// How often; `None` (-1) is without end.
    Count(Option<u64>),
    /// A time with or without its unit.
    Duration(u64, Option<TimeUnit>),
    /// Text to the end of the line.
    Text(Template),
    /// The name of a file.
    File(Template),
    /// `variable: name=value`
    Variable(String, VariableValue),
    /// A variable that holds any of the first four.
    Placeholder(Placeholder),
}

/// What a duration is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
    /// `m`
    Minutes,
    /// `h`
    Hours,
}

/// What `variable: name=value` sets a variable to.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableValue {
    /// `null`
    Null,
    /// `true`, `false`
    Boolean(bool),
    /// A number.
    Number(Number),
    /// Text, quoted or not.
    Text(Template),
}

/// A number as Hurl has them: no fraction is an integer, of any size.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// An integer of 64 bits.
    Integer(i64),
    /// A larger one, as its digits.
    BigInteger(String),
    /// With a fraction.
    Float(f64),
}

/// What is sent, or expected, after a head.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub value: BodyValue,
}

/// The kinds of bodies.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyValue {
    /// JSON with placeholders.
    Json(Json),
    /// XML, as it stands.
    Xml(String),
    /// Between lines of three backticks.
    Multiline(Multiline),
    /// Between backticks.
    Oneline(Template),
    /// `base64,…;` or `hex,…;`, decoded.
    Bytes(Vec<u8>),
    /// `file,…;`: its name.
    File(Template),
}

/// JSON as it was written, spaces and all, with its placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Json {
    /// In order. No two pieces of text are neighbours, and none is empty.
    pub pieces: Vec<JsonPiece>,
}

/// A part of a JSON document.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonPiece {
    /// JSON, with the quotation marks and escapes of its strings.
    Text(String),
    /// In a string: what is put in its place must be escaped.
    InString(Placeholder),
    /// A value of its own: a number, `true`, `false` or `null`.
    Value(Placeholder),
}

/// Text between lines of three backticks.
#[derive(Debug, Clone, PartialEq)]
pub enum Multiline {
    /// Without a kind.
    Text(Template),
    /// `json`
    Json(Template),
    /// `xml`
    Xml(Template),
    /// `raw`: `{{` has no meaning.
    Raw(String),
    /// `graphql`
    GraphQl {
        /// The query, with the spaces around it.
        query: Template,
        /// The object after `variables`, without spaces between its tokens.
        variables: Option<Json>,
    },
}
