//! Causes × front ends: each forced condition is told as what it was by whichever front end measured it, and as
//! nothing else; near misses are told as nothing at all. What a busy machine adds is left out
//! ([`fronts::OF_THE_MACHINE`]): nothing here depends on how fast the machine is.

mod connections;
mod fronts;
mod secure;

use std::time::Duration;

use ablaze_testing::hostile::{Behaviour as B, Hostile, Script};

use fronts::{FRONTS, Front};

/// A condition, and what has to be said of it.
struct Condition<S = B> {
    what: &'static str,
    server: S,
    /// Long options, the same in each front end that has them.
    words: &'static [&'static str],
    /// Findings graver than a note; an experiment may call the run failed instead.
    found: &'static [&'static str],
    /// One of these must be said; nothing is asked where there is none.
    says: &'static [&'static str],
}

/// What sends people the wrong way; each is said only of the conditions that have it in `says`.
const MISLEADING: [&str; 12] = [
    "HTTP server?",
    "right port",
    "speak TLS",
    "responds in TLS",
    "othing listens",
    "is the server running",
    "firewall",
    "allow more with",
    "closes it anyway",
    "in the middle of a response",
    "Nagle",
    "does it speak HTTP/2",
];

const MS: fn(u64) -> Duration = Duration::from_millis;

fn conditions() -> Vec<Condition> {
    let of = |what, server, found, says| Condition { what, server, words: &[], found, says };
    let in_time: &[&str] =
        &["allow more with", "not respond in time", "use a longer", "still incomplete"];
    vec![
        of("resets", B::Reset, &["D02"], &["reset", "right port"]),
        of(
            "resets in a body",
            B::ResetMidBody { announced: 100, sent: 10 },
            &["D02"],
            &["in the middle of a response"],
        ),
        of(
            "closes",
            B::CloseWithoutResponse,
            &["D02"],
            &["without a response", "closed-without-response", "speak TLS"],
        ),
        of(
            "short bodies",
            B::ShortBody { announced: 100, sent: 10 },
            &["D02"],
            &["in the middle of a response", "short body"],
        ),
        Condition { words: &["--timeout", "300ms"], ..of("hangs", B::Hang, &["D02"], in_time) },
        of("no HTTP", B::Garbage, &["D02"], &["not HTTP/1", "malformed", "right port"]),
        of("two lengths", B::ConflictingLengths, &["D02"], &["not valid", "malformed"]),
        of("404", B::Status(404), &["D04"], &["404"]),
        of("503", B::Status(503), &["D04"], &["503"]),
        of("a redirect", B::Status(302), &["D04"], &["302"]),
        of("surplus bytes", B::Surplus { bytes: 7 }, &["D19"], &["sends more bytes"]),
        // Near misses.
        Condition {
            words: &["--expect", "200-399"],
            ..of("a redirect that is expected", B::Status(302), &[], &[])
        },
        of("a slow server", B::Late(MS(50)), &[], &[]),
        of("a short run", B::Fine { body_bytes: 5 }, &[], &[]),
        of("a body in pieces", B::SplitEverywhere { pause: Duration::ZERO }, &[], &[]),
    ]
}

/// A test for each front end, so that they run side by side.
macro_rules! each_condition {
    ($($name:ident: $front:literal;)*) => {
        $(#[test]
        fn $name() {
            hold_to_all($front);
        })*

        #[test]
        fn every_front_end_has_its_test() {
            let tested = [$($front),*];
            assert_eq!(FRONTS.map(|front| front.name), tested);
        }
    };
}

each_condition! {
    load_names_the_cause_and_no_other: "load";
    explain_names_the_cause_and_no_other: "explain";
    ab_names_the_cause_and_no_other: "ab";
    gurl_names_the_cause_and_no_other: "gurl";
    wrk_names_the_cause_and_no_other: "wrk";
    hey_names_the_cause_and_no_other: "hey";
    h2load_names_the_cause_and_no_other: "h2load";
    oha_names_the_cause_and_no_other: "oha";
    vegeta_names_the_cause_and_no_other: "vegeta";
    an_open_loop_names_the_cause_and_no_other: "open loop";
    compare_names_the_cause_and_no_other: "compare";
    sweep_names_the_cause_and_no_other: "sweep";
    run_names_the_cause_and_no_other: "run";
    find_names_the_cause_and_no_other: "find";
}

fn hold_to_all(name: &str) {
    let front = FRONTS.iter().find(|front| front.name == name).expect("one of FRONTS");
    let conditions = conditions();
    let conditions: Vec<_> = conditions.iter().filter(|told| front.takes(told.words)).collect();
    // A few at a time: what takes long is to wait.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let some = conditions.chunks(4);
        let threads: Vec<_> = some.map(|some| scope.spawn(move || wrong_of(some, front))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it did not panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong in what a front end says of these.
fn wrong_of(conditions: &[&Condition], front: &Front) -> Vec<String> {
    let wrong = |condition: &&Condition| {
        let server = Hostile::start(Script::per_connection([condition.server.clone()]))
            .expect("a server on loopback");
        let url = format!("http://{}/", server.address());
        let why = hold_to(condition, front, &url).err()?;
        Some(format!("{} × {}: {why}", condition.what, front.name))
    };
    conditions.iter().filter_map(wrong).collect()
}

fn hold_to<S>(condition: &Condition<S>, front: &Front, url: &str) -> Result<(), String> {
    let said = front.of(url, condition.words);
    let all = format!("{}\n{}", said.said.stdout, said.said.stderr);
    let found: Vec<&str> = said.found.iter().map(String::as_str).collect();
    let failed = front.is_experiment || !front.tells_of_failure;
    let nothing_measured = failed && found.is_empty() && said.said.status != 0;
    if found != condition.found && !nothing_measured {
        return Err(format!("found {found:?} instead of {:?}\n{all}", condition.found));
    }
    if !condition.says.is_empty() && !condition.says.iter().any(|says| all.contains(says)) {
        return Err(format!("says none of {:?}\n{all}", condition.says));
    }
    let misled = MISLEADING
        .iter()
        .filter(|text| !condition.says.contains(text))
        .find(|text| all.contains(**text));
    match misled {
        Some(text) => Err(format!("says `{text}`\n{all}")),
        None => Ok(()),
    }
}

/// Three of four connections hang from the warm-up on: what is left is one in flight, at its own rate.
#[test]
fn requests_that_hang_from_the_warmup_on_are_told() {
    let script = Script::per_connection([B::Hang, B::Hang, B::Hang]).then(B::Late(MS(1)));
    let server = Hostile::start(script).unwrap();
    let url = format!("http://{}/", server.address());
    let words = ["load", &url, "-c", "4", "--warmup", "300ms", "-d", "1500ms", "--json"];
    let said = crate::command::support::ablaze(&words);
    let found = fronts::of_json(&said.stdout);
    assert!(found.contains("D02"), "{said:?}");
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let unfinished = &report["unfinished"];
    assert_eq!(
        (unfinished["silent"].as_u64(), unfinished["silent_of_warmup"].as_u64()),
        (Some(3), Some(3))
    );
}
