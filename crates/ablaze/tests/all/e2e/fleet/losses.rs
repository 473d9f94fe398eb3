//! Workers that are lost at every stage: each gets a line, the rest is reported, and nothing is left running.

use std::time::Duration;

use ablaze_testing::Bounded;
use ablaze_testing::skip::skip;
use rustix::process::{Pid, Signal, kill_process};

use super::{Numbers, coordinator, unwrapped};
use crate::e2e::support::{Ran, eventually, run, serve, start, url};

/// What a run of this fleet says, which has `-d 2`.
fn load(fleet: &str, more: &[&str], target: &str) -> Ran {
    let words = [&["load", "--quiet", "--fleet", fleet, "-c", "6", "-d", "2"], more, &[target]];
    run(&mut coordinator(&words.concat()))
}

fn end(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
}

#[test]
fn one_that_dies_before_it_is_ready_is_named_with_what_it_said_last() {
    let (server, numbers) = (serve(), Numbers::new("fleet-before-ready"));
    let dies = "if [ {host} = b ]; then echo no route to b >&2; exit 3; fi; exec {cmd}";
    let fleet = numbers.of("a,b,c", dies);
    let ran = load(&fleet, &["--lost", "go-on"], &url(&server, "/"));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("worker b was lost: its channel was closed: no route to b"),
        "{ran:?}"
    );
    let said = unwrapped(&ran);
    assert!(said.contains("D44") && said.contains("nothing of it is in the figures"), "{ran:?}");
    // Without the option the others are called off, and there is nothing to report.
    let ran = load(&fleet, &[], &url(&server, "/"));
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("worker b was lost"), "{ran:?}");
    assert!(numbers.have_ended(&["a", "b", "c"]));
}

#[test]
fn one_that_is_killed_in_mid_run_is_lost_and_the_others_are_reported() {
    let (server, numbers) = (serve(), Numbers::new("fleet-mid-run"));
    let fleet = numbers.of("a,b,c", "exec {cmd}");
    let target = url(&server, "/");
    let words =
        ["load", "--quiet", "--fleet", &fleet, "--lost", "go-on", "-c6", "-d2", target.as_str()];
    let child = start(&mut coordinator(&words));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    // It tells of every tenth of a second.
    std::thread::sleep(Duration::from_millis(600));
    end(numbers.process("b"), Signal::KILL);
    let ran = child.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    let said = unwrapped(&ran);
    for part in [
        "D44 lost workers: 1 of 3 workers lost: b (its channel was closed)",
        "that it told of until then are not in the figures",
        "All ran for the first",
    ] {
        assert!(said.contains(part), "{part}: {ran:?}");
    }
    assert!(numbers.have_ended(&["a", "b", "c"]));
}

/// `exec:` of a and b, of which b runs behind a relay that kills it when it says this, and passes that on or not.
fn killed_when_it_says(numbers: &Numbers, said: &str, passes_on: bool) -> String {
    let pass = if passes_on { "printf '%s\\n' \"$line\"" } else { ":" };
    let relay = format!(
        "folder=$1; host=$2; shift 2\n\
         if [ \"$host\" = a ] || [ \"$2\" = fleet ]; then exec \"$@\"; fi\n\
         exec 3<&0; mkfifo \"$folder/said\"\n\
         \"$@\" <&3 >\"$folder/said\" 3<&- & worker=$!\n\
         echo $worker >\"$folder/b\"\n\
         while IFS= read -r line; do\n\
           case $line in *'\"tell\":\"{said}\"'*) kill -9 $worker; {pass};; *) printf '%s\\n' \"$line\";; esac\n\
         done <\"$folder/said\"\n"
    );
    let folder = numbers.0.path().display();
    std::fs::write(numbers.file("relay"), relay).unwrap();
    format!("exec:a,b=sh {folder}/relay {folder} {{host}} {{cmd}}")
}

#[test]
fn one_that_is_killed_between_ready_and_start_is_named_and_the_others_start() {
    let (server, numbers) = (serve(), Numbers::new("fleet-after-ready"));
    let fleet = killed_when_it_says(&numbers, "ready", true);
    let ran = load(&fleet, &["--lost", "go-on"], &url(&server, "/"));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("worker b was lost: its channel was closed"), "{ran:?}");
    // It never ran: nothing of it can wait anywhere.
    assert!(!ran.stderr.contains("fleet collect"), "{ran:?}");
    assert!(unwrapped(&ran).contains("nothing of it is in the figures"), "{ran:?}");
    assert!(numbers.have_ended(&["b"]));
}

