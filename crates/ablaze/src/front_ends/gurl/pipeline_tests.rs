//! Tests of [`super`]: lines as records, and which stages fit each other.

use super::*;

fn text(line: &str, separator: &str, names: &str) -> String {
    text_of(&record(line, separator, names))
}

#[test]
fn fields_are_columns_or_have_other_names() {
    for (line, separator, names, expected) in [
        ("a b", " ", "", r#"{"rf.col.0":"a","rf.col.1":"b"}"#),
        ("a b", " ", "k=rf.col.1,z=rf.col.7", r#"{"k":"b","rf.col.0":"a"}"#),
        ("", " ", "", r#"{"rf.col.0":""}"#),
        ("a  b", " ", "", r#"{"rf.col.0":"a","rf.col.1":"","rf.col.2":"b"}"#),
        ("a b,\"c,d\"", ",", "", r#"{"rf.col.0":"a b","rf.col.1":"\"c","rf.col.2":"d\""}"#),
        ("é1", "", "", r#"{"rf.col.0":"é","rf.col.1":"1"}"#),
    ] {
        assert_eq!(text(line, separator, names), expected, "{line}");
    }
}

#[test]
fn stages_that_do_not_fit_are_named() {
    for (line, expected) in [
        ("-I -R f | -r -w u | -O", ""),
        ("-I | -O", ""),
        ("-I -R f | -r u", ""),
        ("-w u | -r -w u | -O", ""),
        ("u", ""),
        ("-I -R f", "-I makes records"),
        ("-R f", "-I makes records"),
        ("-O", "-O writes the records"),
        ("-O | -r u", "stage 1: -O writes"),
        ("-r u", "-r reads the records"),
        ("-w u", "-w writes records"),
        ("-I -R f | u", "stage 2: it reads nothing"),
        ("u | -O", "stage 1: it writes nothing"),
        ("-w u | -I -R f", "stage 2: -I reads lines"),
        ("-I -O | -O", "stage 1: -I and -O are two stages"),
        ("-I -R f | -r -bench u", "stage 2: -bench loads one URL"),
        ("-echo :0 | -O", "stage 1: -echo"),
    ] {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let options: Vec<Options> =
            stages(&words).into_iter().map(|words| Options::parse(words).unwrap()).collect();
        match check(&options) {
            Ok(()) => assert_eq!(expected, "", "{line}"),
            Err(error) => {
                assert!(!expected.is_empty() && error.line.contains(expected), "{line}: {error}")
            }
        }
    }
}
