//! Workers over the system's ssh, with its configuration, jump hosts and agents. A few words of sh on the other side say
//! what machine it is and which `ablaze` it has; where that is not this very program, this program is sent over the same
//! channel, and runs from a file that has no name any more: nothing is left behind, however the connection ends. Unless the
//! host is asked to keep it: then it lies in the user's cache, where later runs find it.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::process::Command;

use ablaze_fleet::lines;
use ablaze_model::printable::printable;

use crate::{CommandError, shell};

/// Longest answer of a host, bytes.
const ANSWER_BYTES_MAX: usize = 4096;

/// What the other side does, before `{words}` are this program's: says what it is (`ablaze-fleet 1`, machine, and the SHA-256
/// of the `ablaze` on its search path and of the one that it kept), hears what to run, and becomes that. `head -c` reads no byte
/// too many, and a file that is open can be run when its name is gone (proc(5), /proc/PID/fd). Files are only run where that is
/// permitted (`noexec`). What is kept gets its name when all of it has come.
const SCRIPT: &str = r#"umask 077
sum() { sha256sum < "$1" 2>/dev/null | cut -d " " -f 1; }
kept=${XDG_CACHE_HOME:-$HOME/.cache}/ablaze/ablaze
own=$(command -v ablaze) && sum=$(sum "$own") || sum=none
[ -x "$kept" ] && also=$(sum "$kept") || also=none
echo "ablaze-fleet 1 $(uname -s) $(uname -m) ${sum:-none} ${also:-none}"
read -r what bytes || exit 0
case $what in
use) exec "$own" {words};;
again) exec "$kept" {words};;
keep)
  mkdir -p "${kept%/*}" && new=$(mktemp "$kept.XXXXXXXX") || exit 1
  trap 'rm -f "$new"' EXIT
  head -c "$bytes" > "$new" && [ "$(wc -c < "$new")" -eq "$bytes" ] && chmod 700 "$new" && mv -f "$new" "$kept" || exit 1
  trap - EXIT
  exec "$kept" {words};;
esac
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
    /// Whether hosts keep it.
    keeps: bool,
}

impl Pushed {
    /// This very program; `keeps` is whether hosts keep it that it is sent to.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn own(keeps: bool) -> Result<Self, CommandError> {
        let mut bytes = Vec::new();
        // Its file may have been replaced since: this is the one that runs.
        let read = File::open("/proc/self/exe").and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| {
            CommandError::machine(format!("cannot read this program's own file: {error}"))
        })?;
        let blob = ablaze_model::spec::Blob::new("ablaze", bytes);
        let sha256 = blob.sha256.clone();
        let bytes = blob.bytes().map(<[u8]>::to_vec)?;
        Ok(Self { bytes, sha256, keeps })
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
        let ["ablaze-fleet", "1", system, machine, sha256, kept] = words[..] else {
            let shown: String = line.chars().take(120).collect();
            return Err(format!(
                "its shell printed something else than was expected (`{}`): a login must print nothing",
                printable(&shown)
            ));
        };
        let sent = if sha256 == self.sha256 {
            to.write_all(b"use\n")
        } else if kept == self.sha256 {
            to.write_all(b"again\n")
        } else if (system, machine) == ("Linux", std::env::consts::ARCH) {
            let what = if self.keeps { "keep" } else { "push" };
            to.write_all(format!("{what} {}\n", self.bytes.len()).as_bytes())
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

    fn greeted(answer: &str, keeps: bool) -> Result<String, String> {
        let mut sent = Vec::new();
        let pushed = Pushed { bytes: b"program".to_vec(), sha256: "ab12".to_owned(), keeps };
        pushed.greet(&mut answer.as_bytes(), &mut sent)?;
        Ok(String::from_utf8(sent).unwrap())
    }

    #[test]
    fn the_program_is_sent_where_there_is_none_or_another() {
        let arch = std::env::consts::ARCH;
        let line = |sums: &str| format!("ablaze-fleet 1 Linux {arch} {sums}\n");
        for (sums, keeps, says) in [
            ("ab12 none", false, "use\n"),
            ("ab12 ab12", true, "use\n"),
            ("none ab12", false, "again\n"),
            ("cd34 ab12", true, "again\n"),
            ("none none", false, "push 7\nprogram"),
            ("cd34 cd34", false, "push 7\nprogram"),
            ("cd34 cd34", true, "keep 7\nprogram"),
        ] {
            assert_eq!(greeted(&line(sums), keeps).unwrap(), says, "{sums}");
        }
    }

    #[test]
    fn what_it_cannot_run_on_is_named() {
        let greeted = |answer| greeted(answer, false);
        let other = greeted("ablaze-fleet 1 Linux riscv64 none none\n").unwrap_err();
        assert!(other.contains("another kind (Linux riscv64)"), "{other}");
        let chatty = greeted("Welcome to host 7!\n").unwrap_err();
        assert!(chatty.contains("a login must print nothing"), "{chatty}");
        assert!(greeted("").unwrap_err().contains("could not be reached"));
    }

    #[test]
    fn the_other_side_keeps_what_it_is_sent_and_runs_it_again() {
        use std::process::Stdio;

        use ablaze_testing::Bounded;
        let home = ablaze_testing::Scratch::new("fleet-keep");
        let script = SCRIPT.replace("{words}", "worker");
        let host = |says: &[u8]| {
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).env("HOME", home.path()).env_remove("XDG_CACHE_HOME");
            shell.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = shell.start().unwrap();
            child.stdin.take().unwrap().write_all(says).unwrap();
            let said = child.wait_with_output().unwrap();
            String::from_utf8(said.stdout).unwrap()
        };
        let program = "#!/bin/sh\necho \"this is $1\"\n";
        let sum = ablaze_model::spec::Blob::new("", program.as_bytes().to_vec()).sha256;
        let keep = format!("keep {}\n{program}", program.len());
        // What breaks off is not kept.
        assert!(host(&keep.as_bytes()[..keep.len() - 3]).ends_with(" none none\n"));
        assert!(host(keep.as_bytes()).ends_with(" none none\nthis is worker\n"));
        let again = host(b"again\n");
        assert!(again.ends_with(&format!(" none {sum}\nthis is worker\n")), "{again}");
        let kept = std::fs::read_dir(home.path().join(".cache/ablaze")).unwrap();
        let names: Vec<_> = kept.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["ablaze"], "nothing else is left");
        // Without being asked to keep it nothing is left.
        let pushed = host(format!("push {}\n{program}", program.len()).as_bytes());
        assert!(pushed.ends_with("this is worker\n"), "{pushed}");
    }
}
