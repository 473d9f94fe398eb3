//! Built-in servers of experiments: what follows from their words, and that a spec and its words are the same.

use std::collections::BTreeSet;

use ablaze_model::experiment::Speaks;
use ablaze_model::spec::HttpVersion;
use ablaze_testing::Scratch;

use super::*;

fn of(words: &str) -> Result<ModelSpec, CommandError> {
    of_words(&words.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

/// What a control and the processors of a target go by.
#[test]
fn a_preset_has_the_threads_that_its_options_say() {
    let threads = |words| of(words).unwrap().threads.unwrap();
    assert_eq!(threads("--like cppnet-1"), Threads::Exactly(2));
    assert_eq!(threads("--like muduo"), Threads::Exactly(2));
    assert_eq!(threads("--like handy-et"), Threads::Exactly(1));
    assert_eq!(threads("--like cppnet-1 --threads 4"), Threads::Exactly(4));
    assert_eq!(threads("--like gurl-echo"), Threads::All);
    assert_eq!(threads("--model epoll-et"), Threads::Exactly(1));
}

#[test]
fn a_model_knows_what_it_speaks() {
    let tls = of("--tls").unwrap();
    assert!(tls.speaks_tls() && !tls.has_certificate());
    assert!(of("--tls-max 1.2").unwrap().speaks_tls() && !of("--close").unwrap().speaks_tls());
    assert!(of("--tls-ca-out ca.pem").unwrap().has_certificate());
    assert_eq!(of("--http 2.0").unwrap().connections.http, Some(HttpVersion::Http2));
    for wrong in ["--modle epoll-et", "--like nginx", "--help", ":8080", "--ready-fd 3"] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_it_does_not_say_of_tls_and_http_is_filled_in() {
    let speaking = |words: &str| {
        of(words)
            .unwrap()
            .speaking(Speaks { https: true, http2: true, http3: false })
            .words()
            .join(" ")
    };
    assert_eq!(speaking("--model async"), "--model async --threads 1 --http 2 --tls");
    let own = "--threads 2 --http 1.1 --tls-max 1.2";
    assert_eq!(speaking(own), own);
    assert_eq!(
        of("--like muduo").unwrap().speaking(Speaks::default()),
        of("--like muduo").unwrap()
    );
}

/// A value for every option that a server of an experiment can be given, several where they are of several kinds.
fn values(file: &str) -> Vec<(&'static str, Vec<String>)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let words_of = |name: &str, texts: Vec<String>| -> Vec<String> {
        texts.into_iter().map(|text| format!("--{name}={text}")).collect()
    };
    let table: &[(&'static str, &[&str])] = &[
        ("model", &["uring", "fiber-asm"]),
        ("accept", &["single", "shared", "exclusive", "reuseport"]),
        ("threads", &["all", "3"]),
        ("cpus", &["0", "0-2,5"]),
        ("like", &["sylar-1"]),
        ("stack", &["32KiB"]),
        ("stack-pool", &["0"]),
        ("scheduler", &["per-thread", "shared"]),
        ("arm", &["persistent", "per-wait"]),
        ("size", &["0", "1.5MiB"]),
        ("status", &["503"]),
        ("head-bytes", &["300"]),
        ("route", &["/a=b*=404:x=200:y", "*=204:", "/ü=200:-ü"]),
        ("app", &["shop", "shop:404=1%", "shop:404=0.5%/500=0"]),
        ("response", &["http", "echo", "none"]),
        ("server-name", &["", "-x", "a b"]),
        ("max-body", &["1GiB"]),
        ("work", &["500", "10us"]),
        ("in-service", &["0", "4"]),
        ("write", &["whole", "split"]),
        ("http", &["1.1", "2.0", "3"]),
        ("max-streams", &["7"]),
        ("max-requests", &["0", "10k"]),
        ("read-timeout", &["0", "1.5", "7ns", "2m"]),
        ("backlog", &["20"]),
        ("accept-batch", &["one", "drain"]),
        ("per-accept", &["nothing", "sylar"]),
        ("max-events", &["64"]),
        ("sndbuf", &["64KiB"]),
        ("rcvbuf", &["4096"]),
        ("nodelay", &["on", "off"]),
        ("tls-ca-out", &["ca.pem"]),
        ("tls-min", &["1.2", "1.3"]),
        ("tls-max", &["1.2", "1.3"]),
        ("tls-tickets", &["on", "off"]),
        (
            "delay",
            &["10ms", "0", "uniform:1ms-20ms", "exp:7us", "bimodal:1ms/100ms/0.7%", "stall:1s/10s"],
        ),
        (
            "fault",
            &["reset-before=1%", "reset-during=0.3", "reset-after=100%", "close-unanswered=0.01%"],
        ),
        ("datagram-loss", &["1%", "0.5"]),
        ("seed", &["18446744073709551615"]),
        ("stats", &["counters.json"]),
    ];
    let mut all: Vec<_> =
        table.iter().map(|(name, values)| (*name, words_of(name, texts(values)))).collect();
    let kinds = ["short-body=1", "wrong-length=0", "garbage=0.1", "trickle=33%"];
    all.push(("fault", words_of("fault", texts(&kinds))));
    all.push(("route", words_of("route", vec![format!("/file=200:@{file}")])));
    let switches = ["echo", "close", "keep-alive", "retry", "tls"];
    all.extend(switches.map(|name| (name, vec![format!("--{name}")])));
    all
}

/// Files of the machine that starts the server: these are read by whoever resolves the spec, so no words with them
/// pass without real ones.
const FILES: [&str; 3] = ["tls-cert", "tls-key", "tls-client-ca"];
/// Of a process rather than of a server.
const PROCESS: [&str; 4] = ["ready-fd", "stop-with-stdin", "quiet", "help"];

fn parsed(words: &[String]) -> ModelSpec {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    read(&words).unwrap_or_else(|error| panic!("{words:?}: {error}")).unwrap().spec
}

#[test]
fn every_option_comes_back_from_its_words_and_from_its_saved_form() {
    let folder = Scratch::new("options");
    let mut values = values(&folder.write("body", "x"));
    values.extend(FILES.map(|name| (name, vec![format!("--{name}=file.pem")])));
    for word in values.iter().flat_map(|(_, words)| words) {
        let spec = parsed(std::slice::from_ref(word));
        assert_ne!(spec, ModelSpec::default(), "{word}");
        let back = parsed(&spec.words());
        assert_eq!((back.words(), &back), (spec.words(), &spec), "{word}");
        let saved = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ModelSpec>(&saved).unwrap(), spec, "{saved}");
    }
    let tried: BTreeSet<&str> = values.iter().map(|(name, _)| *name).chain(PROCESS).collect();
    let options = CommandLine::command();
    let all = options.get_arguments().filter_map(|argument| argument.get_long()).chain(["help"]);
    assert_eq!(tried, all.collect::<BTreeSet<_>>());
}

#[test]
fn a_whole_command_line_comes_back_from_its_words() {
    let folder = Scratch::new("line");
    let left_out = ["close", "echo", "like"];
    let words: Vec<String> = values(&folder.write("body", "x"))
        .into_iter()
        .filter(|(name, _)| !left_out.contains(name))
        .flat_map(|(_, words)| words)
        .collect();
    let spec = parsed(&words);
    assert_eq!((spec.responses.routes.len(), spec.trouble.faults.len()), (4, 8));
    assert_eq!(parsed(&spec.words()), spec);
}

#[test]
fn the_body_of_a_route_is_the_file_that_was_read() {
    let folder = Scratch::new("route");
    let file = folder.write("body", "one");
    let spec = of(&format!("--route /a=200:@{file}")).unwrap();
    assert_eq!(spec.blobs()[0].bytes().unwrap(), b"one");
    folder.write("body", "two");
    let asked = Asked { spec, address: None, process: read(&[]).unwrap().unwrap().process };
    assert_eq!(resolve(asked).unwrap().options.routes[0].body, b"one");
}
