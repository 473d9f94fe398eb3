//! The saved form of experiments and searches: a format number, and what was to be done as typed specs.
//! Format 1 had words of command lines instead; they are read once, when the file is.

use std::path::Path;

use ablaze_model::LoadSpec;
use ablaze_model::experiment::{Experiment, Load};
use ablaze_model::json_error::in_words;
use ablaze_model::spec::{Blob, BlobError, ModelSpec, TargetSpec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::FolderError;
use super::folder::{error, read, write};

/// The format that is written.
const FORMAT: u64 = 2;
/// The folder of the files that loads name, each under its SHA-256.
const FILES: &str = "files";

/// Reads the words that format 1 kept. They are read in their order, so that secrets in them get the
/// names that a command line gives them.
pub trait FormerWords {
    /// A target by its URL.
    ///
    /// # Errors
    /// When that cannot be read.
    fn url(&mut self, text: &str) -> Result<TargetSpec, String>;

    /// A built-in server by the words behind `ablaze serve`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn model(&mut self, words: &[String]) -> Result<ModelSpec, String>;

    /// A load by options of `ablaze load`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn load(&mut self, words: &[String]) -> Result<LoadSpec, String>;
}

/// What is saved names files, in its loads and its targets.
pub(crate) trait NamesFiles {
    /// These files.
    fn files(&self) -> Vec<&Blob>;
    /// The same, to put their bytes beside them.
    fn files_mut(&mut self) -> Vec<&mut Blob>;
}

impl NamesFiles for Experiment {
    fn files(&self) -> Vec<&Blob> {
        let under_loads = self.loads.iter().flat_map(|load| &load.targets);
        let targets = self.targets.iter().chain(under_loads);
        let of_targets = targets.flat_map(|target| target.source.blobs());
        self.loads.iter().flat_map(|load| load.spec.blobs()).chain(of_targets).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut Blob> {
        fn of_load(load: &mut Load) -> Vec<&mut Blob> {
            let of_targets = load.targets.iter_mut().flat_map(|target| target.source.blobs_mut());
            load.spec.blobs_mut().into_iter().chain(of_targets).collect()
        }
        let of_targets = self.targets.iter_mut().flat_map(|target| target.source.blobs_mut());
        self.loads.iter_mut().flat_map(of_load).chain(of_targets).collect()
    }
}

/// Saves what is to be done, with the files that it names beside it.
pub(crate) fn save(
    path: &Path,
    document: &(impl Serialize + NamesFiles),
) -> Result<(), FolderError> {
    // By way of text, as the runs beside it: the code that makes values of types is as large again.
    let text = serde_json::to_string_pretty(document).map_err(|failure| error(path, failure))?;
    let mut value = serde_json::from_str(&text).map_err(|failure| error(path, failure))?;
    if let Value::Object(fields) = &mut value {
        fields.insert("format".to_owned(), FORMAT.into());
    }
    write(path, &value)?;
    let folder = path.with_file_name(FILES);
    for blob in document.files() {
        let Ok(bytes) = blob.bytes() else { continue };
        std::fs::create_dir_all(&folder).map_err(|failure| error(&folder, failure))?;
        let file = folder.join(&blob.sha256);
        ablaze_report::file::write_atomically(&file, bytes)
            .map_err(|failure| error(&file, failure))?;
    }
    Ok(())
}

/// Reads it back; `None` when there is no such file.
pub(crate) fn open<T: DeserializeOwned + NamesFiles>(
    path: &Path,
    former: &mut dyn FormerWords,
) -> Result<Option<T>, FolderError> {
    let Some(mut value) = read::<Value>(path)? else { return Ok(None) };
    let damaged = |why: String| error(path, format!("is damaged: {why}"));
    match value.get("format").map_or(Some(1), Value::as_u64) {
        Some(1) => convert(&mut value, former).map_err(damaged)?,
        Some(FORMAT) => read_pairs(&mut value, former).map_err(damaged)?,
        _ => return Err(damaged("written by a newer version of ablaze".to_owned())),
    }
    let mut document: T =
        serde_json::from_str(&value.to_string()).map_err(|failure| damaged(in_words(&failure)))?;
    let folder = path.with_file_name(FILES);
    for blob in document.files_mut() {
        attach(blob, &folder)?;
    }
    Ok(Some(document))
}

/// What of it is another file now, in words.
pub(crate) fn changed_file(before: &impl NamesFiles, now: &impl NamesFiles) -> Option<String> {
    let now = now.files();
    before.files().into_iter().cloned().find_map(|before| {
        let other =
            now.iter().find(|now| now.name == before.name && now.sha256 != before.sha256)?;
        let (name, before, now) = (before.name, before.sha256, other.sha256.clone());
        Some(BlobError::Changed { name, before, now }.to_string())
    })
}

fn attach(blob: &mut Blob, folder: &Path) -> Result<(), FolderError> {
    let file = folder.join(&blob.sha256);
    match std::fs::read(&file) {
        Ok(bytes) => blob.attach(bytes).map_err(|failure| error(&file, failure)),
        // What is only looked at needs no bytes; a run says what is missing.
        Err(_) => Ok(()),
    }
}

/// From format 1.
fn convert(value: &mut Value, former: &mut dyn FormerWords) -> Result<(), String> {
    let Value::Object(document) = value else { return Err("not a JSON object".to_owned()) };
    for (old, new) in [("subjects", "targets"), ("subject", "target")] {
        if let Some(value) = document.remove(old) {
            document.insert(new.to_owned(), value);
        }
    }
    if let Some(Value::Array(targets)) = document.get_mut("targets") {
        for target in targets {
            convert_target(target, former)?;
        }
    }
    if let Some(target) = document.get_mut("target") {
        convert_target(target, former)?;
    }
    if let Some(Value::Array(loads)) = document.get_mut("loads") {
        for load in loads {
            if let Value::Object(load) = load {
                convert_load(load, "spec", former)?;
            }
        }
    }
    if document.contains_key("options") {
        convert_load(document, "load", former)?;
    }
    Ok(())
}

fn convert_target(target: &mut Value, former: &mut dyn FormerWords) -> Result<(), String> {
    let Some(source) = target.get_mut("source") else { return Ok(()) };
    if let Some(url) = source.get("url").and_then(Value::as_str) {
        *source = json!(former.url(url)?);
    } else if let Some(words) = source.get("model") {
        *source = json!(TargetSpec::Model(former.model(&words_of(words))?));
    }
    Ok(())
}

/// Format 2 had the options of built-in servers as names and values at first.
fn read_pairs(value: &mut Value, former: &mut dyn FormerWords) -> Result<(), String> {
    let Value::Object(document) = value else { return Ok(()) };
    for (key, value) in document {
        match value {
            Value::Array(targets) if key == "targets" => {
                targets.iter_mut().try_for_each(|target| read_pairs_of(target, former))?;
            }
            target if key == "target" => read_pairs_of(target, former)?,
            _ => {}
        }
    }
    Ok(())
}

fn read_pairs_of(target: &mut Value, former: &mut dyn FormerWords) -> Result<(), String> {
    let options = target.pointer("/source/model/options").and_then(Value::as_array);
    let Some(options) = options else { return Ok(()) };
    let word = |option: &Value| {
        let name = option.get("name")?.as_str()?;
        let value = option.get("value").and_then(Value::as_str);
        Some(value.map_or(format!("--{name}"), |value| format!("--{name}={value}")))
    };
    let words: Option<Vec<String>> = options.iter().map(word).collect();
    let words = words.ok_or("an option of a built-in server has no name")?;
    target["source"] = json!(TargetSpec::Model(former.model(&words)?));
    Ok(())
}

fn convert_load(
    of: &mut Map<String, Value>,
    key: &str,
    former: &mut dyn FormerWords,
) -> Result<(), String> {
    let words = of.remove("options").map(|words| words_of(&words)).unwrap_or_default();
    of.insert(key.to_owned(), json!(former.load(&words)?));
    Ok(())
}

fn words_of(value: &Value) -> Vec<String> {
    let words = value.as_array().into_iter().flatten();
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
pub(crate) use tests::Former;

#[cfg(test)]
mod tests {
    use ablaze_model::experiment::{Axis, AxisValue, Place};
    use ablaze_model::spec::server::RouteSpec;
    use ablaze_model::spec::server::values::Threads;
    use ablaze_model::spec::{Bodies, Body, HttpVersion, UrlSpec, Words};

    use super::*;
    use crate::experiment::Folder;
    use ablaze_testing::experiments;

    /// Reads no more than the test writes.
    pub(crate) struct Former;

    impl FormerWords for Former {
        fn url(&mut self, text: &str) -> Result<TargetSpec, String> {
            let (url, _) = UrlSpec::parse(text).map_err(|error| error.to_string())?;
            Ok(TargetSpec::Url { url, user: None })
        }

        fn model(&mut self, words: &[String]) -> Result<ModelSpec, String> {
            assert!(["--like cppnet-1", "--like=cppnet-1"].contains(&&*words.join(" ")));
            let threads = Some(Threads::Exactly(2));
            Ok(ModelSpec { threads, ..ModelSpec::default() })
        }

        fn load(&mut self, words: &[String]) -> Result<LoadSpec, String> {
            let http = words.iter().any(|word| word == "2.0").then_some(HttpVersion::Http2);
            Ok(LoadSpec { http, words: Words(words.to_vec()), ..LoadSpec::default() })
        }
    }

    fn scratch(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("document-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    const FORMAT_1: &str = r#"{
  "title": "comparison",
  "subjects": [
    {"name": "mine", "source": {"url": ":8080/hello"}},
    {"name": "net", "source": {"model": ["--like", "cppnet-1"]}},
    {"name": "nginx", "source": {"nginx": {"workers": 2}}}
  ],
  "loads": [{"label": "c=5", "x": 5.0, "options": ["--connections", "5", "--http", "2.0"]}],
  "repeats": 3, "seed": 1, "path": "/hello",
  "placement": {"tester": [0], "target": [1]},
  "restart": true, "ready_within_s": 10
}"#;

    #[test]
    fn a_folder_of_format_1_opens_and_its_words_are_read_once() {
        let folder = scratch("format-1");
        std::fs::write(folder.join("experiment.json"), FORMAT_1).unwrap();
        let (_, experiment) = Folder::open(&folder, &mut Former).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let TargetSpec::Url { url, .. } = &experiment.targets[0].source else { panic!("no URL") };
        assert_eq!(url.shown, "http://127.0.0.1:8080/hello");
        assert_eq!(experiment.targets[1].threads(8), 2);
        assert_eq!(experiment.targets[2].source, TargetSpec::Nginx { workers: 2 });
        assert!(experiment.loads[0].spec.is_http2());
        assert_eq!(experiment.loads[0].spec.words.0.join(" "), "--connections 5 --http 2.0");
    }

    /// Format 2 as it was at first.
    const PAIRS: &str = r#"{
  "format": 2, "title": "t",
  "targets": [
    {"name": "a", "source": {"model": {"certificate": false, "http": null, "threads": 2, "tls": false,
      "options": [{"name": "like", "value": "cppnet-1"}]}}},
    {"name": "b", "source": {"nginx": {"workers": 2}}}
  ],
  "loads": [], "repeats": 3, "seed": 1, "path": "/hello",
  "placement": {"client": [0], "target": [1]},
  "restart": true, "ready_within_s": 10
}"#;

    #[test]
    fn options_of_built_in_servers_that_were_names_and_values_are_read_once() {
        let folder = scratch("pairs");
        std::fs::write(folder.join("experiment.json"), PAIRS).unwrap();
        let (_, experiment) = Folder::open(&folder, &mut Former).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((experiment.targets[0].threads(8), experiment.targets[1].threads(8)), (2, 2));
    }

    /// Older versions kept no axes: the same experiment goes on there.
    #[test]
    fn a_sweep_kept_with_labels_alone_is_the_same_one() {
        let folder = scratch("labels-alone");
        let mut sweep = experiments::experiment();
        sweep.loads = [1, 10].map(experiments::load).to_vec();
        Folder::at(&folder, &sweep, &mut Former).unwrap();
        let kept = std::fs::read_to_string(folder.join("experiment.json")).unwrap();
        assert!(!kept.contains("axes"), "{kept}");
        let value = |x: f64| AxisValue { text: x.to_string(), x: Some(x) };
        let values = [1.0, 10.0].map(value).to_vec();
        sweep.axes = vec![Axis { name: "connections".to_owned(), of: vec![Place::Load], values }];
        let again = Folder::at(&folder, &sweep, &mut Former).map(drop);
        std::fs::remove_dir_all(&folder).unwrap();
        again.unwrap();
    }

    #[test]
    fn a_later_format_is_refused() {
        let folder = scratch("later");
        let later = FORMAT_1.replacen('{', "{\"format\": 3,", 1);
        std::fs::write(folder.join("experiment.json"), later).unwrap();
        let refused = Folder::open(&folder, &mut Former).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(refused.contains("written by a newer version of ablaze"), "{refused}");
    }

    #[test]
    fn files_that_a_target_names_lie_beside_it_too() {
        let folder = scratch("files-of-a-target");
        let mut experiment = experiments::experiment();
        let body = Body::File(Blob::new("page.html", b"<p>".to_vec()));
        let mut model = ModelSpec::default();
        model.responses.routes.push(RouteSpec { path: "/".to_owned(), status: 200, body });
        experiment.targets[0].source = TargetSpec::Model(model);
        Folder::at(&folder, &experiment, &mut Former).unwrap();
        let (_, back) = Folder::open(&folder, &mut Former).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(back.targets[0].source.blobs()[0].bytes().unwrap(), b"<p>");
    }

    #[test]
    fn files_that_a_load_names_lie_beside_it_and_a_changed_one_is_told() {
        let folder = scratch("files");
        let with = |bytes: &[u8]| {
            let mut experiment = experiments::experiment();
            let file = Blob::new("body.json", bytes.to_vec());
            experiment.loads[0].spec.requests.bodies = Bodies::Same(Body::File(file));
            experiment
        };
        Folder::at(&folder, &with(b"{}"), &mut Former).unwrap();
        let (_, back) = Folder::open(&folder, &mut Former).unwrap();
        assert_eq!(back, with(b"{}"));
        assert_eq!(back.loads[0].spec.blobs()[0].bytes().unwrap(), b"{}");
        let refused = |experiment: &Experiment| {
            Folder::at(&folder, experiment, &mut Former).unwrap_err().to_string()
        };
        let changed = refused(&with(b"[]"));
        assert!(changed.contains("the file `body.json` has changed: its SHA-256 was 44136fa"));
        std::fs::write(
            folder.join("files").join(&with(b"{}").loads[0].spec.blobs()[0].sha256),
            "x",
        )
        .unwrap();
        let damaged = refused(&with(b"{}"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(damaged.contains("has changed"), "{damaged}");
    }
}
