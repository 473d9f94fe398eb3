//! Forms as the bodies of requests: `multipart/form-data` as curl writes it, with a boundary that follows from what is
//! sent, so that the same form has the same bytes in every run.

use std::sync::Arc;

use ablaze_model::spec::{Body, FormField};
use ablaze_wire::http1::builder::BodyPart;
use ablaze_wire::multipart::{Body as Multipart, MultipartError, Part, content_type};

use crate::Error;

/// The body that a form makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Value of Content-Type.
    pub content_type: String,
    /// The body. Placeholders stand in its text; files are sent as they are.
    pub parts: Vec<BodyPart>,
}

impl Form {
    /// That of these fields.
    ///
    /// # Errors
    /// When the bytes of a file are not here, or a content type would end its line.
    pub fn of(fields: &[FormField]) -> Result<Self, Error> {
        let parts: Vec<Part<'_>> = fields.iter().map(part).collect::<Result<_, _>>()?;
        let mut hash = fingerprint(&parts);
        loop {
            // As long as curl's, so that the lengths of bodies are the same.
            let boundary = format!("------------------------{hash:016x}");
            match Multipart::new(&parts, &boundary) {
                Ok(body) => {
                    let parts = body_parts(&body, fields)?;
                    return Ok(Self { content_type: content_type(&boundary), parts });
                }
                Err(MultipartError::Occurs(_)) => hash = hash.wrapping_add(1),
                Err(error) => return Err(Error::usage(format!("-F: {error}"))),
            }
        }
    }
}

fn part(field: &FormField) -> Result<Part<'_>, Error> {
    let content = match &field.content {
        Body::Given(bytes) => &bytes.0[..],
        Body::File(blob) => blob.bytes()?,
    };
    let (filename, content_type) = (field.filename.as_deref(), field.content_type.as_deref());
    Ok(Part { name: &field.name, filename, content_type, content })
}

/// What stands between contents is text, and so are those that were typed.
fn body_parts(body: &Multipart<'_>, fields: &[FormField]) -> Result<Vec<BodyPart>, Error> {
    let mut slices = body.slices();
    let mut parts = Vec::with_capacity(2 * fields.len() + 1);
    for field in fields {
        parts.extend(slices.next().map(|head| BodyPart::Text(head.into())));
        let content = slices.next().unwrap_or_default();
        parts.push(match &field.content {
            Body::Given(_) => BodyPart::Text(content.into()),
            Body::File(blob) => BodyPart::Constant(Arc::clone(&blob.shared()?)),
        });
    }
    parts.extend(slices.map(|end| BodyPart::Text(end.into())));
    Ok(parts)
}

/// FNV-1a, 64 bits, of all that is sent.
fn fingerprint(parts: &[Part<'_>]) -> u64 {
    let words = parts.iter().flat_map(|part| {
        let typed = [part.filename, part.content_type].map(|word| word.unwrap_or_default());
        [part.name.as_bytes(), typed[0].as_bytes(), typed[1].as_bytes(), part.content]
    });
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        // No byte of UTF-8: words that are divided elsewhere are others.
        add(word.iter().fold(hash, add), &0xff)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::spec::Blob;

    fn field(name: &str, content: Body) -> FormField {
        FormField { name: name.into(), content, filename: None, content_type: None }
    }

    #[test]
    fn the_same_form_has_the_same_bytes_and_another_a_boundary_of_its_own() {
        let form = |value: &str| Form::of(&[field("a", Body::Given(value.into()))]).unwrap();
        assert_eq!(form("1"), form("1"));
        assert_ne!(form("1").content_type, form("2").content_type);
        let boundary = form("1").content_type.rsplit_once('=').unwrap().1.to_owned();
        assert_eq!(boundary.len(), 40);
    }

    #[test]
    fn files_are_no_text_and_are_not_copied() {
        let file = Blob::new("f", b"{seq}".to_vec());
        let fields =
            [field("f", Body::File(file.clone())), field("t", Body::Given("{seq}".into()))];
        let form = Form::of(&fields).unwrap();
        let BodyPart::Constant(bytes) = &form.parts[1] else { panic!("{:?}", form.parts) };
        assert!(Arc::ptr_eq(bytes, &file.shared().unwrap()));
        assert_eq!(form.parts[3], BodyPart::Text((*b"{seq}").into()));
        assert_eq!(form.parts.len(), 5);
    }
}
