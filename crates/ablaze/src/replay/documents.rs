//! The five documents.

use super::document::{Document, Line, Server, Then};

/// All of them, by number.
pub const ALL: [&Document; 1] = [&GURL_AND_AB];

/// The text of a file in `experiments/`.
macro_rules! experiment {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../experiments/", $name)))
    };
}

/// The figures of a document, as the tests of the reader of printed reports have them.
macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!("../../../verdict/tests/printed/", $name))
    };
}

/// gurl against ab.
const GURL_AND_AB: Document = Document {
    number: "000",
    title: "gurl against ab",
    about: "gurl against ab on gurl's own echo server, which answers nothing",
    source: "guonaihong/gurl, the page gurl_vs_ab of May 2018",
    did: &[
        "One run each of gurl and ab against gurl's own server: a million requests, 21 at a time. \
         gurl came to 4.3 times the rate of ab, and the page puts that down to ab's single thread.",
        "ab's command line is not printed; the one below is what its report says of it.",
    ],
    printed: &[printed!("000-gurl-and-ab.txt")],
    lines: || {
        let line = |name: &str, words: &str, report| Line {
            name: name.to_owned(),
            words: words.to_owned(),
            server: Server::BuiltIn("--like gurl-echo"),
            then: Then::Report(report),
            quick: 50_000,
            in_quick: true,
        };
        vec![
            line("gurl", "gurl -ac 21 -an 1000000 -bench :12345", 0),
            line("ab", "ab -n 1000000 -c 21 http://127.0.01:12345/", 1),
        ]
    },
    times: 1,
    wrong: &[
        "gurl kept 21 connections and sent HTTP/1.1; ab opened 1,000,000 and sent HTTP/1.0. Neither report \
         prints it: the ratio of 4.3 is one of connections as much as of threads.",
        "Both totals are 137,000,000 bytes, which proves nothing: gurl recomputed the size of the heads \
         from what it had parsed.",
        "The machine, its cores and the versions are not named, the server shared the machine with the \
         testers, and there is one run of each. That more cores favour gurl was not measured.",
    ],
    files: &[experiment!("000-gurl-and-ab.toml"), experiment!("000-tester-threads.toml")],
    asks: "Both testers on the same connections, and ablaze over its own threads.",
};
