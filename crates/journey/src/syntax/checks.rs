//! What a Hurl file asks of a response, as data: captures and asserts with their queries, filters and predicates. The
//! rest of the tree is in [`tree`](super::tree).

use super::tree::{At, Multiline, Number, Placeholder, Template};

/// `name: query filters`
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The variable.
    pub name: Template,
    /// What is captured.
    pub query: Query,
    /// What is done to it.
    pub filters: Vec<Filter>,
    /// `redact`: its value is a secret.
    pub redacted: bool,
}

/// `query filters predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct Assert {
    /// What is looked at.
    pub query: Query,
    /// What is done to it.
    pub filters: Vec<Filter>,
    /// What must be true of it.
    pub predicate: Predicate,
}

/// What is looked at, of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Where it begins.
    pub at: At,
    /// What of the response it takes.
    pub kind: QueryKind,
}

/// The queries. Each is named as in a file.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum QueryKind {
    Status,
    Version,
    Url,
    Header(Template),
    Cookie { name: Template, attribute: Option<CookieAttribute> },
    Body,
    Xpath(Template),
    Jsonpath(Template),
    Regex(Pattern),
    Variable(Template),
    Duration,
    Bytes,
    RawBytes,
    Sha256,
    Md5,
    Certificate(&'static str),
    Ip,
    Redirects,
}

/// What of a cookie: `cookie "name[Path]"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CookieAttribute {
    Value,
    Expires,
    MaxAge,
    Domain,
    Path,
    Secure,
    HttpOnly,
    SameSite,
}

/// A regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// `"…"`
    Text(Template),
    /// `/…/`, without the slashes.
    Literal(String),
}

/// What is done to a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Where it begins.
    pub at: At,
    /// What it does to the value.
    pub kind: FilterKind,
}

/// The filters. Each is named as in a file.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum FilterKind {
    Base64Decode,
    Base64Encode,
    Base64UrlSafeDecode,
    Base64UrlSafeEncode,
    /// `charsetDecode`, and `decode`, its older name.
    CharsetDecode(Template),
    Count,
    DaysAfterNow,
    DaysBeforeNow,
    First,
    /// `dateFormat`, and `format`, its older name.
    DateFormat(Template),
    HtmlEscape,
    HtmlUnescape,
    Jsonpath(Template),
    Last,
    Location,
    Nth(NthIndex),
    Regex(Pattern),
    Replace(Template, Template),
    ReplaceRegex(Pattern, Template),
    Split(Template),
    ToDate(Template),
    ToFloat,
    ToHex,
    ToInt,
    ToString,
    UrlDecode,
    UrlEncode,
    UrlQueryParam(Template),
    Utf8Decode,
    Utf8Encode,
    Xpath(Template),
}

/// Which element; from the end if it is negative.
#[derive(Debug, Clone, PartialEq)]
pub enum NthIndex {
    /// A number.
    Literal(i64),
    /// A variable that holds one.
    Placeholder(Placeholder),
}

/// What must be true of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// Where it begins, after `not`.
    pub at: At,
    /// Whether `not` stands before it.
    pub not: bool,
    /// The comparison that decides.
    pub test: Test,
}

/// The predicates. Each is named as in a file.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Test {
    Equal(PredicateValue),
    NotEqual(PredicateValue),
    Greater(PredicateValue),
    GreaterOrEqual(PredicateValue),
    Less(PredicateValue),
    LessOrEqual(PredicateValue),
    StartsWith(PredicateValue),
    EndsWith(PredicateValue),
    Contains(PredicateValue),
    /// The older name of `contains` for lists.
    Includes(PredicateValue),
    Matches(PredicateValue),
    Exists,
    Is(Kind),
}

/// What `is…` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Boolean,
    Collection,
    Date,
    Empty,
    Float,
    Integer,
    Ipv4,
    Ipv6,
    IsoDate,
    List,
    Number,
    Object,
    String,
    Uuid,
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum PredicateValue {
    Null,
    Boolean(bool),
    Number(Number),
    /// `file,…;`
    File(Template),
    /// `hex,…;` and `base64,…;`
    Bytes(Vec<u8>),
    Placeholder(Placeholder),
    /// `"…"` and `` `…` ``
    Text(Template),
    Multiline(Multiline),
    /// `/…/`
    Regex(String),
}
