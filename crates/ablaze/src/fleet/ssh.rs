//! Workers over the system's ssh, with its configuration, jump hosts and agents. A few words of sh on the other side say
//! what machine it is and which `ablaze` it has; where that is not this very program, this program is sent over the same
//! channel, and runs from a file that has no name any more: nothing is left behind, however the connection ends.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::process::Command;

use ablaze_fleet::lines;
use ablaze_model::printable::printable;

use crate::{CommandError, shell};

/// Longest answer of a host, bytes.
const ANSWER_BYTES_MAX: usize = 4096;

/// What the other side does, before `{words}` are this program's: says what it is (`ablaze-fleet 1`, machine, and the SHA-256
/// of the `ablaze` on its search path), hears what to run, and becomes that. `head -c` reads no byte too many, and a file that
/// is open can be run when its name is gone (proc(5), /proc/PID/fd). Files are only run where that is permitted (`noexec`).
const SCRIPT: &str = r#"umask 077
own=$(command -v ablaze) && sum=$(sha256sum < "$own" 2>/dev/null | cut -d " " -f 1) || sum=none
echo "ablaze-fleet 1 $(uname -s) $(uname -m) ${sum:-none}"
read -r what bytes || exit 0
if [ "$what" = use ]; then exec "$own" {words}; fi
for in in "${TMPDIR:-/tmp}" /dev/shm "$HOME"; do
  folder=$(mktemp -d "$in/ablaze.XXXXXXXX" 2>/dev/null) || continue
  trap 'rm -rf "$folder"' EXIT
  printf '#!/bin/sh\n' > "$folder/try" && chmod 700 "$folder/try" && "$folder/try" 2>/dev/null && break
  rm -rf "$folder"; folder=
done
if [ -z "$folder" ]; then echo "no folder of this host permits running a program: put ablaze on its PATH" >&2; exit 1; fi
head -c "$bytes" > "$folder/ablaze" && chmod 700 "$folder/ablaze" || exit 1
exec 9< "$folder/ablaze"
rm -rf "$folder"
trap - EXIT
exec /proc/self/fd/9 {words}
"#;

/// The ssh that has a host run `ablaze` with these words.
pub fn command(host: &str, words: &[&str]) -> Command {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let script = SCRIPT.replace("{words}", &shell::line(&words));
    let mut command = Command::new("ssh");
    // Nobody can be asked for a password: the terminal is the report's, and there are many hosts.
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
    // A connection that is gone is noticed by ssh before the worker's silence is.
    command.args(["-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=3", "--", host]);
    // The login shell may be any: sh is told what to do in one word.
    let quoted = script.replace('\'', "'\\''");
    command.arg(format!("exec sh -c '{quoted}'"));
    command
}

/// This program, to be sent where it is not.
#[derive(Debug)]
pub struct Pushed {
    bytes: Vec<u8>,
    sha256: String,
}

impl Pushed {
    /// This very program.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn own() -> Result<Self, CommandError> {
        let mut bytes = Vec::new();
        // Its file may have been replaced since: this is the one that runs.
        let read = File::open("/proc/self/exe").and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| {
            CommandError::machine(format!("cannot read this program's own file: {error}"))
        })?;
        let blob = ablaze_model::spec::Blob::new("ablaze", bytes);
        let sha256 = blob.sha256.clone();
        let bytes = blob.bytes().map(<[u8]>::to_vec)?;
        Ok(Self { bytes, sha256 })
    }

    /// Hears what a host is, and has it run this program: its own, or the one that is sent.
    ///
    /// # Errors
    /// When it is a machine that this program does not run on, or not ablaze's script that answers: what to do.
    pub fn greet(&self, from: &mut impl BufRead, to: &mut impl Write) -> Result<(), String> {
        let line = lines::next(from, ANSWER_BYTES_MAX);
        let line = line.map_err(|error| format!("its shell's answer cannot be read ({error})"))?;
        let line = line.ok_or_else(|| "it could not be reached".to_owned())?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["ablaze-fleet", "1", system, machine, sha256] = words[..] else {
            let shown: String = line.chars().take(120).collect();
            return Err(format!(
                "its shell printed something else than was expected (`{}`): a login must print nothing",
                printable(&shown)
            ));
        };
        let sent = if sha256 == self.sha256 {
            to.write_all(b"use\n")
        } else if (system, machine) == ("Linux", std::env::consts::ARCH) {
            to.write_all(format!("push {}\n", self.bytes.len()).as_bytes())
                .and_then(|()| to.write_all(&self.bytes))
        } else {
            return Err(format!(
                "it is a machine of another kind ({} {}) than this program is for (Linux {})",
                printable(system),
                printable(machine),
                std::env::consts::ARCH
            ));
        };
        sent.and_then(|()| to.flush())
            .map_err(|error: io::Error| format!("this program could not be sent to it ({error})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed() -> Pushed {
        Pushed { bytes: b"program".to_vec(), sha256: "ab12".to_owned() }
    }

    fn greeted(answer: &str) -> Result<String, String> {
        let mut sent = Vec::new();
        pushed().greet(&mut answer.as_bytes(), &mut sent)?;
        Ok(String::from_utf8(sent).unwrap())
    }

    #[test]
    fn the_program_is_sent_where_there_is_none_or_another() {
        let arch = std::env::consts::ARCH;
        let line = |sum: &str| format!("ablaze-fleet 1 Linux {arch} {sum}\n");
        assert_eq!(greeted(&line("ab12")).unwrap(), "use\n");
        assert_eq!(greeted(&line("none")).unwrap(), "push 7\nprogram");
        assert_eq!(greeted(&line("cd34")).unwrap(), "push 7\nprogram");
    }

    #[test]
    fn what_it_cannot_run_on_is_named() {
        let other = greeted("ablaze-fleet 1 Linux riscv64 none\n").unwrap_err();
        assert!(other.contains("another kind (Linux riscv64)"), "{other}");
        let chatty = greeted("Welcome to host 7!\n").unwrap_err();
        assert!(chatty.contains("a login must print nothing"), "{chatty}");
        assert!(greeted("").unwrap_err().contains("could not be reached"));
    }
}
