//! Tests of [`super`]: gurl's command line as words.

use super::*;

fn parse(line: &str) -> Result<Options, CommandError> {
    let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
    Options::parse(&words)
}

#[test]
fn the_command_line_of_the_comparison_with_ab() {
    let options = parse("-ac 21 -an 1000000 -bench :12345").unwrap();
    let expected = Options {
        bench: true,
        connections: 21,
        requests: Some(1_000_000),
        url: Some(":12345".into()),
        ..Options::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn dashes_and_equal_signs_are_gos() {
    let line = "http --ac=3 -an=-1 --bench=true -duration 1m10s -X=PUT -H A:b -H=C:d=e -d @f h/x";
    let options = parse(line).unwrap();
    assert_eq!((options.connections, options.requests, options.bench), (3, None, true));
    assert_eq!(options.duration_ns, Some(70_000_000_000));
    assert_eq!(options.headers, ["A:b", "C:d=e"]);
    assert_eq!((options.method.as_deref(), options.body.as_deref()), (Some("PUT"), Some("@f")));
    assert!(!parse("-bench=false h").unwrap().bench);
    assert_eq!(parse("-url a:1 b:2").unwrap().url.as_deref(), Some("b:2"));
    assert_eq!(parse("-echo :1").unwrap().serve, parse("--l=:1").unwrap().serve);
}

#[test]
fn gurls_units_of_time() {
    assert_eq!(duration_ns("1d"), Ok(86_400_000_000_000));
    assert_eq!(duration_ns("1M"), Ok(31 * 86_400_000_000_000));
    assert_eq!(duration_ns("2w1h"), Ok((14 * 24 + 1) * 3_600_000_000_000));
    assert!(duration_ns("5x").is_err());
}

#[test]
fn what_cannot_be_read_is_named() {
    for (line, expected) in [
        ("-ac", "-ac requires a value"),
        ("-ac x h", "-ac `x`"),
        ("-bench=maybe h", "-bench=`maybe`"),
        ("-nonsense h", "unknown option -nonsense"),
        ("a:1 b:2", "unexpected argument `b:2`"),
    ] {
        let error = parse(line).unwrap_err();
        assert!(error.line.contains(expected) && error.status == 2, "{line}: {error}");
    }
}
