//! The script of a page: its parts, in the order in which they need each other, inside of one function, so that
//! nothing but `window.ablazeCharts` is seen from outside.

/// Each part is a file with one idea; a part uses what stands above it.
const PARTS: [&str; 12] = [
    include_str!("script/copy.js"),
    include_str!("script/number.js"),
    include_str!("script/axis.js"),
    include_str!("script/chart.js"),
    include_str!("script/draw.js"),
    include_str!("script/cursor.js"),
    include_str!("script/zoom.js"),
    include_str!("script/legend.js"),
    include_str!("script/keys.js"),
    include_str!("script/save.js"),
    include_str!("script/menu.js"),
    include_str!("script/attach.js"),
];

/// The script, for an element of a page that is XML as well: in a CDATA section, which HTML takes for a comment. What
/// is for readers of the parts, comments on lines of their own and the room before a line, stays with them.
pub(super) fn text() -> String {
    let lines = PARTS.iter().flat_map(|part| part.lines()).map(str::trim_start);
    let code: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    format!("//<![CDATA[\n(() => {{\n\"use strict\";\n{}\n}})();\n//]]>\n", code.join("\n"))
}
