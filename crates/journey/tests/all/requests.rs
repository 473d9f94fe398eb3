//! The bytes of requests: what is added to what the file says, what replaces it, and what is not sent.

use ablaze_journey::{
    Drafts, Failure, Files, Jar, Journey, Origin, Redirect, Sending, Site, Value, Variables,
};
use ablaze_testing::allocations;
use ablaze_wire::url::Url;

use super::support::{Fixed, journey};

struct Sender {
    sites: Vec<Site>,
    files: Files,
    jar: Jar,
    url: Vec<u8>,
    origin: u32,
    drafts: Drafts,
}

impl Sender {
    fn to(url: &str) -> Self {
        Self {
            sites: vec![Site::of(&Url::parse(url).unwrap(), "agent")],
            origin: 0,
            files: Files::new(),
            jar: Jar::new(),
            url: Vec::new(),
            drafts: Drafts::default(),
        }
    }

    fn write(
        &mut self,
        journey: &Journey,
        variables: &Variables,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        out.clear();
        let mut sending = Sending {
            sites: &self.sites,
            files: &self.files,
            jar: &self.jar,
            variables,
            moment: &mut Fixed,
            redirect: &Redirect::default(),
            url: &mut self.url,
            origin: &mut self.origin,
            drafts: &mut self.drafts,
        };
        journey.steps[0].write_request(&mut sending, out)
    }

