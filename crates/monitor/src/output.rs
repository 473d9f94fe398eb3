//! What a serving process writes beside its responses: its write calls, the files that grow, and
//! where its standard output and error go. A log line per request is found by the growth of a file,
//! which is certain; for a terminal or a pipe only the number of written bytes is to be seen.

use std::fs;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::SystemTime;

use ablaze_model::monitor::{GrownFile, Output, Standard};

use crate::proc_text::number_after;
use crate::series::Series;

/// At most this many files of a process are watched.
const MOST_FILES: usize = 8;
/// At most this many descriptors are looked through for them: files are opened before connections are.
const MOST_DESCRIPTORS: usize = 256;
/// The end of a file in which lines are counted, bytes.
const TAIL_BYTES: u64 = 16 * 1024;

/// A process's output under watch.
#[derive(Debug)]
pub(crate) struct WatchedOutput {
    pid: u32,
    begun_unix_s: i64,
    calls: Series<Calls>,
    files: Vec<WatchedFile>,
    standard: Option<Standard>,
    looks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Calls {
    calls: u64,
    bytes: u64,
}

#[derive(Debug)]
struct WatchedFile {
    /// Its place under /proc/PID/fd.
    place: String,
    path: String,
    identity: Identity,
    bytes: Series<u64>,
}

impl WatchedOutput {
    pub(crate) fn new(pid: u32) -> Self {
        Self {
            pid,
            begun_unix_s: (crate::clock::unix_ns() / 1_000_000_000) as i64,
            calls: Series::new(),
            files: open_for_writing(pid),
            looks: 0,
            standard: [1, 2].into_iter().find_map(|descriptor| standard(pid, descriptor)),
        }
    }

    pub(crate) fn look(&mut self, at_ns: u64) {
        self.looks += 1;
        // A log may be opened with the first request: looked for ever more rarely, as it takes a while.
        if self.looks > 1 && self.looks.is_power_of_two() {
            self.find_new_files();
        }
        if let Some(calls) = calls(self.pid) {
            self.calls.add(at_ns, calls);
        }
        for file in &mut self.files {
            if let Some(bytes) = file.length() {
                file.bytes.add(at_ns, bytes);
            }
        }
    }

    fn find_new_files(&mut self) {
        for file in open_for_writing(self.pid) {
            let known = self.files.iter().any(|known| known.identity == file.identity);
            if !known && self.files.len() < MOST_FILES {
                self.files.push(file);
            }
        }
    }

    /// What was written in the window; `None` when nothing of it is to be seen.
    pub(crate) fn seen(&self, window_ns: (u64, u64)) -> Option<Output> {
        let calls = self.calls.within(window_ns);
        let calls = calls.first().zip(calls.last()).map(|((_, first), (_, last))| Calls {
            calls: last.calls.saturating_sub(first.calls),
            bytes: last.bytes.saturating_sub(first.bytes),
        });
        let files: Vec<_> = self.files.iter().filter_map(|file| file.seen(window_ns)).collect();
        let mut standard = self.standard.clone();
        if let Some(standard) = standard.as_mut().filter(|standard| standard.terminal) {
            standard.written_to = written_since(&standard.name, self.begun_unix_s);
        }
        (calls.is_some() || standard.is_some() || !files.is_empty()).then_some(Output {
            write_calls: calls.map(|calls| calls.calls),
            written_bytes: calls.map(|calls| calls.bytes),
            standard,
            files,
        })
    }
}

/// Device and number of a file, and when it came into being, where the file system knows: the number of a file that was removed is
/// given to the next.
type Identity = (u64, u64, Option<SystemTime>);

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino(), file.created().ok())
}

impl WatchedFile {
    /// Its length, as long as the descriptor is that of the same file.
    fn length(&self) -> Option<u64> {
        let file = fs::metadata(&self.place).ok()?;
        (identity(&file) == self.identity).then_some(file.len())
    }

