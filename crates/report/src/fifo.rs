//! Writing to a FIFO, whose reader may come late, be slow, or never come: whoever writes can give up, which a
//! blocking open or write cannot.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often it is looked for a reader, and for its having read.
const LOOK: Duration = Duration::from_millis(10);
/// After a run that was interrupted, a reader has so long to come: one signal is all that timeout(1) sends.
const GRACE: Duration = Duration::from_secs(3);

/// Whether writing was given up; asked again and again.
pub type GivenUp<'a> = &'a dyn Fn() -> bool;

/// A FIFO that is open for writing.
pub struct Fifo<'a> {
    file: File,
    waits: Waits<'a>,
}

/// How long is waited for the other end.
struct Waits<'a> {
    given_up: GivenUp<'a>,
    /// Set where it had been given up before: there will be no second sign.
    until: Option<Instant>,
}

impl Waits<'_> {
    /// A pause, or the end of waiting.
    fn on(&self) -> io::Result<()> {
        let over = match self.until {
            Some(until) => Instant::now() >= until,
            None => (self.given_up)(),
        };
        if over {
            return Err(io::Error::other("interrupted, and nobody reads this FIFO"));
        }
        sleep(LOOK);
        Ok(())
    }
}

/// Whether a path is that of a FIFO.
pub fn is_fifo(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

impl<'a> Fifo<'a> {
    /// Opens a FIFO as soon as somebody reads it.
    ///
    /// # Errors
    /// Those of opening, and when it was given up; if that was so from the start, after three seconds.
    pub fn open(path: &Path, given_up: GivenUp<'a>) -> io::Result<Self> {
        let until = given_up().then(|| Instant::now() + GRACE);
        let waits = Waits { given_up, until };
        loop {
            match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
                Ok(file) => return Ok(Self { file, waits: Waits { until: None, ..waits } }.begun()),
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => waits.on()?,
                Err(error) => return Err(error),
            }
        }
    }

    /// A reader that came is waited for, also after an interrupt: a second one ends the process.
    fn begun(mut self) -> Self {
        if (self.waits.given_up)() {
            self.waits.given_up = &|| false;
        }
        self
    }
}

impl Write for Fifo<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.waits.on()?,
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn fifo(name: &str) -> ablaze_testing::ScratchFile {
        let file = ablaze_testing::ScratchFile::new(name);
        assert!(Command::new("mkfifo").arg(file.path()).status().unwrap().success());
        file
    }

    #[test]
    fn without_a_reader_it_can_be_given_up() {
        let path = fifo("no-reader");
        let given_up = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let opening = scope.spawn(|| {
                let stop = || given_up.load(Ordering::Relaxed);
                Fifo::open(path.path(), &stop).map(|_| ())
            });
            given_up.store(true, Ordering::Relaxed);
            assert!(opening.join().unwrap().is_err());
        });
    }

    #[test]
    fn a_reader_that_stops_reading_is_given_up_and_one_that_reads_gets_everything() {
        let path = fifo("reader");
        let given_up = AtomicBool::new(false);
        let bytes = vec![7; 1 << 20];
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let stop = || given_up.load(Ordering::Relaxed);
                Fifo::open(path.path(), &stop).unwrap().write_all(&bytes)
            });
            let mut read = Vec::new();
            File::open(path.path()).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
            writing.join().unwrap().unwrap();
            let writing = scope.spawn(|| {
                let stop = || given_up.load(Ordering::Relaxed);
                Fifo::open(path.path(), &stop).unwrap().write_all(&bytes)
            });
            let mut reader = File::open(path.path()).unwrap();
            reader.read_exact(&mut [0; 1000]).unwrap();
            given_up.store(true, Ordering::Relaxed);
            assert!(writing.join().unwrap().is_err());
        });
    }
}
