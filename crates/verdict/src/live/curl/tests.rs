//! Commands that are advised, against what the run was.

use ablaze_model::plan::Http2;
use ablaze_model::record::GroupRecord;
use ablaze_model::spec::{Blob, Bytes, FormField, Head, Line, SecretRef};

use super::*;
use crate::live::sample;

fn secret(name: &str) -> SecretRef {
    SecretRef { secret: name.into() }
}

#[test]
fn curl_is_told_the_url_that_failed_and_to_do_what_the_run_did() {
    let mut run = sample::run();
    run.plan.target.url = "http://127.0.0.1:8080/fast?x=1".into();
    assert_eq!(arguments_where(&run, |_| 1), "'http://127.0.0.1:8080/fast?x=1'");
    for (name, unexpected) in [("/fast", 0), ("/err", 7), ("/slow", 2)] {
        let mut group = GroupRecord::new(name, false);
        group.unexpected = unexpected;
        run.record.groups.push(group);
    }
    let worst = arguments_where(&run, |group| group.unexpected);
    assert_eq!(worst, "http://127.0.0.1:8080/err");
    assert_eq!(arguments_where(&run, |_| 0), "http://127.0.0.1:8080/fast");
    let mut listed = run.clone();
    sample::asked(&mut listed, &[]);
    let list = Feed::of(Blob::new("list", Vec::new()));
    listed.asked.as_mut().unwrap().requests.urls = Some(list);
    listed.plan.requests.has_body = true;
    for (name, expected) in [
        (
            "PUT /err?a",
            "-X PUT -H 'Content-Type: TYPE' --data-binary @FILE 'http://127.0.0.1:8080/err?a'",
        ),
        ("GET /err", "http://127.0.0.1:8080/err"),
    ] {
        listed.record.groups[0].name = name.into();
        assert!(arguments(&listed).ends_with(expected), "{}", arguments(&listed));
    }
    // A line that says nothing itself has neither the method nor the body of another one.
    listed.plan.requests.method = "PUT".into();
    listed.record.groups[0].name = "/err".into();
    assert!(!arguments(&listed).contains("FILE"), "{}", arguments(&listed));
    assert!(!arguments(&listed).contains("PUT"), "{}", arguments(&listed));
    run.plan.http2 = Some(Http2 { streams: 4 });
    run.plan.requests.has_body = true;
    run.plan.requests.method = "POST".into();
    let said = arguments(&run);
    let as_it_was =
        "-X POST --http2-prior-knowledge --data-binary @FILE http://127.0.0.1:8080/fast";
    assert_eq!(said, as_it_was);
}

/// Fields and body of a line of a list are its own, and so is the type of that body: curl's would be that of a form.
#[test]
fn a_line_of_a_list_is_sent_as_the_run_sent_it() {
    let mut run = sample::run();
    sample::asked(&mut run, &["X-Id: 1"]);
    let list = Feed::of(Blob::new("list", Vec::new()));
    run.asked.as_mut().unwrap().requests.urls = Some(list);
    run.plan.requests.has_body = true;
    let names = ["DELETE /err", "POST /none", "PUT /x", "PATCH /y"].map(str::to_owned);
    run.plan.requests.groups = ablaze_model::plan::groups::Groups::of(&names);
    let template = |fields: &str, body: &str| {
        let head = format!("M /p HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n{fields}\r\n");
        let bytes = [head.as_bytes(), body.as_bytes()].concat();
        serde_json::from_value(serde_json::json!({
            "bytes": bytes, "head_bytes": head.len(), "patches": [], "response_has_no_body": false
        }))
        .unwrap()
    };
    let usual = "User-Agent: ablaze/1.0\r\nAccept: */*\r\n";
    run.plan.requests.templates = vec![
        template(usual, ""),
        template(&format!("{usual}Content-Length: 0\r\n"), ""),
        template(
            &format!(
                "{usual}Content-Type: application/json\r\nContent-Length: 7\r\nX-Id: 2\r\nX-Api-Key: hunter2\r\n"
            ),
            "{\"a\":1}",
        ),
        template("User-Agent: bot/1\r\nContent-Length: 3\r\n", "a\nb"),
    ];
    let said = |name: &str| {
        let mut run = run.clone();
        run.record.groups.push(GroupRecord::new(name, false));
        arguments(&run)
    };
    assert_eq!(said("DELETE /err"), "-X DELETE http://127.0.0.1:8080/err");
    assert_eq!(said("POST /none"), "-X POST -H 'Content-Length: 0' http://127.0.0.1:8080/none");
    assert_eq!(
        said("PUT /x"),
        "-X PUT -H 'Content-Type: application/json' -H 'X-Id: 2' -H 'X-Api-Key: VALUE' --data-raw '{\"a\":1}' \
         http://127.0.0.1:8080/x"
    );
    assert_eq!(
        said("PATCH /y"),
        "-X PATCH -H 'User-Agent: bot/1' -H Accept: -H Content-Type: --data-binary @FILE http://127.0.0.1:8080/y"
    );
}

