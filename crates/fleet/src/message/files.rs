//! The files of a load as they travel: the same for all workers, so that one copy of them is in memory, however many there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of files in base64, by SHA-256. A clone is the same files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files(Arc<BTreeMap<String, String>>);

impl Files {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file with this SHA-256.
    pub fn get(&self, sha256: &str) -> Option<&str> {
        self.0.get(sha256).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Files {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(files: I) -> Self {
        Self(Arc::new(files.into_iter().collect()))
    }
}

impl Serialize for Files {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(|files| Self(Arc::new(files)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_travel_as_an_object_and_all_clones_are_one() {
        let files: Files = [("ab12".to_owned(), "eA==".to_owned())].into_iter().collect();
        let text = serde_json::to_string(&files).unwrap();
        assert_eq!(text, r#"{"ab12":"eA=="}"#);
        assert_eq!(serde_json::from_str::<Files>(&text).unwrap(), files);
        assert!(Arc::ptr_eq(&files.0, &files.clone().0));
        assert_eq!((files.get("ab12"), files.get("cd34")), (Some("eA=="), None));
    }
}
