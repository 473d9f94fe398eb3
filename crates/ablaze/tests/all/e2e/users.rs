//! Users against the shop that this program serves: their setup, their weights, how many they are, and what is kept of them
//! in reports; options that are refused.

use std::collections::BTreeMap;

use ablaze_target::options::{App, ShopOptions};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch as Folder;

use crate::e2e::journeys::counted;
use crate::e2e::support::{BACKENDS, ablaze, measured, number, url};

const LOGIN: &str = "# name: login
POST /login
[Form]
user: {{user}}
password: {{password}}
HTTP 200
[Captures]
token: jsonpath \"$.token\"
";
const BROWSE: &str = "# name: item
GET /items/{{item}}
Authorization: Bearer {{token}}
HTTP 200
";
const BUY: &str = "# name: item
GET /items/{{item}}
Authorization: Bearer {{token}}
HTTP 200

# name: basket
POST /basket
{\"item\": {{item}}, \"count\": 2}
HTTP 201
";
/// The third cannot log in.
const USERS: &[u8] = b"user,password,item\nann,nna,3\nbob,bob,7\neve,wrong,9\n";

struct Files {
    login: String,
    browse: String,
    buy: String,
    feed: String,
    _folder: Folder,
}

fn files() -> Files {
    let folder = Folder::new("users");
    Files {
        login: folder.write("login.hurl", LOGIN),
        browse: folder.write("browse.hurl", BROWSE),
        buy: folder.write("buy.hurl", BUY),
        feed: folder.write("users.csv", USERS),
        _folder: folder,
    }
}

fn shop() -> Running {
    let address = "127.0.0.1:0".parse().unwrap();
    let app = Some(App::Shop(ShopOptions::default()));
    Server::start(Options { address, app, http2: true, threads: 1, ..Options::default() }).unwrap()
}

#[test]
fn users_log_in_once_and_their_journeys_are_counted_as_the_server_counts_them() {
    let files = files();
    let browse = format!("{}=3", files.browse);
    let of_http2 = [vec!["--http", "2"], vec!["--http", "2", "--streams", "3"]];
    for way in BACKENDS.map(|io| vec!["--io", io]).into_iter().chain(of_http2) {
        let server = shop();
        let target = url(&server, "");
        let words =
            ["load", "--journey", &browse, "--journey", &files.buy, "--setup", &files.login];
        let how = ["--feed", &files.feed, "--users", "12", "--iterations", "5", "-t", "2"];
        let (ran, json) = measured(&[&words[..], &how, &way, &[&target]].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        let of = |pointer: &str| number(&json, &format!("/journeys{pointer}"));
        // Every third user is Eve, with the row that stays with it.
        let server_counted = counted(&server);
        let route = |route: &str, status: &str| {
            server_counted.get(&(route.to_owned(), status.to_owned())).copied().unwrap_or(0)
        };
        assert_eq!((route("POST /login", "200"), route("POST /login", "401")), (8, 4));
        assert_eq!((of("/setup/begun"), of("/setup/failed")), (12, 4));
        let why = json.pointer("/journeys/setup/first/text").unwrap();
        assert_eq!(why, "line 6: the status is 401, not 200");
        assert_eq!((of("/begun"), of("/whole"), of("/failed")), (8 * 5, 8 * 5, 0));
        let each: BTreeMap<&str, u64> = (0..2)
            .map(|one| {
                let name = json.pointer(&format!("/journeys/each/{one}/name")).unwrap();
                (name.as_str().unwrap(), of(&format!("/each/{one}/whole")))
            })
            .collect();
        assert_eq!(each.values().sum::<u64>(), 40, "{each:?}");
        assert_eq!(each["buy"], route("POST /basket", "201"), "{each:?}");
        assert_eq!(route("GET /items/ID", "200"), 40);
        let groups: Vec<(&str, u64)> = (0..3)
            .map(|group| {
                let name = json.pointer(&format!("/groups/{group}/name")).unwrap();
                (name.as_str().unwrap(), number(&json, &format!("/groups/{group}/responses")))
            })
            .collect();
        let expected =
            [("browse.item", each["browse"]), ("buy.item", each["buy"]), ("basket", each["buy"])];
        assert_eq!(groups, expected);
    }
}

#[test]
fn a_number_of_users_that_grows_is_said_and_no_finding() {
    let files = files();
    let server = shop();
    let target = url(&server, "");
    let words = ["load", "--journey", &files.buy, "--setup", &files.login, "--users", "2..20"];
    let given = ["--variable", "user=ann", "--variable", "password=nna", "--variable", "item=3"];
    let how = ["-d", "1s", "--think-time", "5ms..15ms"];
    let (ran, json) = measured(&[&words[..], &given, &how, &[&target]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ramp = |name: &str| number(&json, &format!("/request/journey/users/ramp/{name}"));
    assert_eq!((ramp("from"), ramp("to"), ramp("over_ns")), (2, 20, 1_000_000_000));
    assert_eq!(number(&json, "/journeys/setup/failed"), 0);
    let found = json.pointer("/verdict/findings").unwrap().to_string();
    for drift in ["D01", "D34"] {
        assert!(!found.contains(&format!("\"{drift}\"")), "{found}");
    }
}

#[test]
fn a_run_without_a_user_says_why() {
    let files = files();
    let server = shop();
    let target = url(&server, "");
    let words = ["load", "--journey", &files.buy, "--setup", &files.login, "--users", "3"];
    let given = ["--variable", "user=ann", "--variable", "password=no", "--variable", "item=3"];
    let ran = ablaze(&[&words[..], &given, &["-d", "60s", &target]].concat());
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    let why = "login.hurl: line 6: the status is 401, not 200";
    assert!(ran.stderr.contains("every user failed in the setup: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert!(ran.stdout.contains("0 of 3 users; 3 failed"), "{}", ran.stdout);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = format!("D02 no response: All 3 users failed in the setup {}, ", files.login);
    assert!(words.contains(&found), "{}", ran.stdout);
    assert!(!words.contains("No request was due"), "{}", ran.stdout);
}

#[test]
fn conditions_are_put_on_steps_and_journeys() {
    let files = files();
    let server = shop();
    let target = url(&server, "");
    let words = ["load", "--journey", &files.buy, "--setup", &files.login, "-n", "200", &target];
    let given = ["--variable", "user=ann", "--variable", "password=nna", "--variable", "item=3"];
    let all = [&words[..], &given].concat();
    let table: &[(&[&str], i32, &str)] = &[
        (
            &["--slo", "basket.p90<1h,item.errors<1,buy.p50<1h", "--fail-if", "journey.errors>0"],
            0,
            "",
        ),
        (&["--slo", "basket.p90<1h,item.max<1ns"], 3, "--slo item.max<1ns does not hold: "),
        (&["--fail-if", "basket.status.201>=200"], 3, "basket.status.201>=200 met: 200"),
        (&["--fail-if", "buy.rate>0"], 3, "--fail-if buy.rate>0 met: "),
        (&["--slo", "login.p90<1s"], 2, "no group `login`; there are: item, basket, buy, journey"),
        (&["--fail-if", "journey.cpu>1s"], 2, "figures of the whole run"),
    ];
    for (conditions, status, expected) in table {
        let ran = ablaze(&[&all[..], conditions].concat());
        assert_eq!(ran.status, *status, "{conditions:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{conditions:?}: {}", ran.stderr);
    }
}

#[test]
fn what_users_cannot_do_is_refused_with_its_fix() {
    let files = files();
    let given = ["--variable", "token=x", "--variable", "item=3"];
    let table: &[(&[&str], &str)] = &[
        (&["-c", "5", "--users", "3"], "--users and -c cannot be used together"),
        (&["--users", "9..3"], "the first must be the smaller one"),
        (&["--users", "3..9", "-n", "9"], "use -d, too"),
        (&["--users", "3..9", "--rate", "5"], "use --rate 10/s..100/s"),
        (&["--iterations", "3", "--rate", "5"], "use -n"),
        (&["--setup", &files.login, "--rate", "5"], "the variable user is not set"),
        (&["--journey", &files.buy], "is given twice"),
        (&["--think-time", "2s..1s"], "the first time must be the shorter one"),
    ];
    for (words, expected) in table {
        let all = [&["load", "--journey", &files.buy, ":1"][..], &given, words].concat();
        let ran = ablaze(&all);
        assert_eq!(ran.status, 2, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
    let ran = ablaze(&["load", "--users", "3", ":1"]);
    assert_eq!((ran.status, ran.stderr.contains("--users needs --journey")), (2, true));
}
