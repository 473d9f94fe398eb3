//! `--like`: the options under which the built-in server does what a measured system does. Each
//! preset is a command line of ordinary options, so that it can be printed, copied and changed.
//! What stands in for what is in docs/targets.md; ports are not part of it.

use std::ffi::OsString;

use crate::CommandError;
use crate::suggest::nearest;

/// A measured system.
#[derive(Debug)]
pub struct Preset {
    /// Its name for `--like`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The options, as words separated by blanks; none has a blank in it.
    words: &'static str,
}

/// All of them, in the order of the documents that measured them.
pub const PRESETS: [Preset; 12] = [
    Preset {
        name: "gurl-echo",
        about: "gurl's own server: Go's net/http on all cores, an empty response of 137 B",
        words: "--model fiber-asm --scheduler shared --arm persistent --accept single --threads all \
                --size 0 --route /*=200: --server-name gurl-server",
    },
    Preset {
        name: "handy-lt",
        about: "handy's epoll.cc: level-triggered, one thread, 1 MiB (also measured: --size 48576)",
        words: "--model epoll-lt --accept single --threads 1 --accept-batch one --max-events 20 \
                --backlog 20 --nodelay off --size 1MiB --server-name=",
    },
    Preset {
        name: "handy-et",
        about: "handy's epoll-et.cc: the same, edge-triggered",
        words: "--model epoll-et --accept single --threads 1 --accept-batch one --max-events 20 \
                --backlog 20 --nodelay off --size 1MiB --server-name=",
    },
    Preset {
        name: "sylar-1",
        about: "SERVER_1 of the sylar measurement: plain epoll; reads, closes, never responds",
        words: "--model epoll-lt --accept single --threads 1 --accept-batch one --max-events 10 \
                --backlog 5 --nodelay off --response none --close",
    },
    Preset {
        name: "sylar-2",
        about: "SERVER_2: fibers, accepting by hand; sends the request back and closes",
        words: "--model fiber-ucontext --scheduler shared --arm per-wait --stack 128KiB \
                --accept single --threads 1 --accept-batch one --max-events 256 --backlog 1024 \
                --nodelay off --response echo --close",
    },
    Preset {
        name: "sylar-3",
        about: "SERVER_3: sylar's TcpServer; reads, closes, never responds",
        words: "--model fiber-ucontext --scheduler shared --arm per-wait --stack 128KiB \
                --accept single --threads 1 --accept-batch drain --max-events 256 --backlog 4096 \
                --nodelay off --per-accept sylar --read-timeout 120s --response none --close",
    },
    Preset {
        name: "routn",
        about: "routn's HTTP server over ucontext, a new stack per fiber, a 404 page of 138 B",
        words: "--model fiber-ucontext --scheduler shared --arm per-wait --stack 128KiB \
                --stack-pool 0 --accept single --threads 1 --accept-batch drain --max-events 64 \
                --backlog 4096 --nodelay off --per-accept sylar --read-timeout 120s --status 404 \
                --size 138 --server-name routn/1.0.0",
    },
    Preset {
        name: "routn-libco",
        about: "the same over libco's context switch",
        words: "--model fiber-asm --scheduler shared --arm per-wait --stack 128KiB --stack-pool 0 \
                --accept single --threads 1 --accept-batch drain --max-events 64 --backlog 4096 \
                --nodelay off --per-accept sylar --read-timeout 120s --status 404 --size 138 \
                --server-name routn/1.0.0",
    },
    Preset {
        name: "routn-pool",
        about: "routn 1.0.4 with its pool of fibers, over ucontext (also measured: --model fiber-asm)",
        words: "--model fiber-ucontext --scheduler shared --arm per-wait --stack 128KiB \
                --stack-pool 1024 --accept single --threads 1 --accept-batch drain \
                --max-events 64 --backlog 4096 --nodelay off --per-accept sylar \
                --read-timeout 120s --status 404 --size 138 --server-name routn/1.0.4",
    },
    Preset {
        name: "cppnet-1",
        about: "CppNet, 2 threads with a listener each (SO_REUSEPORT)",
        words: "--model epoll-et --accept reuseport --threads 2 --accept-batch drain \
                --max-events 1024 --backlog 4096 --nodelay off --server-name CppNet",
    },
    Preset {
        name: "cppnet-2",
        about: "CppNet, 2 threads on one listener with EPOLLEXCLUSIVE",
        words: "--model epoll-et --accept exclusive --threads 2 --accept-batch drain \
                --max-events 1024 --backlog 4096 --nodelay off --server-name CppNet",
    },
    Preset {
        name: "muduo",
        about: "muduo's HTTP server: an accepting loop hands connections to 2 level-triggered loops",
        words: "--model epoll-lt --accept single --threads 2 --accept-batch one \
                --max-events 1024 --backlog 4096 --nodelay off --server-name Muduo",
    },
];