    fn sent(&mut self, text: &str, given: &[(&str, &str)]) -> Result<String, String> {
        let journey = journey(text);
        let mut variables = journey.variables();
        for (name, value) in given {
            let slot = journey.names().slot(name).unwrap();
            variables.set(slot, Some(Value::from(*value)));
        }
        let mut out = Vec::new();
        let written = self.write(&journey, &variables, &mut out);
        written.map_err(|failure| failure.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }
}

fn sent(text: &str) -> String {
    Sender::to("http://h:81/").sent(text, &[]).unwrap()
}

const OWN: &str = "Host: h:81\r\nUser-Agent: agent\r\nAccept: */*\r\n";

#[test]
fn a_request_has_what_every_request_needs_and_what_the_file_says() {
    assert_eq!(sent("GET http://h:81\n"), format!("GET / HTTP/1.1\r\n{OWN}\r\n"));
    assert_eq!(
        sent("GET http://H:81/a?b=c\nX-A: 1\n[Query]\ne: f g\n"),
        format!("GET /a?b=c&e=f%20g HTTP/1.1\r\n{OWN}X-A: 1\r\n\r\n")
    );
    assert_eq!(
        sent("POST http://h:81/\n[Form]\na: b c\n"),
        format!(
            "POST / HTTP/1.1\r\n{OWN}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: 7\r\n\r\na=b%20c"
        )
    );
    assert_eq!(
        sent("PUT http://h:81/\n{\"a\": 1}\n"),
        format!(
            "PUT / HTTP/1.1\r\n{OWN}Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{{\"a\": 1}}"
        )
    );
    let without_body = format!("POST / HTTP/1.1\r\n{OWN}Content-Length: 0\r\n\r\n");
    assert_eq!(sent("POST http://h:81/\n"), without_body);
}

#[test]
fn urls_are_asked_for_as_curl_does() {
    let line = |url: &str| {
        let sent = sent(&format!("GET {url}\n[Query]\nb: /../\n"));
        sent.lines().next().unwrap().to_owned()
    };
    assert_eq!(line("http://h:81/a/../x/./y"), "GET /x/y?b=%2F..%2F HTTP/1.1");
    assert_eq!(line("http://h:81/a/b/.."), "GET /a/?b=%2F..%2F HTTP/1.1");
    assert_eq!(line("http://h:81/x?"), "GET /x?b=%2F..%2F HTTP/1.1");
    assert_eq!(line("http://h:81/x?a=/../"), "GET /x?a=/../&b=%2F..%2F HTTP/1.1");
}

#[test]
fn a_form_has_its_boundary_in_a_type_of_the_file_too() {
    let text = "POST http://h:81/\nContent-Type: multipart/form-data\n[Multipart]\na: b\n";
    let request = sent(text);
    let (_, boundary) = request.split_once("Content-Type: multipart/form-data; boundary=").unwrap();
    let boundary = boundary.lines().next().unwrap();
    assert!(request.contains(&format!("\r\n\r\n--{boundary}\r\n")), "{request}");
    assert_eq!(request.matches("Content-Type").count(), 1, "{request}");
}

#[test]
fn fields_of_the_file_replace_those_that_are_added() {
    let text = "POST http://h:81/\nhost: other\nUSER-AGENT: me\nAccept: a/b\nContent-Type: x/y\nContent-Length: 99\n`hello`\n";
    assert_eq!(
        sent(text),
        "POST / HTTP/1.1\r\nhost: other\r\nUSER-AGENT: me\r\nAccept: a/b\r\nContent-Type: x/y\r\n\
         Content-Length: 5\r\n\r\nhello"
    );
    let basic = sent("GET http://h:81/\n[BasicAuth]\nAladdin: open sesame\n");
    // RFC 7617, 2.
    assert!(basic.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{basic}");
    let both = sent("GET http://h:81/\nAuthorization: own\n[BasicAuth]\na: b\n");
    assert!(both.contains("\r\nAuthorization: own\r\n") && !both.contains("Basic"), "{both}");
}

#[test]
fn cookies_of_the_jar_come_first_and_only_where_they_belong() {
    let mut sender = Sender::to("http://h:81/");
    let origin = Origin { host: "h", path: "/a/b", is_tls: false };
    assert!(sender.jar.store(b"s=1; Path=/a", &origin, 0));
    let cookie =
        |text: String| text.lines().find(|line| line.starts_with("Cookie")).map(str::to_owned);
    let own = sender.sent("GET http://h:81/a/x?y\n[Cookies]\nt: 2\n", &[]).unwrap();
    assert_eq!(cookie(own).as_deref(), Some("Cookie: s=1; t=2"));
    let jar = sender.sent("GET http://h:81/a\n", &[]).unwrap();
    assert_eq!(cookie(jar).as_deref(), Some("Cookie: s=1"));
    assert_eq!(cookie(sender.sent("GET http://h:81/b\n", &[]).unwrap()), None);
    let own = sender.sent("GET http://h:81/b\n[Cookies]\nt: 2\n", &[]).unwrap();
    assert_eq!(cookie(own).as_deref(), Some("Cookie: t=2"));
}

#[test]
fn versions_say_what_they_do_not_do_by_themselves() {
    let mut sender = Sender::to("https://h/");
    sender.sites[0].keep_alive = false;
    let closes = sender.sent("GET https://h:443/\n", &[]).unwrap();
    assert!(closes.starts_with("GET / HTTP/1.1\r\nHost: h\r\n"), "{closes}");
    assert!(closes.contains("\r\nConnection: close\r\n"), "{closes}");
    (sender.sites[0].keep_alive, sender.sites[0].minor_version) = (true, 0);
    let keeps = sender.sent("GET https://h/\n", &[]).unwrap();
    assert!(keeps.starts_with("GET / HTTP/1.0\r\n"), "{keeps}");
    assert!(keeps.contains("\r\nConnection: keep-alive\r\n"), "{keeps}");
}

#[test]
fn forms_with_files_are_as_curl_writes_them() {
    let mut sender = Sender::to("http://h/");
    sender.files.insert(b"d/x\"y.txt".to_vec(), b"12\r\n3".as_slice().into());
    let text = "POST http://h/\n[Multipart]\na: {{b}}\nf: file,d/x\"y.txt;\n";
    let request = sender.sent(text, &[("b", "c\nd")]).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let (_, boundary) = head.split_once("multipart/form-data; boundary=").unwrap();
    let boundary = boundary.lines().next().unwrap();
    assert_eq!(boundary.len(), 46);
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nc\nd\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x%22y.txt\"\r\n\
         Content-Type: text/plain\r\n\r\n12\r\n3\r\n--{boundary}--\r\n"
    );
    assert_eq!(body, expected);
    assert!(head.contains(&format!("Content-Length: {}", expected.len())), "{head}");
    let whole = sender.sent("POST http://h/\nfile,d/x\"y.txt;\n", &[]).unwrap();
    assert!(whole.ends_with("Content-Length: 5\r\n\r\n12\r\n3"), "{whole}");
}

#[test]
fn no_value_ends_a_line() {
    let mut sender = Sender::to("http://h/");
    let evil = [("v", "a\r\nX-Evil: 1")];
    let url = sender.sent("GET http://h/{{v}}\n", &evil).unwrap();
    assert!(url.starts_with("GET /a%0D%0AX-Evil:%201 HTTP/1.1\r\n"), "{url}");
    let mut refused = |text: &str, expected: &str| {
        assert_eq!(sender.sent(text, &evil).unwrap_err(), expected);
    };
    refused(
        "GET http://h/\nA: {{v}}\n",
        "line 1: the value of the header field A has a line end or a zero byte in it",
    );
    refused(
        "GET http://h/\n[Cookies]\nc: {{v}}\n",
        "line 1: a cookie has a line end or a zero byte in it",
    );
    refused(
        "POST http://h/\n[Multipart]\na: file,x; {{v}}\n",
        "line 1: the type of a part has a line end or a zero byte in it",
    );
    assert!(
        sender
            .sent("GET http://h/\n{{v}}: b\n", &evil)
            .unwrap_err()
            .contains("is no name of a header field")
    );
}

#[test]
fn other_hosts_are_no_part_of_the_site() {
    let site = Site::of(&Url::parse("http://h:81/").unwrap(), "");
    let target =
        |url: &str| site.target(url.as_bytes()).map(|t| String::from_utf8(t.to_vec()).unwrap());
    assert_eq!(target("http://h:81/a?b#c").as_deref(), Some("/a?b"));
    assert_eq!(target("HTTP://H:81?b").as_deref(), Some("?b"));
    assert_eq!(target("/a").as_deref(), Some("/a"));
    for other in [
        "http://h/",
        "https://h:81/",
        "http://h:811/",
        "http://a@h:81/",
        "http://h:81.b/",
        "h:81/",
        "",
    ] {
        assert_eq!(target(other), None, "{other}");
    }
    let message =
        Sender::to("http://h:81/").sent("GET http://{{v}}/\n", &[("v", "b")]).unwrap_err();
    assert_eq!(
        message,
        "line 1: the URL goes to http://b, and connections are opened only to hosts that are known before the run \
         (fix: a step that goes there, if only with skip: true)"
    );
    let user = Sender::to("http://h:81/").sent("GET http://{{v}}/\n", &[("v", "a:b@h:81")]);
    assert_eq!(
        user.unwrap_err(),
        "line 1: the URL goes to http://h:81 with a user and a password, which a URL cannot have here (fix: [BasicAuth])"
    );
}

#[test]
fn nothing_is_allocated_once_buffers_have_grown() {
    let text = "POST http://h/{{a}}\nX-A: {{a}}\n[Query]\nq: {{a}}\n[BasicAuth]\nu: {{a}}\n[Cookies]\nc: {{a}}\n\
                [Multipart]\nm: {{a}}\nf: file,f.txt;\n";
    let mut sender = Sender::to("http://h/");
    sender.files.insert(b"f.txt".to_vec(), b"content".as_slice().into());
    let origin = Origin { host: "h", path: "/", is_tls: false };
    sender.jar.store(b"s=1", &origin, 0);
    let journey = journey(text);
    let mut variables = journey.variables();
    variables.set(journey.names().slot("a").unwrap(), Some(Value::from("value")));
    let mut out = Vec::new();
    sender.write(&journey, &variables, &mut out).unwrap();
    let before = allocations::of_this_thread();
    sender.write(&journey, &variables, &mut out).unwrap();
    assert_eq!(allocations::of_this_thread() - before, 0);
}

#[test]
fn what_a_load_does_not_do_is_named_by_line() {
    let refused = |text: &str| {
        let refusals = journey(text).not_under_load();
        refusals.iter().map(|refusal| (refusal.line, refusal.what.clone())).collect::<Vec<_>>()
    };
    assert_eq!(refused("GET http://h/\n"), []);
    for (text, expected) in [
        ("GET http://h/\n\nGET http://h/b\n[Options]\nrepeat: -1\n", "repeat"),
        ("GET http://h/\n\nPOST http://h/b\nfile,{{a}};\n", "name of a file"),
        ("GET http://h/\n\nPOST http://h/b\nTransfer-Encoding: chunked\n", "Transfer-Encoding"),
    ] {
        let refusals = refused(text);
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        assert!(refusals[0].0 == 3 && refusals[0].1.contains(expected), "{refusals:?}");
    }
    assert_eq!(
        refused("GET http://h/\n[Options]\nskip: true\n")[0].1,
        "there is no request to send"
    );
}

#[test]
fn values_of_a_command_line_are_read_as_hurl_reads_them() {
    for (text, kind) in [
        ("1", "integer"),
        ("-1", "integer"),
        ("1.5", "float"),
        ("123456789012345678901", "integer"),
        ("true", "boolean"),
        ("null", "null"),
        ("\"1\"", "string"),
        ("1a", "string"),
        ("1.2.3", "string"),
        ("", "string"),
        (".5", "string"),
    ] {
        assert_eq!(Value::given(text).kind(), kind, "{text}");
    }
    assert_eq!(Value::given("\"1\""), Value::from("1"));
}

#[test]
fn statuses_that_a_file_expects_are_known() {
    let text = "GET http://h/\nHTTP 404\n[Asserts]\nstatus == 410\nstatus != 500\nstatus >= 400\n";
    let journey = journey(text);
    assert_eq!(journey.steps[0].expected_statuses().collect::<Vec<_>>(), [404, 410]);
}