/// The cells of a feed may be credentials: a report has none of them.
#[test]
fn columns_of_a_feed_are_words_to_replace() {
    let mut run = sample::run();
    run.plan.target.url = "http://127.0.0.1:8080/{user:url}?n=1".into();
    sample::asked(&mut run, &["X-Id: {id}"]);
    let requests = &mut run.asked.as_mut().unwrap().requests;
    requests.bodies = Bodies::Same(Body::Given(Bytes(br#"{"a": "{user}", "b": {id}}"#.to_vec())));
    run.plan.requests.has_body = true;
    let literal = arguments(&run);
    assert!(
        literal.contains("{user:url}"),
        "without a feed braces are sent as they are: {literal}"
    );
    let feed = Feed::of(Blob::new("users.csv", Vec::new()));
    let order = ablaze_model::feed::Order::Sequential;
    run.asked.as_mut().unwrap().requests.data = Some(ablaze_model::spec::DataSpec { feed, order });
    let expected = "-H 'X-Id: VALUE' --data-raw '{\"a\": \"VALUE\", \"b\": VALUE}' 'http://127.0.0.1:8080/VALUE?n=1'";
    assert!(arguments(&run).ends_with(expected), "{}", arguments(&run));
}

/// A certificate for another name than the one that is asked for fails only if that name is asked for.
#[test]
fn curl_asks_for_the_name_that_the_run_asked_for() {
    let mut run = sample::run();
    run.plan.target.url = "https://127.0.0.1:8443/a".into();
    sample::asked(&mut run, &[]);
    run.asked.as_mut().unwrap().tls.server_name = Some("example.com".into());
    let told = "--connect-to example.com:8443:127.0.0.1:8443 -H 'Host: 127.0.0.1:8443' https://example.com:8443/a";
    assert!(arguments(&run).ends_with(told), "{}", arguments(&run));
    run.asked.as_mut().unwrap().tls.server_name = Some("127.0.0.1".into());
    assert!(arguments(&run).ends_with("https://127.0.0.1:8443/a"), "{}", arguments(&run));
}

#[test]
fn curl_is_told_to_connect_where_the_run_did() {
    let mut run = sample::run();
    let target = &mut run.plan.target;
    (target.host, target.port) = ("shop.example".into(), 80);
    target.url = "http://shop.example/".into();
    let at = |run: &mut Run, address: &str| {
        run.plan.target.addresses = vec![address.parse().unwrap()];
        arguments(run)
    };
    assert_eq!(at(&mut run, "127.0.0.1:80"), "http://shop.example/");
    let port = at(&mut run, "[::1]:8080");
    assert_eq!(port, "--connect-to '::[::1]:8080' http://shop.example/");
    sample::asked(&mut run, &[]);
    assert_eq!(arguments(&run), "http://shop.example/");
    let asked = run.asked.as_mut().unwrap();
    let to = |from: Option<&str>, host: &str, port| ConnectTo {
        from_host: from.map(str::to_owned),
        host: Some(host.into()),
        port,
        ..ConnectTo::default()
    };
    asked.destination.connect_to =
        vec![to(None, "::1", None), to(Some("a.example"), "b", Some(81))];
    let host = at(&mut run, "127.0.0.1:80");
    let both = "--connect-to '::[::1]:' --connect-to a.example::b:81 http://shop.example/";
    assert_eq!(host, both);
    run.plan.requests.method = "DELETE".into();
    assert!(arguments(&run).starts_with("-X DELETE --connect-to"));
    run.plan.requests.method = "GET".into();
    run.plan.target.unix_socket = Some("/run/my shop".into());
    assert_eq!(arguments(&run), "--unix-socket '/run/my shop' http://shop.example/");
}

#[test]
fn fields_bodies_and_credentials_are_said_and_no_secret() {
    let mut run = sample::run();
    sample::asked(&mut run, &["X-Note: it's", "X-Id: {seq}{rand:3}", "Accept:"]);
    let asked = run.asked.as_mut().unwrap();
    let Head::Composed { lines, user, content_type, .. } = &mut asked.requests.head else {
        panic!("composed");
    };
    *user = Some(secret("user"));
    *content_type = Some("a/b".into());
    lines.push(Line::Secret(secret("header Cookie (2)")));
    asked.requests.bodies = Bodies::Same(Body::Given(Bytes::from("@a {rand:2}")));
    run.plan.requests.has_body = true;
    run.plan.requests.method = "POST".into();
    assert_eq!(
        arguments(&run),
        "-X POST -u NAME:PASSWORD -H 'Content-Type: a/b' -H 'X-Note: it'\\''s' \
         -H 'X-Id: 0000000000111' -H Accept: -H 'Cookie: VALUE' --data-raw '@a 11' \
         http://127.0.0.1:8080/"
    );
    let bodies = |run: &mut Run, bodies| {
        run.asked.as_mut().unwrap().requests.bodies = bodies;
        arguments(run)
    };
    let file = bodies(&mut run, Bodies::Same(Body::File(Blob::new("my body", Vec::new()))));
    assert!(file.contains(" --data-binary @'my body' http:"), "{file}");
    let lines = bodies(&mut run, Bodies::InTurn(Feed::of(Blob::new("l.txt", Vec::new()))));
    assert!(lines.contains(" --data-raw \"$(head -n 1 l.txt)\" http:"), "{lines}");
    let form = bodies(&mut run, Bodies::Form(form()));
    let expected = " --form-string 'a=@1 0000000000' -F photo=@d/a.png \
                    -F 'log=@\"x,y\";type=text/csv;filename=\"log\"' -F 'text=<t.txt' http:";
    assert!(form.contains(expected), "{form}");
}

fn form() -> Vec<FormField> {
    let field = |name: &str, content, filename: Option<&str>, kind: Option<&str>| FormField {
        name: name.into(),
        content,
        filename: filename.map(str::to_owned),
        content_type: kind.map(str::to_owned),
    };
    let file = |name: &str| Body::File(Blob::new(name, Vec::new()));
    vec![
        field("a", Body::Given("@1 {seq}".into()), None, None),
        field("photo", file("d/a.png"), Some("a.png"), Some("image/png")),
        field("log", file("x,y"), Some("log"), Some("text/csv")),
        field("text", file("t.txt"), None, None),
    ]
}

#[test]
fn lines_of_ab_are_said_but_those_that_are_its_own() {
    let mut run = sample::run();
    sample::asked(&mut run, &[]);
    let text = |line: &str| Line::Text(line.into());
    let asked = run.asked.as_mut().unwrap();
    asked.requests.head = Head::Verbatim {
        target: "/".into(),
        lines: vec![
            text("Connection: Keep-Alive"),
            Line::BodyLength("Content-length".into()),
            Line::Secret(secret("header Authorization")),
            text("Host: 127.0.0.1:8080"),
            text("User-Agent: ApacheBench/2.3"),
            text("Accept: */*"),
        ],
        placeholders: false,
    };
    run.plan.requests.minor_version = 0;
    assert_eq!(
        arguments(&run),
        "--http1.0 -H 'Connection: Keep-Alive' -H 'Authorization: VALUE' http://127.0.0.1:8080/"
    );
    // Given with -H they are others, and what they select is another response.
    let Head::Verbatim { lines, .. } = &mut run.asked.as_mut().unwrap().requests.head else {
        panic!("verbatim");
    };
    lines.truncate(1);
    for line in ["Host: shop.example", "User-Agent: bot/1", "Accept: application/json"] {
        lines.push(text(line));
    }
    assert_eq!(
        arguments(&run),
        "--http1.0 -H 'Connection: Keep-Alive' -H 'Host: shop.example' -H 'User-Agent: bot/1' -H 'Accept: application/json' \
         http://127.0.0.1:8080/"
    );
}

#[test]
fn a_request_without_a_body_and_a_path_are_sent_as_they_were() {
    let mut run = sample::run();
    sample::asked(&mut run, &[]);
    run.plan.requests.method = "POST".into();
    run.plan.target.url = "http://127.0.0.1:8080/a/../b".into();
    assert_eq!(
        arguments(&run),
        "-X POST -H 'Content-Length: 0' --path-as-is http://127.0.0.1:8080/a/../b"
    );
}

#[test]
fn tls_and_proxies_are_as_they_were() {
    use ablaze_model::plan::tls::Tls;
    let mut run = sample::run();
    run.plan.target.url = "https://[::1]:8443/{x}".into();
    run.plan.tls = Some(Tls { trust: Trust::Issuers(Vec::new()), ..Tls::new("h") });
    assert_eq!(arguments(&run), "--http1.1 --cacert FILE -g 'https://[::1]:8443/{x}'");
    sample::asked(&mut run, &[]);
    let asked = run.asked.as_mut().unwrap();
    asked.tls.trust = TrustSpec::Issuers(Blob::new("my ca.pem", Vec::new()));
    asked.tls.identity = Some(secret("client certificate"));
    asked.tls.newest = Some(TlsVersion::V1_2);
    asked.destination.family = Family::V6;
    run.plan.target.url = "https://[::1]:8443/".into();
    assert_eq!(
        arguments(&run),
        "--http1.1 -6 --cacert 'my ca.pem' --cert FILE --key FILE --tls-max 1.2 'https://[::1]:8443/'"
    );
}

/// Reports are passed on.
#[test]
fn values_of_credentials_stand_in_no_command() {
    let mut run = sample::run();
    let secrets = [
        "X-Api-Key",
        "x-auth-token",
        "Proxy-Authorization",
        "Cookie",
        "Authorization",
        "X-CSRF-Token",
        "apikey",
        "X_Session_Id",
        "Ocp-Apim-Subscription-Key",
    ];
    for name in secrets {
        sample::asked(&mut run, &[&format!("{name}: hunter2")]);
        let said = arguments(&run);
        assert!(!said.contains("hunter2") && said.contains(&format!("{name}: VALUE")), "{said}");
    }
    for open in ["Accept: text/html", "X-Keyboard: de", "Idempotency-Key: 7", "X-Monkey: 1"] {
        sample::asked(&mut run, &[open]);
        assert!(arguments(&run).contains(open), "{open}: {}", arguments(&run));
    }
    // A field that is left out has no value.
    sample::asked(&mut run, &["Cookie:"]);
    assert!(!arguments(&run).contains("VALUE"), "{}", arguments(&run));
}