impl Preset {
    /// The preset of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(name: &str) -> Result<&'static Self, CommandError> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let names = PRESETS.map(|preset| preset.name);
            let meant = match nearest(name, &names) {
                Some(name) => format!("did you mean {name}?"),
                None => format!("expected one of {}", names.join(", ")),
            };
            CommandError::usage(format!(
                "unknown system --like {name}: {meant} (`ablaze serve --like list` lists them)"
            ))
        })
    }

    /// The words it stands for.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        self.words.split_whitespace().map(OsString::from)
    }

    /// The command line it stands for, as a shell takes it, in lines of at most 96 columns.
    pub fn command_line(&self) -> String {
        let mut text = "ablaze serve".to_owned();
        let mut column = text.len();
        for word in pairs(self.words) {
            if column + word.len() > 94 {
                text.push_str(" \\\n   ");
                column = 3;
            }
            text.push(' ');
            text.push_str(&word);
            column += 1 + word.len();
        }
        text
    }
}

/// What `--like list` prints: a script, each preset with a comment in front.
pub fn list() -> String {
    let entry = |preset: &Preset| {
        format!("# {}: {}\n{}\n", preset.name, preset.about, preset.command_line())
    };
    PRESETS.iter().map(entry).collect::<Vec<_>>().join("\n")
}

/// Options with their values, quoted where a shell would change them.
fn pairs(words: &str) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        let plain =
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./:".contains(&byte));
        let quoted = if plain { word.to_owned() } else { format!("'{word}'") };
        match pairs.last_mut() {
            Some(option) if !word.starts_with("--") => {
                option.push(' ');
                option.push_str(&quoted);
            }
            _ => pairs.push(quoted),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::resolve::{ServerPlan, read, resolve};
    use super::*;

    fn asked(words: &[OsString]) -> ServerPlan {
        let resolved = read(words).and_then(|asked| resolve(asked.unwrap()));
        resolved.unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// What a shell makes of a command line: the oracle for quoting.
    fn as_a_shell_reads(command_line: &str) -> Vec<OsString> {
        let script = command_line.replacen("ablaze serve", "printf '%s\\n'", 1);
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{script}");
        String::from_utf8(output.stdout).unwrap().lines().map(OsString::from).collect()
    }

    #[test]
    fn each_preset_is_valid_and_its_printed_command_line_means_the_same() {
        for preset in &PRESETS {
            let by_name = asked(&["--like".into(), preset.name.into()]).options;
            assert_eq!(by_name.validate(), Ok(()), "{}", preset.name);
            let words = as_a_shell_reads(&preset.command_line());
            assert_eq!(asked(&words).options, by_name, "{}", preset.name);
        }
    }

    #[test]
    fn the_list_is_a_script_that_fits_a_screens_width() {
        let list = list();
        assert!(list.lines().all(|line| line.len() <= 100), "{list}");
        for preset in &PRESETS {
            assert!(list.contains(&format!("# {}: ", preset.name)), "{}", preset.name);
            assert!(list.contains(&preset.command_line()), "{}", preset.name);
        }
    }

    #[test]
    fn a_name_that_is_not_known_is_answered_with_the_nearest_or_all() {
        let error = Preset::find("handy-te").unwrap_err();
        assert!(error.line.contains("did you mean handy-et?"), "{error}");
        let error = Preset::find("apache").unwrap_err();
        assert!(error.line.contains("gurl-echo") && error.line.contains("muduo"), "{error}");
    }
}