    fn seen(&self, window_ns: (u64, u64)) -> Option<GrownFile> {
        let readings = self.bytes.within(window_ns);
        let (first, last) = (readings.first()?, readings.last()?);
        let bytes = last.1.checked_sub(first.1)?;
        let around = self.bytes.around(window_ns);
        (bytes > 0).then(|| GrownFile {
            path: self.path.clone(),
            bytes,
            watched_ns: Some(last.0 - first.0),
            bytes_around: around.and_then(|(first, last)| last.checked_sub(first)),
            line_bytes: File::open(&self.place).ok().and_then(line_bytes),
        })
    }
}

/// /proc/PID/io, which only the same user may read: `syscw: 3`, `wchar: 270`.
fn calls(pid: u32) -> Option<Calls> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    Some(Calls { calls: number_after(&text, "syscw")?, bytes: number_after(&text, "wchar")? })
}

/// The regular files that a process can write to.
fn open_for_writing(pid: u32) -> Vec<WatchedFile> {
    let mut files: Vec<WatchedFile> = Vec::new();
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    for descriptor in descriptors.take(MOST_DESCRIPTORS) {
        let Some(file) = writable_file(pid, &descriptor.path()) else { continue };
        // One file may be open twice, as standard output and error.
        if files.iter().all(|known| known.identity != file.identity) {
            files.push(file);
        }
        if files.len() == MOST_FILES {
            break;
        }
    }
    files
}

fn writable_file(pid: u32, place: &std::path::Path) -> Option<WatchedFile> {
    let path = fs::read_link(place).ok()?.to_string_lossy().into_owned();
    // Sockets, pipes and the like have names without a slash.
    if !path.starts_with('/') {
        return None;
    }
    let file = fs::metadata(place).ok().filter(fs::Metadata::is_file)?;
    let number = place.file_name()?.to_str()?;
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    // In octal; the lowest two bits are O_WRONLY and O_RDWR.
    let writable = u32::from_str_radix(flags.trim(), 8).is_ok_and(|flags| flags & 3 != 0);
    writable.then(|| WatchedFile {
        place: place.to_string_lossy().into_owned(),
        path,
        identity: identity(&file),
        bytes: Series::new(),
    })
}

/// Where a descriptor goes, if that is neither a file nor /dev/null.
fn standard(pid: u32, descriptor: u32) -> Option<Standard> {
    let place = format!("/proc/{pid}/fd/{descriptor}");
    let name = fs::read_link(&place).ok()?.to_string_lossy().into_owned();
    let kind = fs::metadata(&place).ok()?.file_type();
    let terminal = kind.is_char_device() && is_terminal(&name);
    let stream = kind.is_fifo() || kind.is_socket();
    (terminal || stream).then_some(Standard { name, terminal, written_to: None })
}

fn is_terminal(path: &str) -> bool {
    path.starts_with("/dev/pts/") || path.starts_with("/dev/tty") || path == "/dev/console"
}

/// Whether a terminal was written to. The kernel notes the time of that every 8 s, lest it tell how
/// somebody types (`tty_update_time`). On a terminal of our own we write ourselves.
fn written_since(terminal: &str, unix_s: i64) -> Option<bool> {
    let ours = (0..3).any(|descriptor| {
        fs::read_link(format!("/proc/self/fd/{descriptor}"))
            .is_ok_and(|path| path.as_os_str() == terminal)
    });
    let noted_s = fs::metadata(terminal).ok().filter(|_| !ours)?.mtime();
    Some(noted_s >= unix_s - 8)
}

/// The mean length of the last lines of a text.
fn line_bytes(mut file: File) -> Option<f64> {
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    mean_line(&tail)
}

/// Of the whole lines in it, or of the one that is whole at one end only where there are no others.
fn mean_line(tail: &[u8]) -> Option<f64> {
    let is_text = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace() || *byte == 27;
    if !tail.iter().all(is_text) {
        return None;
    }
    let ends: Vec<usize> = (0..tail.len()).filter(|at| tail[*at] == b'\n').collect();
    match ends.as_slice() {
        [] => None,
        [one] => Some((one + 1) as f64),
        [first, .., last] => Some((last - first) as f64 / (ends.len() - 1) as f64),
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
