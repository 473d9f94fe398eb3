//! What a process writes into, found from its descriptors.

use super::*;
use std::io::Write;

#[test]
fn lines_are_measured_between_their_ends() {
    assert_eq!(mean_line(b"half\n123\n12345\nthe next"), Some(5.0));
    assert_eq!(mean_line(b"only\n"), Some(5.0));
    assert_eq!(mean_line(b"without an end"), None);
    assert_eq!(mean_line(b"\0\x01\n\x02\n"), None, "no text");
    assert_eq!(mean_line("é\né\n".as_bytes()), Some(3.0));
}

/// This process writes a line of 32 bytes into a file of its own, and reads another.
#[test]
fn a_file_that_grows_is_told_with_its_lines() {
    let path = std::env::temp_dir().join(format!("ablaze-output-{}", std::process::id()));
    let mut log = File::options().append(true).create(true).open(&path).unwrap();
    let reading = File::open(&path).unwrap();
    let mut watched = WatchedOutput::new(std::process::id());
    watched.look(10);
    for _ in 0..4 {
        log.write_all(&[&[b'x'; 31][..], b"\n"].concat()).unwrap();
    }
    watched.look(20);
    log.write_all(b"behind the window\n").unwrap();
    watched.look(30);
    let seen = watched.seen((10, 20)).unwrap();
    fs::remove_file(&path).unwrap();
    drop(reading);
    // Other tests of this process may write files, too.
    let ours: Vec<_> =
        seen.files.iter().filter(|file| file.path == path.to_string_lossy()).collect();
    assert_eq!(ours.len(), 1, "open twice, and one file: {seen:?}");
    assert_eq!((ours[0].bytes, ours[0].bytes_around), (4 * 32, Some(4 * 32)));
    assert!((25.0..32.0).contains(&ours[0].line_bytes.unwrap()), "{ours:?}");
    assert!(seen.write_calls.unwrap() >= 4 && seen.written_bytes.unwrap() >= 4 * 32, "{seen:?}");
}

/// A logger that opens its file at the first request.
#[test]
fn a_file_that_is_opened_later_is_found() {
    let path = std::env::temp_dir().join(format!("ablaze-output-later-{}", std::process::id()));
    let mut watched = WatchedOutput::new(std::process::id());
    watched.look(10);
    let mut log = File::options().append(true).create(true).open(&path).unwrap();
    watched.look(20);
    log.write_all(&[&[b'x'; 31][..], b"\n"].concat()).unwrap();
    watched.look(30);
    let seen = watched.seen((15, 30)).unwrap();
    fs::remove_file(&path).unwrap();
    let ours = seen.files.iter().find(|file| file.path == path.to_string_lossy()).unwrap();
    assert_eq!((ours.bytes, ours.watched_ns), (32, Some(10)));
}

#[test]
fn what_is_no_file_is_no_file() {
    let (_reader, writer) = std::io::pipe().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&writer) as u32;
    let pipe = standard(std::process::id(), number).unwrap();
    assert!(pipe.name.starts_with("pipe:[") && !pipe.terminal, "{pipe:?}");
    let null = File::options().write(true).open("/dev/null").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&null) as u32;
    assert_eq!(standard(std::process::id(), number), None);
    let place = format!("/proc/self/fd/{number}");
    assert!(writable_file(std::process::id(), std::path::Path::new(&place)).is_none());
    assert!(is_terminal("/dev/pts/3") && !is_terminal("/dev/null"));
}

#[test]
fn a_process_that_is_gone_wrote_nothing() {
    let mut watched = WatchedOutput::new(u32::MAX);
    watched.look(1);
    assert_eq!(watched.seen((0, 10)), None);
}

/// A log that is removed and begun anew may get the number of the one before.
#[test]
fn the_number_of_a_removed_file_is_not_taken_for_it() {
    let folder = ablaze_testing::scratch::Scratch::new("numbers");
    let path = folder.path().join("log");
    fs::write(&path, "before").unwrap();
    let before = identity(&fs::metadata(&path).unwrap());
    fs::remove_file(&path).unwrap();
    // Times of files are those of the kernel's last tick.
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(&path, "behind").unwrap();
    assert_ne!(identity(&fs::metadata(&path).unwrap()), before);
}
