//! Responses that generated files ask for by name, and the paths into their JSON.

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub name: &'static str,
    pub status: u16,
    /// Lines, each with its end.
    pub fields: &'static str,
    pub body: &'static [u8],
    /// Whether the body is sent with gzip.
    pub is_compressed: bool,
    /// Paths worth asking for: into JSON, else none.
    pub paths: &'static [&'static str],
}

const JSON: &str = "Content-Type: application/json\r\n";

pub const REPLIES: &[Reply] = &[
    Reply {
        name: "kinds",
        status: 200,
        fields: JSON,
        body: br#"{"id": 7, "pi": 3.14, "whole": 2.0, "big": 123456789012345678901, "neg": -5, "exp": 1e3, "yes": true,
            "nil": null, "text": "a b", "nothing": "", "list": [1, 2.0, "x", null, {"k": "v"}, true], "one": [9], "none": [],
            "object": {"b": 2, "a": 1}, "date": "2021-01-13T22:23:01.123Z", "ip": "127.0.0.1", "ip6": "fe80::1",
            "uuid": "67e55044-10b1-426f-9247-bb680e5fe0c8", "inner": "{\"in\": [5, \"six\"]}", "html": "&lt;a&gt; &copy; &#x26;",
            "url": "http://h/p?a=1&b=x%20y+z", "b64": "SGVsbG8=", "url64": "_-8", "real": "1.5", "digits": "42",
            "odd key": 1, "\u00e9": "\u00e9\ud83d\ude00", "lines": "one\ntwo\r\n\tthree", "price": "costs 12.50 EUR"}"#,
        is_compressed: false,
        paths: &[
            "$.id", "$.pi", "$.whole", "$.big", "$.neg", "$.exp", "$.yes", "$.nil", "$.text", "$.nothing", "$.list",
            "$.list[0]", "$.list[-1]", "$.list[4].k", "$.list[9]", "$.list[*]", "$.one", "$.one[*]", "$.none", "$.none[*]",
            "$.object", "$.object.a", "$.object.*", "$.date", "$.ip", "$.ip6", "$.uuid", "$.inner", "$.html", "$.url",
            "$.b64", "$.url64", "$.real", "$.digits", "$['odd key']", "$['é']", "$.lines", "$.price", "$.gone", "$", "$.*",
        ],
    },
    Reply {
        name: "users",
        status: 200,
        fields: "Content-Type: application/json; charset=utf-8\r\nX-Total: 3\r\nETag: \"abc\"\r\n",
        body: br#"[{"name": "ann", "tags": ["x", "y"], "age": 30}, {"name": "bob", "tags": [], "age": 31.5},
            {"name": "cyd", "tags": ["z"], "address": {"city": "Rome", "zip": "00100"}}]"#,
        is_compressed: false,
        paths: &[
            "$", "$[0]", "$[-1].address", "$[0].tags", "$[*].name", "$[*].tags[*]", "$[*].age", "$[1].tags", "$[1].age",
            "$[2].address.city", "$[7]", "$[*].address.zip", "$[0]['name']", "$[0].*", "$.name",
        ],
    },
    Reply {
        name: "packed",
        status: 200,
        fields: JSON,
        body: br#"{"packed": true, "items": [{"id": 1}, {"id": 2}, {"id": 3}]}"#,
        is_compressed: true,
        paths: &["$.packed", "$.items", "$.items[*].id", "$.items[1].id", "$.items[3]"],
    },
    Reply {
        name: "text",
        status: 200,
        fields: "Content-Type: text/plain; charset=utf-8\r\nX-Empty:\r\nX-Many: one\r\nx-many: two\r\n",
        body: "Hello w\u{f6}rld, token=abc123; 7 of 9\nsecond line \u{1f600}\n".as_bytes(),
        is_compressed: false,
        paths: &["$.a"],
    },
    Reply {
        name: "latin",
        status: 201,
        fields: "Content-Type: text/html; charset=ISO-8859-1\r\nLocation: /r/text\r\n",
        body: b"<p>caf\xe9 &amp; th\xe9</p>",
        is_compressed: false,
        paths: &["$"],
    },
    Reply {
        name: "octets",
        status: 200,
        fields: "Content-Type: application/octet-stream\r\n",
        body: b"\x00\x01\xff\xfeabc",
        is_compressed: false,
        paths: &["$"],
    },
    Reply {
        name: "empty",
        status: 204,
        fields: "X-Reason: nothing here\r\n",
        body: b"",
        is_compressed: false,
        paths: &["$.a"],
    },
    Reply {
        name: "missing",
        status: 404,
        fields: JSON,
        body: br#"{"error": "not found", "code": 404}"#,
        is_compressed: false,
        paths: &["$.error", "$.code", "$.none"],
    },
    Reply {
        name: "broken",
        status: 500,
        fields: JSON,
        body: br#"{"error": "#,
        is_compressed: false,
        paths: &["$.error"],
    },
    Reply {
        name: "cookies",
        status: 200,
        fields: "Set-Cookie: session=s1; Path=/; HttpOnly; SameSite=Lax\r\nSet-Cookie: theme=dark; Max-Age=3600; Path=/\r\n\
                 Set-Cookie: gone=x; Max-Age=0; Path=/\r\nSet-Cookie: deep=d; Path=/r\r\n\
                 Set-Cookie: safe=1; Secure\r\nSet-Cookie: quoted=\"a b\"; Expires=Wed, 13 Jan 2100 22:23:01 GMT\r\n",
        body: b"{}",
        is_compressed: false,
        paths: &["$"],
    },
];

/// The reply of this name.
pub fn named(name: &str) -> Option<&'static Reply> {
    REPLIES.iter().find(|reply| reply.name == name)
}
