//! What a person sees who typed something that cannot be carried out: one line on stderr that
//! names the fix, nothing on stdout, the right status, and nothing sent.

use crate::command::support::ablaze;

/// Each command line, its status, and what its one line must contain.
const TABLE: &[(&str, i32, &str)] = &[
    // Numbers out of range.
    (":1 -c 0", 2, "-c 1 or more"),
    (":1 -n 0", 2, "-n 1 or more"),
    (":1 -d 0", 2, "-d 1s or more"),
    (":1 -t 0", 2, "-t 1 or more"),
    (":1 --pipeline 0", 2, "--pipeline 1 or more"),
    (":1 --requests-per-connection 0", 2, "1 or more"),
    (":1 --max-head 1", 2, "16 bytes to 1GiB"),
    (":0", 2, "1 to 65535"),
    (":99999", 2, "1 to 65535"),
    ("h:1 --connect-to :0", 2, "1 to 65535"),
    (":1 --cpus 65535", 2, "not available to this process"),
    // Values that cannot be read.
    (":1 -n many", 2, "10k"),
    (":1 --timeout 5x", 2, "500ms"),
    (":1 --io kqueue", 2, "auto, uring or epoll"),
    (":1 --expect 2000", 2, "2xx,3xx"),
    (":1 --local-address eth0", 2, "10.0.0.1"),
    (":1 --local-ports 5-4", 2, "20000-30000"),
    (":1 -H no-colon", 2, "Name: value"),
    (":1 -t", 2, "--threads requires a value"),
    // Files, hosts and addresses that are not there.
    (":1 -b @/no/such/file", 2, "`/no/such/file`"),
    ("--urls /no/such/file", 2, "`/no/such/file`"),
    (":1 --body-lines /no/such/file", 2, "`/no/such/file`"),
    (":1 --local-address 192.0.2.1", 2, "cannot use --local-address 192.0.2.1: "),
    (":1 --local-address 192.0.2.1", 2, "addresses of this host"),
    ("no-such-host.invalid/", 1, "--connect-to"),
    (":1 --connect-to no-such-host.invalid", 1, "host `no-such-host.invalid` of --connect-to"),
    ("doctor no-such-host.invalid/", 1, "): check its spelling"),
    ("-6 127.0.0.1:1", 1, "remove -6"),
    // What contradicts itself.
    ("-4 -6 :1", 2, "use only one"),
    ("-c 1 -c 2 :1", 2, "given more than once"),
    (":1 -b x --body-lines /f", 2, "use only one"),
    (":1 :2", 2, "--urls"),
    ("-n 5", 2, "missing URL"),
    // Options of other commands, and values apart from their options.
    ("sweep --fail-if p99>1s -c 1,2 :1", 2, "unexpected argument `--fail-if` found; see"),
    ("sweep --repaet 3 -c 1,2 :1", 2, "(did you mean --repeat?)"),
    (":1 --web 127.0.0.1:8080", 2, "use --web=127.0.0.1:8080"),
    ("--web 127.0.0.1:8080 :1", 2, "use --web=127.0.0.1:8080"),
    (":1 --profile client", 2, "use --profile=client"),
    // Not in this version.
    ("-r ten :1", 2, "10/ms"),
    ("--rate=0 :1", 2, "use a higher one"),
    ("--rate 1..9 -n 5 :1", 2, "-d"),
    ("--rate 5 --steps 3 :1", 2, "two rates"),
    ("--rate 5 --pipeline 3 :1", 2, "cannot be used together"),
    ("--pipeline 4 --no-keepalive :1", 2, "cannot be used with a connection per request"),
    ("--pipeline 4 --requests-per-connection 1 :1", 2, "raise -c instead of --pipeline"),
    ("--http 2 --streams 4 --requests-per-connection 1 :1", 2, "raise -c instead"),
    ("--rate 5 --ramp 3 :1", 2, "cannot be used together"),
    ("--rate 5 --arrivals often :1", 2, "constant or poisson"),
    ("--arrivals poisson :1", 2, "--arrivals needs --rate, such as"),
    ("--steps 3 :1", 2, "--steps needs --rate, such as"),
    (
        "--http 3 :1",
        2,
        "--http 3 needs TLS, and http://127.0.0.1:1/ has none: use https://127.0.0.1:1/, or --http 2",
    ),
    ("--quic-pacing :1", 2, "--quic-pacing needs HTTP/3: add --http 3"),
    ("--http 3 --close fin https://h:1", 2, "--http 3 and --close cannot be used together"),
    ("-k --http 3 --proxy p:1 https://h:1", 2, "--http 3 and --proxy cannot be used together"),
    (
        "-k --http 3 --tls-max 1.2 https://h:1",
        2,
        "--tls-max 1.2 cannot be used together: QUIC has TLS 1.3 in it",
    ),
    ("https://127.0.0.1:1/ --tls-min 1.1", 2, "--tls-min `1.1`: TLS 1.1 is deprecated"),
    ("--profile=foo :1", 2, "--profile `foo`: expected"),
    ("-c 5 -c -5 :1", 2, "`-5` is negative: values are 0 or more"),
    ("--local-ports 10 -c 2 :1", 2, "there is only 1 (10)"),
    ("--keepalive :1", 2, "--keepalive: it is the default; --no-keepalive turns it off"),
    ("compare --keepalive :1 :2", 2, "it is the default; --no-keepalive turns it off"),
    ("compare :1 --control apache", 2, "`apache` for `--control <SERVER>`: expected nginx"),
    ("compare serve:epoll-et,foo=1 :1", 2, "unknown option `foo`; `ablaze serve --help` lists"),
    (
        "sweep -c 1,2 --rates 1k,2k --vary streams=1,2 :1",
        2,
        "a sweep has at most two axes, but -c, --rates",
    ),
    ("compare :1 :2 --folder /proc/x", 2, "use --folder with another name"),
    ("find :1 --slo p99<1s --folder /dev/null", 2, "/dev/null: not a folder; use --folder"),
    ("run /dev/null", 2, "/dev/null"),
    (":1 -o run", 2, "no file extension: it selects the format, use one of .html"),
    ("", 2, "the URL is empty"),
    (":1 -m é", 2, "method `é`: not a token, such as GET or M-SEARCH"),
    ("https://127.0.0.1:1/ --cacert /nowhere", 2, "cannot use --cacert /nowhere: no such file"),
    ("https://127.0.0.1:1/ --cacert /dev/null", 2, "it contains no certificate (PEM)"),
    ("https://127.0.0.1:1/ -k --key /dev/null", 2, "--key requires its certificate"),
    ("https://127.0.0.1:1/ -k --tls-min 1.1", 2, "use 1.2 or 1.3"),
    ("https://127.0.0.1:1/ -k --tls-min 1.3 --tls-max 1.2", 2, "no version of TLS is left"),
    ("https://127.0.0.1:1/ -k --tls-ciphers RC4", 2, "use some of TLS_AES_128_GCM_SHA256"),
    ("https://127.0.0.1:1/ -k --tls-groups p-999", 2, "use some of x25519"),
    ("https://127.0.0.1:1/ -k --sni a..b", 2, "cannot be the name in a certificate"),
    (
        "https://127.0.0.1:1/ -k --tls-max 1.2 --tls-ciphers TLS_AES_128_GCM_SHA256",
        2,
        "none of the requested cipher suites",
    ),
    ("compare a b", 2, "not a target"),
    ("find :1", 2, "--slo"),
    ("run", 2, "missing file"),
    ("report", 2, "missing argument"),
    ("run /no/such/file.toml", 2, "`/no/such/file.toml`"),
    ("report /no/such/file", 2, "`/no/such/file`"),
    ("gurl -rate x -bench :1", 2, "count"),
    // Fingers used to other tools.
    ("-kc 10 -i :1", 2, "-m HEAD"),
    ("-p file :1", 2, "-b @FILE"),
    ("-T text/plain :1", 2, "--content-type"),
    ("-C a=b :1", 2, "--cookie 'name=value'"),
    ("-s 30 :1", 2, "--timeout"),
    ("-g out :1", 2, "ablaze ab -g"),
    ("-d {\"a\":1} :1", 2, "-b '{\"a\":1}'"),
    (":1 --conections 5", 2, "--connections"),
    ("laod", 2, "ablaze load"),
    ("unknown", 2, "http://unknown/"),
    ("gurl :1", 1, "is the server running"),
    ("gurl -w :1", 2, "add \"|\" -O"),
    ("gurl -K x.lua :1", 2, "`ablaze wrk -s SCRIPT.lua URL`"),
    ("gurl -bench", 2, "missing URL"),
    // gurl's options have names of their own.
    ("gurl -ac 0 -bench :1", 2, "use -ac 1 or more"),
    ("gurl -an 0 -bench :1", 2, "use -an 1 or more"),
    ("gurl -duration 0s -bench :1", 2, "use -duration 1s or more"),
    ("gurl -H bad -bench :1", 2, "Name: value"),
    ("gurl -bench :0", 2, "1 to 65535"),
    ("gurl -d @/no/such/file -bench :1", 2, "`/no/such/file`"),
    ("wrk", 1, "missing URL"),
    ("wrk -c1 -t2 http://h/", 1, "number of connections must be >= threads"),
    ("wrk -x http://h/", 1, "unknown option -x"),
    ("wrk -d 1x http://h/", 1, "use a time such as 30, 30s, 2m or 1h"),
    ("wrk --urls f http://h/", 1, "use `ablaze load --urls …`"),
    ("wrk http://", 1, "invalid URL: http://"),
    ("gurl -bench no-such-host.invalid/", 1, "check its spelling"),
];

