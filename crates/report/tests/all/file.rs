//! Report files on a real file system: replaced whole, checked without a trace.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use ablaze_report::exporters::of_path;
use ablaze_report::file::{check_writable, write_atomically};
use ablaze_testing::{Bounded, Scratch};

/// A folder that is removed with everything in it at the end of the test.
struct Folder(Scratch);

impl Folder {
    fn new(name: &str) -> Self {
        Self(Scratch::new(name))
    }

    fn entries(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn error(path: &Path) -> String {
    let checked = check_writable(path).unwrap_err().to_string();
    let written = write_atomically(path, b"x").unwrap_err().to_string();
    assert_eq!(checked, written);
    assert!(checked.starts_with(&*path.to_string_lossy()), "{checked}");
    checked
}

#[test]
fn a_file_is_replaced_with_its_permissions() {
    let folder = Folder::new("replace");
    let path = folder.0.join("run.json");
    check_writable(&path).unwrap();
    assert!(folder.entries().is_empty(), "the check left something behind");
    write_atomically(&path, b"one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    check_writable(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one", "the check changed the file");
    let mut old = fs::File::open(&path).unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(folder.entries(), ["run.json"]);
    let mut text = String::new();
    old.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one", "who has the old file open keeps it whole");
}

#[test]
fn a_link_stays_a_link() {
    let folder = Folder::new("link");
    let (link, target) = (folder.0.join("latest.json"), folder.0.join("run.json"));
    symlink("run.json", &link).unwrap();
    check_writable(&link).unwrap();
    write_atomically(&link, b"new").unwrap();
    write_atomically(&link, b"newer").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"newer");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    symlink("circle.json", folder.0.join("circle.json")).unwrap();
    error(&folder.0.join("circle.json"));
}

#[test]
fn what_cannot_work_is_said_before_the_run_with_its_fix() {
    let folder = Folder::new("errors");
    assert!(error(&folder.0).contains("is a folder: name a file in it"));
    assert!(error(&folder.0.join("no/run.json")).contains("the folder does not exist: create it"));
    assert!(error(&folder.0.join("new/")).contains("name a file"));
    assert!(error(Path::new("")).contains("empty file name"));
    assert!(error(&folder.0.join("x".repeat(300))).contains("choose another"));
    assert!(error(Path::new("/proc/run.json")).contains("/proc/run.json"));
    assert!(folder.entries().is_empty());
}

#[test]
fn devices_and_fifos_get_the_bytes_straight() {
    check_writable(Path::new("/dev/null")).unwrap();
    write_atomically(Path::new("/dev/null"), b"gone").unwrap();
    check_writable(Path::new("/dev/stdout")).unwrap();

    let folder = Folder::new("fifo");
    let path = folder.0.join("fifo.json");
    let made = std::process::Command::new("mkfifo").arg(&path).bounded_status().unwrap();
    assert!(made.success());
    let reader = {
        let path = path.clone();
        std::thread::spawn(move || fs::read(path).unwrap())
    };
    // The check must not look like a writer that came and went.
    for _ in 0..10 {
        check_writable(&path).unwrap();
    }
    write_atomically(&path, b"through the pipe").unwrap();
    assert_eq!(reader.join().unwrap(), b"through the pipe");
    assert_eq!(folder.entries(), ["fifo.json"]);
}

#[test]
fn the_extension_chooses_the_format() {
    let of = |name: &str| of_path(Path::new(name)).map(|exporter| exporter.extensions()[0]);
    assert_eq!(of("a/run.json").unwrap(), "json");
    assert_eq!(of("run.CSV").unwrap(), "csv");
    assert_eq!(of("run.1.txt").unwrap(), "txt");
    assert_eq!(of("run.hlog").unwrap(), "hlog");
    assert_eq!(of("run.junit.xml").unwrap(), "xml");
    assert_eq!(of("run.html").unwrap(), "html");
    assert_eq!(of("run.svg").unwrap(), "svg");
    assert_eq!(of("BENCH.md").unwrap(), "md");
    let known = "use one of .html .svg .md .json .csv .txt .hlog .xml";
    assert!(of("run.pdf").unwrap_err().to_string().contains(known));
    assert!(of("run").unwrap_err().to_string().contains("no file extension"));
    assert!(of(".json").unwrap_err().to_string().contains("no file extension"));
}
