//! The body of a request, drafted before its head, which tells its length.

use crate::checks::Failure;
use crate::journey::{FormPart, Step, StepBody, content_type_of};
use crate::request::{Files, Sending, shown};
use crate::template::Template;
use crate::variables::{Moment, Variables};

/// Where a body is.
pub(crate) enum Content<'a> {
    None,
    Drafted,
    File(&'a [u8]),
}

impl Step {
    /// What stands between the parts of its form, if it sends one.
    pub(crate) fn boundary<M: Moment>(&self, sending: &mut Sending<'_, M>) -> Option<Boundary> {
        let is_form = matches!(self.body, StepBody::Multipart(_)) && !sending.redirect.is_get;
        is_form.then(|| boundary_of(sending.moment.random()))
    }

    pub(crate) fn draft_body<'f, M: Moment>(
        &self,
        sending: &mut Sending<'_, M>,
        files: &'f Files,
        boundary: Option<&Boundary>,
    ) -> Result<Content<'f>, Failure> {
        let (variables, moment) = (sending.variables, &mut *sending.moment);
        let body = &mut sending.drafts.body;
        body.clear();
        match &self.body {
            StepBody::None => Ok(Content::None),
            StepBody::Template(template) => {
                let rendered = template.render(variables, moment, body);
                rendered.map_err(|error| self.unrendered(&error))?;
                Ok(Content::Drafted)
            }
            StepBody::File(name) => Ok(Content::File(self.file(name, files)?)),
            StepBody::Multipart(parts) => {
                let boundary: &[u8] = boundary.map_or(&[], |boundary| boundary);
                for part in parts {
                    body.extend(b"--");
                    body.extend_from_slice(boundary);
                    let drafted = self.draft_part(part, variables, moment, files, body);
                    drafted?;
                    body.extend(b"\r\n");
                }
                body.extend(b"--");
                body.extend_from_slice(boundary);
                body.extend(b"--\r\n");
                Ok(Content::Drafted)
            }
        }
    }

    fn draft_part(
        &self,
        part: &FormPart,
        variables: &Variables,
        moment: &mut impl Moment,
        files: &Files,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut put = |template: &Template, out: &mut Vec<u8>| {
            template.render(variables, moment, out).map_err(|error| self.unrendered(&error))
        };
        out.extend(b"\r\nContent-Disposition: form-data; name=\"");
        match part {
            FormPart::Field(name, value) => {
                let start = out.len();
                put(name, out)?;
                escape_from(start, out);
                out.extend(b"\"\r\n\r\n");
                put(value, out)
            }
            FormPart::File(name, file, content_type) => {
                let start = out.len();
                put(name, out)?;
                escape_from(start, out);
                out.extend(b"\"; filename=\"");
                let path = file.as_constant().unwrap_or_default();
                let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                let start = out.len();
                out.extend_from_slice(last);
                escape_from(start, out);
                out.extend(b"\"\r\nContent-Type: ");
                let start = out.len();
                match content_type {
                    Some(given) => put(given, out)?,
                    None => out.extend(
                        content_type_of(std::str::from_utf8(last).unwrap_or_default()).as_bytes(),
                    ),
                }
                if memchr::memchr3(b'\r', b'\n', 0, &out[start..]).is_some() {
                    let message =
                        "the type of a part has a line end or a zero byte in it".to_owned();
                    return Err(Failure { line: self.line, message });
                }
                out.extend(b"\r\n\r\n");
                out.extend_from_slice(self.file(file, files)?);
                Ok(())
            }
        }
    }

    fn file<'f>(&self, name: &Template, files: &'f Files) -> Result<&'f [u8], Failure> {
        let name = name.as_constant().unwrap_or_default();
        files.get(name).map(|bytes| &**bytes).ok_or_else(|| {
            let message = format!("the file {} is not here", shown(name));
            Failure { line: self.line, message }
        })
    }
}

/// Dashes and 22 random characters, as curl has them: they do not occur in any content.
pub(crate) type Boundary = [u8; 24 + 22];

fn boundary_of(random: u128) -> Boundary {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ab";
    let mut rest = random;
    let mut boundary = [b'-'; size_of::<Boundary>()];
    for place in &mut boundary[24..] {
        *place = CHARACTERS[(rest & 63) as usize];
        rest >>= 6;
    }
    boundary
}

/// A name inside quotation marks, as browsers and curl write it.
fn escape_from(start: usize, out: &mut Vec<u8>) {
    if memchr::memchr3(b'"', b'\r', b'\n', &out[start..]).is_none() {
        return;
    }
    let plain = out.split_off(start);
    for byte in plain {
        match byte {
            b'"' => out.extend(b"%22"),
            b'\r' => out.extend(b"%0D"),
            b'\n' => out.extend(b"%0A"),
            _ => out.push(byte),
        }
    }
}
