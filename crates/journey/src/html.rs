//! HTML's escapes. Names are those of HTML 4 (252, and `apos`); HTML 5's many others stay as they are.

/// From U+00A0 on.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
    sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
    times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave \
    eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute \
    ucirc uuml yacute thorn yuml";

/// From U+0391 on; `-` is a place without a name.
const GREEK: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma \
    Tau Upsilon Phi Chi Psi Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu \
    xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";

/// Names, each with its character.
const OTHERS: &str = "quot\" amp& lt< gt> apos' OEligŒ oeligœ ScaronŠ scaronš YumlŸ circˆ tilde˜ fnofƒ thetasymϑ \
    upsihϒ pivϖ ensp\u{2002} emsp\u{2003} thinsp\u{2009} zwnj\u{200c} zwj\u{200d} lrm\u{200e} rlm\u{200f} ndash– mdash— \
    lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ dagger† Dagger‡ bull• hellip… permil‰ prime′ Prime″ lsaquo‹ rsaquo› \
    oline‾ frasl⁄ euro€ imageℑ weierp℘ realℜ trade™ alefsymℵ larr← uarr↑ rarr→ darr↓ harr↔ crarr↵ lArr⇐ uArr⇑ rArr⇒ \
    dArr⇓ hArr⇔ forall∀ part∂ exist∃ empty∅ nabla∇ isin∈ notin∉ ni∋ prod∏ sum∑ minus− lowast∗ radic√ prop∝ infin∞ ang∠ \
    and∧ or∨ cap∩ cup∪ int∫ there4∴ sim∼ cong≅ asymp≈ ne≠ equiv≡ le≤ ge≥ sub⊂ sup⊃ nsub⊄ sube⊆ supe⊇ oplus⊕ otimes⊗ \
    perp⊥ sdot⋅ lceil⌈ rceil⌉ lfloor⌊ rfloor⌋ lang⟨ rang⟩ loz◊ spades♠ clubs♣ hearts♥ diams♦";

/// Replaces the characters that have a meaning in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            other => out.push(other),
        }
    }
    out
}

/// Replaces `&gt;`, `&#62;`, `&#x3e;` by what they stand for.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, length) = reference(&rest[1..]).unwrap_or(('&', 0));
        out.push(character);
        rest = &rest[1 + length..];
    }
    out + rest
}

/// What follows `&`: the character, and how long its reference is.
fn reference(rest: &str) -> Option<(char, usize)> {
    let Some(number) = rest.strip_prefix('#') else {
        let (name, _) = rest.split_once(';').filter(|(name, _)| name.len() <= 8)?;
        return named(name).map(|character| (character, name.len() + 1));
    };
    let (digits, radix, mark) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 2),
        None => (number, 10, 1),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let code = u32::from_str_radix(&digits[..length], radix).unwrap_or(u32::MAX);
    let end = usize::from(digits[length..].starts_with(';'));
    Some((numbered(code), mark + length + end))
}

fn numbered(code: u32) -> char {
    match code {
        0 => '\u{fffd}',
        // What the web means by these are characters of windows-1252.
        0x80..=0x9f => crate::response::windows_1252(code as u8),
        _ => char::from_u32(code).unwrap_or('\u{fffd}'),
    }
}

fn named(name: &str) -> Option<char> {
    let place = |list: &str, first: u32| {
        let at = list.split_ascii_whitespace().position(|own| own == name && own != "-")?;
        char::from_u32(first + at as u32)
    };
    let other = || {
        let entry = OTHERS
            .split(' ')
            .find(|entry| entry.strip_prefix(name).is_some_and(|rest| rest.chars().count() == 1))?;
        entry.chars().last()
    };
    place(LATIN, 0xa0).or_else(|| place(GREEK, 0x391)).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        let cases = [
            ("Foo &copy; bar &#x1D306;", "Foo © bar 𝌆"),
            ("&lt;&#60;&#x3C;&amp;lt;", "<<<&lt;"),
            ("&yuml;&nbsp;&Alpha;&Omega;&alpha;&omega;&sigmaf;", "ÿ\u{a0}ΑΩαως"),
            ("&euro;&diams;&apos;&quot;&sub;&sube;", "€♦'\"⊂⊆"),
            ("&#128;&#0;&#xd800;&#99999999999;", "€\u{fffd}\u{fffd}\u{fffd}"),
            ("a & b &unknown; &; &#; &-;", "a & b &unknown; &; &#; &-;"),
        ];
        for (text, expected) in cases {
            assert_eq!(unescape(text), expected, "{text}");
        }
        assert_eq!(unescape(&escape("<a href=\"b\">'&'</a>")), "<a href=\"b\">'&'</a>");
    }
}