#[test]
fn one_that_is_killed_before_it_hands_over_its_run_is_told_with_what_its_rows_said() {
    let (server, numbers) = (serve(), Numbers::new("fleet-before-run"));
    let fleet = killed_when_it_says(&numbers, "run", false);
    let ran = load(&fleet, &["--lost", "go-on"], &url(&server, "/"));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("worker b was lost: its channel was closed"), "{ran:?}");
    // Its host was asked, and knows that nothing will come.
    let knows = "its run is not there: no run waits as ";
    assert!(ran.stderr.contains(knows) && ran.stderr.contains("worker died before"), "{ran:?}");
    assert!(!ran.stderr.contains("may wait"), "{ran:?}");
    assert!(
        unwrapped(&ran).contains("that it told of until then are not in the figures"),
        "{ran:?}"
    );
    assert!(numbers.have_ended(&["b"]));
}

#[test]
fn one_that_is_killed_while_it_ends_leaves_no_file() {
    let (server, numbers) = (serve(), Numbers::new("fleet-while-ending"));
    let fleet = killed_when_it_says(&numbers, "run", true);
    let target = url(&server, "/");
    let words = ["load", "--quiet", "--fleet", &fleet, "-c", "2", "-d", "1", &target];
    let ran = run(coordinator(&words).env("TMPDIR", numbers.0.path()));
    // Its run has come, and that is all there is to it.
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(numbers.have_ended(&["b"]));
    assert_eq!(left_in(&numbers), [] as [std::ffi::OsString; 0]);
}

/// What workers have left in the folder, which is theirs for temporary files.
fn left_in(numbers: &Numbers) -> Vec<std::ffi::OsString> {
    let files = std::fs::read_dir(numbers.0.path()).unwrap().flatten().map(|file| file.file_name());
    files.filter(|name| name.to_string_lossy().starts_with("ablaze-fleet-")).collect()
}

#[test]
fn a_run_that_no_disk_has_room_for_is_not_promised() {
    let (server, numbers) = (serve(), Numbers::new("fleet-full"));
    let full = numbers.file("full");
    std::fs::create_dir(&full).unwrap();
    let mount =
        format!("mount -t tmpfs -o size=16k none {full} && head -c 64k /dev/zero >{full}/x");
    let mut try_it = std::process::Command::new("unshare");
    let words = ["-m", "sh", "-c", &format!("{mount}; [ $(stat -c %s {full}/x) -gt 0 ]")];
    if try_it.args(words).ran().status != 0 {
        return skip("a full disk of a worker: a mount of its own is not permitted here");
    }
    // The relay to b ends in mid-run, and its disk takes no byte.
    let pipe = numbers.file("pipe");
    let own = format!("{mount} 2>&-; TMPDIR={full} exec {{cmd}}");
    let relay = format!(
        "rm -f {pipe}; mkfifo {pipe}; exec 3<&0; timeout 3 cat <&3 >{pipe} & exec unshare -m sh -c \"{own}\" <{pipe} 3<&-"
    );
    let fleet =
        numbers.of("a,b", &format!("if [ {{host}} = b ]; then {relay}; else exec {{cmd}}; fi"));
    let ran = load(&fleet, &["--lost", "go-on"], &url(&server, "/"));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("worker b was lost") && ran.stderr.contains("No space left"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("its run is not there: no run waits"), "{ran:?}");
    assert!(!ran.stderr.contains("may wait"), "{ran:?}");
    assert!(numbers.have_ended(&["a", "b"]));
}

#[test]
fn a_coordinator_that_was_stopped_blames_no_worker_for_it() {
    let (server, numbers) = (serve(), Numbers::new("fleet-stopped"));
    let fleet = numbers.of("a,b", "exec {cmd}");
    let target = url(&server, "/");
    // By number: of what is due at the end of a time, a busy machine does not send all.
    let words = ["load", "--quiet", "--fleet", &fleet, "-c4", "-n1000", "-r500", target.as_str()];
    let child = start(coordinator(&words).env("TMPDIR", numbers.0.path()));
    assert!(eventually(|| server.served().requests > 100), "nothing arrives");
    child.signal(Signal::STOP);
    // Longer than workers wait for it.
    std::thread::sleep(Duration::from_secs(13));
    child.signal(Signal::CONT);
    let ran = child.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    // What they said meanwhile was there to be read.
    assert_eq!(ran.stderr, "", "{ran:?}");
    let said = unwrapped(&ran);
    assert!(said.contains("1,000 responses") && !said.contains("D44"), "{ran:?}");
    assert!(numbers.have_ended(&["a", "b"]));
    // They kept their runs for a coordinator that was gone, and then had no reason to.
    assert_eq!(left_in(&numbers), [] as [std::ffi::OsString; 0]);
}

