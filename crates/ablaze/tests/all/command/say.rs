//! `ablaze say`: the line it prints is one that ablaze takes.

use std::process::Command;

use ablaze_testing::{Bounded, Scratch};

use crate::command::support::{Server, ablaze};

#[test]
fn the_line_does_what_the_other_tools_line_asks_for() {
    let server = Server::start(200);
    let line = format!(
        "ab -n 7 -c 2 -H 'X-Quoted: it is \"so\"' -p /dev/null '{}'",
        server.url("/a?b=1&c=2")
    );
    let said = ablaze(&["say", &line]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{said:?}");
    let command = said.stdout.trim_end().replacen("ablaze", env!("CARGO_BIN_EXE_ablaze"), 1);
    let output =
        Command::new("sh").args(["-c", &format!("{command} --json")]).bounded_output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    let seen = server.seen();
    assert_eq!(seen.len(), 7, "{command}");
    assert_eq!(seen[0].head[0], "POST /a?b=1&c=2 HTTP/1.0");
    assert_eq!(seen[0].fields("X-Quoted"), ["it is \"so\""]);
}

#[test]
fn notes_go_to_stderr_and_what_is_not_known_is_refused() {
    let said = ablaze(&["say", "wrk", "-s", "a.lua", "http://h/"]);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "ablaze -c 10 -d 10s http://h/\n"),
        "{said:?}"
    );
    assert!(said.stderr.contains("ablaze: -s a.lua: scripts are `ablaze wrk`'s"), "{said:?}");
    let said = ablaze(&["say", "curl http://h/"]);
    assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{said:?}");
    assert!(said.stderr.contains("`curl` is not known"), "{said:?}");
}

#[test]
fn called_by_the_name_of_another_tool_it_is_that_tool() {
    let folder = Scratch::new("names");
    for name in ["hey", "h2load", "oha", "vegeta", "wrk"] {
        let program = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ablaze"), &program).unwrap();
        let output = Command::new(&program).arg("--help").bounded_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.contains(&format!("ablaze {name} ")),
            "{name}: {text}"
        );
        assert!(text.contains(&format!("docs/{name}.md")), "{name}: {text}");
    }
}
