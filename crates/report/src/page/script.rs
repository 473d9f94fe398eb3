//! The script of a page: its parts, in the order in which they need each other, inside of one function, so that
//! nothing but `window.ablazeCharts` is seen from outside.

/// Each part is a file with one idea; a part uses what stands above it.
const PARTS: [&str; 2] = [include_str!("script/copy.js"), include_str!("script/attach.js")];

/// The script, for an element of a page that is XML as well: in a CDATA section, which HTML takes for a comment.
pub(super) fn text() -> String {
    format!("//<![CDATA[\n(() => {{\n\"use strict\";\n{}}})();\n//]]>\n", PARTS.concat())
}
