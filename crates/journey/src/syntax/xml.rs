//! How far an XML body goes: to the end of its root element. It is not checked beyond what that needs.

use super::reader::{Parsed, Reader};

/// Reads what may stand before the root element, and that element.
pub(super) fn xml(reader: &mut Reader<'_>) -> Parsed<String> {
    let start = reader.offset();
    let mut open: Vec<&str> = Vec::new();
    loop {
        let mut may_be_root = false;
        if reader.eat("<?") {
            pass(reader, "?>")?;
        } else if reader.eat("<!--") {
            pass(reader, "-->")?;
        } else if reader.eat("<![CDATA[") {
            pass(reader, "]]>")?;
        } else if reader.eat("<!") {
            declaration(reader)?;
        } else if reader.sees("</") {
            end_tag(reader, open.pop())?;
            may_be_root = true;
        } else {
            reader.expect("<")?;
            let name = name(reader)?;
            if rest_of_tag(reader)? {
                may_be_root = true;
            } else {
                open.push(name);
            }
        }
        if may_be_root && open.is_empty() {
            return Ok(reader.since(start).to_owned());
        }
        if open.is_empty() {
            reader.take_while(char::is_whitespace);
        } else {
            reader.take_while(|c| c != '<');
        }
        if reader.is_end() {
            return match open.last() {
                Some(name) => reader.fail(format!("`</{name}>`")),
                None => reader.fail("an XML element"),
            };
        }
    }
}

/// Reads up to `end`, and that.
fn pass(reader: &mut Reader<'_>, end: &str) -> Parsed<()> {
    let Some(length) = reader.rest().find(end) else {
        return reader.fail(format!("`{end}` somewhere below"));
    };
    reader.seek(reader.offset() + length + end.len());
    Ok(())
}

fn name<'a>(reader: &mut Reader<'a>) -> Parsed<&'a str> {
    let name = reader.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'));
    if name.is_empty() { reader.fail("the name of an XML element") } else { Ok(name) }
}

/// The rest of `<!DOCTYPE …>`, whose declarations may stand between brackets.
fn declaration(reader: &mut Reader<'_>) -> Parsed<()> {
    let mut depth = 1;
    while depth > 0 {
        reader.take_while(|c| !matches!(c, '<' | '>' | '"' | '\''));
        match reader.next() {
            Some('<') => depth += 1,
            Some('>') => depth -= 1,
            Some(quote) => pass(reader, &quote.to_string())?,
            None => return reader.fail("`>`"),
        }
    }
    Ok(())
}

fn end_tag(reader: &mut Reader<'_>, open: Option<&str>) -> Parsed<()> {
    let Some(open) = open else { return reader.fail("an XML element") };
    let start = reader.offset();
    reader.expect("</")?;
    if name(reader)? != open {
        reader.seek(start);
        return reader.fail(format!("`</{open}>`"));
    }
    reader.take_while(char::is_whitespace);
    reader.expect(">")
}

/// The attributes of a tag and its end; whether the element ends with it.
fn rest_of_tag(reader: &mut Reader<'_>) -> Parsed<bool> {
    loop {
        reader.take_while(|c| !matches!(c, '<' | '>' | '"' | '\'' | '/'));
        match reader.peek() {
            Some(quote @ ('"' | '\'')) => {
                reader.next();
                pass(reader, &quote.to_string())?;
            }
            Some('/') => {
                reader.next();
                if reader.eat(">") {
                    return Ok(true);
                }
            }
            Some('>') => {
                reader.next();
                return Ok(false);
            }
            _ => return reader.fail("`>`"),
        }
    }
}