/// Behind ab's banner, and with ab's status of an unusable command line.
#[test]
fn ab_takes_no_pipeline_on_a_connection_per_request() {
    let said = ablaze(&["ab", "--pipeline", "4", "http://127.0.0.1:1/"]);
    assert_eq!(said.status, 22, "{said:?}");
    assert!(said.stderr.contains("cannot be used with a connection per request"), "{said:?}");
}

#[test]
fn every_error_is_one_line_that_names_the_fix() {
    for (line, status, expected) in TABLE {
        let arguments: Vec<&str> = line.split(' ').collect();
        let said = ablaze(&arguments);
        assert_eq!(said.status, *status, "{line}: {}", said.stderr);
        assert!(said.stderr.contains(expected), "{line}: {}", said.stderr);
        assert!(said.stderr.starts_with("ablaze: "), "{line}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{line}: {}", said.stderr);
        assert!(said.stderr.ends_with('\n'), "{line}");
        assert_eq!(said.stdout, "", "{line}");
    }
}

#[test]
fn help_and_version_are_responses() {
    for arguments in [&[][..], &["--help"], &["-h"], &["help"]] {
        let said = ablaze(arguments);
        assert_eq!((said.status, said.stderr.as_str()), (0, ""));
        assert!(said.stdout.lines().count() <= 30 && said.stdout.contains("measure"));
    }
    for arguments in [&["load", "--help"][..], &["-c", "5", "--help"], &["help", "load"]] {
        assert!(ablaze(arguments).stdout.contains("--requests-per-connection"), "{arguments:?}");
    }
    for arguments in ["--version", "-V", "version"] {
        let said = ablaze(&[arguments]);
        assert_eq!((said.status, said.stderr.as_str()), (0, ""));
        let first = said.stdout.lines().next().unwrap().split(" (").next();
        assert_eq!(first, Some(concat!("ablaze ", env!("CARGO_PKG_VERSION"))));
    }
    assert!(ablaze(&["gurl", "-h"]).stdout.contains("-echo"));
}
