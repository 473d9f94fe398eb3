//! A form as curl's options.

use ablaze_model::spec::{Body, FormField};

use super::{BODY_BYTES, fields, file};
use crate::words::for_shell;

/// `-F 'name=@a.png' --form-string 'b=c'`: each field as curl takes it.
pub fn words(form: &[FormField], have_placeholders: bool) -> Vec<String> {
    form.iter().map(|field| word(field, have_placeholders)).collect()
}

fn word(field: &FormField, have_placeholders: bool) -> String {
    let name = &field.name;
    let (content, usual) = match &field.content {
        Body::Given(bytes) => {
            let text = String::from_utf8_lossy(&bytes.0);
            let text = if have_placeholders { fields::filled(&text) } else { text.into_owned() };
            let text = if text.len() > BODY_BYTES { "VALUE".to_owned() } else { text };
            if field.filename.is_none() && field.content_type.is_none() {
                return format!("--form-string {}", for_shell(&format!("{name}={text}")));
            }
            (in_marks(&text), None)
        }
        Body::File(blob) if blob.name.is_empty() => ("<FILE".to_owned(), None),
        Body::File(blob) => {
            let path = file_word(&blob.name);
            match &field.filename {
                None => (format!("<{path}"), None),
                Some(_) => (format!("@{path}"), blob.name.rsplit('/').next()),
            }
        }
    };
    let mut word = format!("{name}={content}");
    let filename = field.filename.as_deref();
    if let Some(kind) = field.type_beside_name() {
        word += &format!(";type={kind}");
    }
    if let Some(filename) = filename.filter(|own| Some(*own) != usual) {
        word += &format!(";filename={}", in_marks(filename));
    }
    format!("-F {}", for_shell(&word))
}

fn file_word(name: &str) -> String {
    match file(Some(name)).as_ref() {
        "FILE" => "FILE".to_owned(),
        _ if name.contains([',', ';', '"', ' ']) => in_marks(name),
        _ => name.to_owned(),
    }
}

fn in_marks(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