#[test]
fn what_a_worker_measured_is_fetched_when_its_channel_broke() {
    let (server, numbers) = (serve(), Numbers::new("fleet-broken"));
    let pipe = numbers.file("pipe");
    // The relay to b ends after three seconds: a second before the end, as the start is two seconds ahead.
    let relay =
        format!("mkfifo {pipe}; exec 3<&0; timeout 3 cat <&3 >{pipe} & exec {{cmd}} <{pipe} 3<&-");
    let broken = format!("if [ {{host}} = b ]; then {relay}; else exec {{cmd}}; fi");
    let fleet = numbers.of("a,b", &broken);
    let ran = load(&fleet, &["--lost", "go-on"], &url(&server, "/"));
    assert_eq!(ran.status, 0, "{ran:?}");
    let said = unwrapped(&ran);
    assert!(
        said.contains("D44") && said.contains("fetched afterwards and is in the figures"),
        "{ran:?}"
    );
    assert!(numbers.have_ended(&["a", "b"]));
}

#[test]
fn one_that_a_signal_ends_hands_over_what_it_has() {
    let (server, numbers) = (serve(), Numbers::new("fleet-term"));
    let fleet = numbers.of("a,b", "exec {cmd}");
    let target = url(&server, "/");
    let child = start(&mut coordinator(&[
        "load",
        "--quiet",
        "--fleet",
        &fleet,
        "-c4",
        "-d30",
        target.as_str(),
    ]));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    end(numbers.process("a"), Signal::TERM);
    let ran = child.end();
    assert!(ran.took < Duration::from_secs(25), "{ran:?}");
    // Nobody pressed Ctrl-C here.
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("worker a was lost: it was ended by a signal"), "{ran:?}");
    assert!(unwrapped(&ran).contains("what it measured until then is in the figures"), "{ran:?}");
    assert!(numbers.have_ended(&["a", "b"]));
}

#[test]
fn ctrl_c_ends_all_and_keeps_the_report() {
    let (server, numbers) = (serve(), Numbers::new("fleet-interrupt"));
    let fleet = numbers.of("a,b", "exec {cmd}");
    let target = url(&server, "/");
    let child =
        start(&mut coordinator(&["load", "--fleet", &fleet, "-c4", "-d60", target.as_str()]));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    child.signal(Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(ran.stdout.contains(" responses in ") && ran.stdout.contains("interrupted"), "{ran:?}");
    assert!(!ran.stderr.contains("was lost"), "{ran:?}");
    assert!(numbers.have_ended(&["a", "b"]));
}

#[test]
fn workers_end_by_themselves_when_their_coordinator_is_killed() {
    let (server, numbers) = (serve(), Numbers::new("fleet-killed"));
    let fleet = numbers.of("a,b", "exec {cmd} --keep 1s");
    let target = url(&server, "/");
    let mut child =
        start(&mut coordinator(&["load", "--fleet", &fleet, "-c4", "-d60", target.as_str()]));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    child.kill().unwrap();
    assert!(numbers.have_ended(&["a", "b"]));
}

#[test]
fn whoever_is_not_a_worker_or_is_another_version_is_named() {
    let (server, numbers) = (serve(), Numbers::new("fleet-other"));
    let target = url(&server, "/");
    let fleet = numbers.of("a", "echo hello; exec cat >/dev/null; {cmd}");
    let ran = load(&fleet, &[], &target);
    assert!(ran.stderr.contains("something that is not a line of a worker's: `hello`"), "{ran:?}");
    let older = r#"sed -u "1s/\"program\":\"[^\"]*\"/\"program\":\"0.0.9\"/" | {cmd}"#;
    let ran = load(&numbers.of("a", older), &[], &target);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("the coordinator is ablaze 0.0.9: use one version"), "{ran:?}");
    let ran = load("exec:a=/no/such/program {cmd}", &[], &target);
    assert!(ran.stderr.contains("cannot start `/no/such/program` for a"), "{ran:?}");
    assert_eq!(ran.status, 1, "{ran:?}");
    // What a worker cannot do, it says itself.
    let ran = load("exec:2", &["--cpus", "4000"], &target);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("worker worker-1 was lost: "), "{ran:?}");
}
