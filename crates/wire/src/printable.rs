//! Text of others (a server's header fields, names in certificates, names of processes, a file that somebody else
//! wrote) as a terminal, a file or a page may show it: what would command a terminal, reorder a line or hide in it
//! is spelled out, as `\u{1b}`, `\x00` or `\n`. Whoever takes such text in calls [`printable`]; whatever leaves
//! the program as a report goes through [`report`] once more.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character commands a terminal, changes the order of others, or takes no room: C0 and C1 controls,
/// marks and overrides of bidirectional text, line and paragraph separators, zero-width and filling characters, tags.
pub fn is_hostile(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Text of others for one line.
pub fn printable(text: &str) -> Cow<'_, str> {
    spelled(text, |_| false)
}

/// Text of others with its lines and tabs; also `\r\n` is the end of a line.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        let text = text.replace("\r\n", "\n");
        return Cow::Owned(spelled(&text, is_layout).into_owned());
    }
    spelled(text, is_layout)
}

/// A whole report on its way out: with its lines and tabs, and nothing else that is hostile. In JSON the same characters
/// are spelled as JSON spells them, so that a reader gets what was written.
pub fn report(text: &str) -> Cow<'_, str> {
    whole(text, |text| spelled(text, is_layout))
}

/// The same of a report in which ablaze put colours: these stay. Every text of others in it has to be
/// [`printable`] already, because nobody can tell its colours from ablaze's.
pub fn coloured_report(text: &str) -> Cow<'_, str> {
    whole(text, coloured)
}

fn whole(text: &str, lines: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    const LINE_END: &str = "\r\n";
    if text.starts_with(['{', '[']) {
        json(text)
    } else if text.contains(LINE_END) {
        // As CSV has it.
        Cow::Owned(text.split(LINE_END).map(lines).collect::<Vec<_>>().join(LINE_END))
    } else {
        lines(text)
    }
}

/// JSON with hostile characters spelled as `\u202e`: they stand in strings only, where both are the same
/// (RFC 8259, 7).
pub fn json(text: &str) -> Cow<'_, str> {
    let is_spelled = |c: char| is_hostile(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if is_spelled(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn coloured(text: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return spelled(text, is_layout);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        out.push_str(&spelled(&rest[..at], is_layout));
        let length = colour_bytes(&rest[at..]).unwrap_or(0);
        if length == 0 {
            out.push_str("\\u{1b}");
        }
        out.push_str(&rest[at..at + length]);
        rest = &rest[at + length.max(ESCAPE.len_utf8())..];
    }
    out.push_str(&spelled(rest, is_layout));
    Cow::Owned(out)
}

/// Bytes of the colour that this begins with: `ESC [ 31 m`, of at most two digits.
fn colour_bytes(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("\u{1b}[")?;
    let end = digits.find('m').filter(|end| (1..=2).contains(end))?;
    digits[..end].bytes().all(|byte| byte.is_ascii_digit()).then_some(end + 3)
}

fn is_layout(character: char) -> bool {
    matches!(character, '\n' | '\t')
}

fn spelled(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_spelled = |character: char| is_hostile(character) && !stays(character);
    if !text.contains(is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_spelled(character) {
            match character {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // As C writes it; with both digits, as another may follow.
                '\0' => out.push_str("\\x00"),
                _ => {
                    let _ = write!(out, "{}", character.escape_unicode());
                }
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every() -> String {
        (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_hostile(*c)).collect()
    }

    #[test]
    fn controls_and_formats_of_unicode_are_hostile() {
        assert!((0..=0x9f).filter_map(char::from_u32).filter(|c| c.is_control()).all(is_hostile));
        for code in [0xad, 0x61c, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xe0041] {
            assert!(is_hostile(char::from_u32(code).unwrap()), "{code:x}");
        }
        for code in (0x202a..=0x202e).chain(0x2060..=0x206f) {
            assert!(is_hostile(char::from_u32(code).unwrap()), "{code:x}");
        }
        assert!("aZ 9\\\"'<é漢🙂µ–−█▏│".chars().all(|c| !is_hostile(c)));
    }

    #[test]
    fn nothing_hostile_is_left_and_the_rest_is_as_it_was() {
        let text = format!("a{}é\\\"", every());
        let shown = printable(&text);
        assert!(!shown.contains(is_hostile), "{shown}");
        assert!(shown.starts_with('a') && shown.ends_with("é\\\""), "{shown}");
        assert_eq!(printable("x\u{1b}[2J\r\n\u{202e}\u{9b}1"), r"x\u{1b}[2J\r\n\u{202e}\u{9b}1");
        assert_eq!(printable("a\0\x001"), r"a\x00\x001");
        assert!(matches!(printable("plain é"), Cow::Borrowed(_)));
    }

    #[test]
    fn it_can_be_shown_twice() {
        let once = printable("\u{202e}\t").into_owned();
        assert_eq!(printable(&once), once);
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(printable_lines("a\r\nb\tc\rd\u{7f}\n"), "a\nb\tc\\rd\\u{7f}\n");
    }

    #[test]
    fn reports_keep_their_colours_and_no_other_sequence() {
        let own = "\u{1b}[1m208\u{1b}[0m/s\n\u{1b}[31mfailed\u{1b}[0m\n";
        assert_eq!(coloured_report(own), own);
        let hostile = "\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}[1;31m\u{1b}[m\u{1b}\u{1b}[0m\u{9b}";
        let shown = r"\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}[1;31m\u{1b}[m\u{1b}".to_owned();
        assert_eq!(coloured_report(hostile), shown + "\u{1b}[0m\\u{9b}");
        assert_eq!(report("a,b\r\nc\rd\r\n"), "a,b\r\nc\\rd\r\n");
    }

    /// Who wrote it is not known: a title may be concealed, or what follows it.
    #[test]
    fn a_report_without_colours_has_none_of_others_either() {
        let hostile = "A\u{1b}[8m hidden \u{1b}[0m B\n\u{1b}[31mred";
        let shown = "A\\u{1b}[8m hidden \\u{1b}[0m B\n\\u{1b}[31mred";
        assert_eq!(report(hostile), shown);
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let text = every() + "é😀";
        let written = format!("{{\n  \"a\": {}\n}}\n", serde_json::to_string(&text).unwrap());
        let shown = report(&written);
        assert!(!shown.replace('\n', "").contains(is_hostile), "{shown}");
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read["a"], text);
    }
}
