//! A form that is sent as `multipart/form-data`: its fields, with the files that some of them are.

use ablaze_wire::multipart::content_type_of;
use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::requests::Body;

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    /// Its name.
    pub name: String,
    /// What it holds: a text, in which placeholders are filled in, or a file, which is sent as it is.
    pub content: Body,
    /// The name that it is sent under, if it is sent as a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Content-Type of this part; `None` sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

impl FormField {
    /// Its Content-Type, where that is not the one that its file name says.
    pub fn type_beside_name(&self) -> Option<&str> {
        let by_name = self.filename.as_deref().map(content_type_of);
        self.content_type.as_deref().filter(|own| Some(*own) != by_name)
    }
}

/// The files that fields are.
pub(super) fn files(fields: &[FormField]) -> impl Iterator<Item = &Blob> {
    fields.iter().filter_map(|field| field.content.file())
}

/// The same, to put their bytes beside them.
pub(super) fn files_mut(fields: &mut [FormField]) -> impl Iterator<Item = &mut Blob> {
    fields.iter_mut().filter_map(|field| field.content.file_mut())
}
