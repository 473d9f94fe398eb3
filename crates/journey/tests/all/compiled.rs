//! What a file becomes: requests as templates, options, names of steps, slots; and what is refused.

use ablaze_journey::{
    FormPart, Journey, Setting, Step, StepBody, Template, Value, Variables, content_type_of,
};

use super::support::{Fixed, journey, refusal};

fn rendered(template: &Template, variables: &Variables) -> String {
    let mut out = Vec::new();
    template.render(variables, &mut Fixed, &mut out).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(out).unwrap()
}

/// The first step, with these variables.
fn first(text: &str, values: &[(&str, Value)]) -> (Journey, Variables) {
    let journey = journey(text);
    let mut variables = journey.variables();
    for (name, value) in values {
        variables.set(journey.names().slot(name).unwrap(), Some(value.clone()));
    }
    (journey, variables)
}

fn body(step: &Step, variables: &Variables) -> String {
    let StepBody::Template(template) = &step.body else { panic!("{:?}", step.body) };
    rendered(template, variables)
}

#[test]
fn a_request_is_templates() {
    let text = "PUT http://h/{{id}}?a=1\nX-{{id}}: v{{id}}\n[Query]\nq: {{q}} &=ä/\nr: \n[BasicAuth]\nbob: {{q}}\n\
                [Cookies]\na: {{id}}\nb: x y\n[Options]\nheader: Late: {{id}}\n";
    let (journey, variables) = first(text, &[("id", Value::from(7)), ("q", Value::from("a b&c"))]);
    let step = &journey.steps[0];
    let mut url = b"before ".to_vec();
    step.write_url(&variables, &mut Fixed, &mut url).unwrap();
    let url = String::from_utf8(url).unwrap();
    assert_eq!(url, "before http://h/7?a=1&q=a%20b%26c%20%26%3D%C3%A4%2F&r=");
    let fields: Vec<_> = step
        .headers
        .iter()
        .map(|(n, v)| (rendered(n, &variables), rendered(v, &variables)))
        .collect();
    assert_eq!(fields, [("X-7".to_owned(), "v7".to_owned()), ("Late".to_owned(), "7".to_owned())]);
    assert_eq!(rendered(step.basic_auth.as_ref().unwrap(), &variables), "bob:a b&c");
    assert_eq!(rendered(&step.cookies, &variables), "a=7; b=x y");
    assert_eq!((step.body.clone(), step.content_type), (StepBody::None, None));
    assert_eq!(step.name, "PUT /{{id}}");
}

#[test]
fn bodies_are_templates_with_types() {
    let of = |body_text: &str| {
        let values = [("n", Value::from(5)), ("s", Value::from("a\"b\\\n\u{1}"))];
        let both = format!(
            "POST http://h/\n{body_text}\nHTTP *\n[Asserts]\nbody == \"{{{{n}}}}{{{{s}}}}\"\n"
        );
        let (journey, variables) = first(&both, &values);
        let step = &journey.steps[0];
        (body(step, &variables), step.content_type)
    };
    let json = Some("application/json");
    assert_eq!(
        of("{ \"a\": {{n}}, \"b\": \"x{{s}}\\n\" }"),
        ("{ \"a\": 5, \"b\": \"xa\\\"b\\\\\\n\\u0001\\n\" }".to_owned(), json)
    );
    assert_eq!(
        of("[Form]\na: {{n}} +"),
        ("a=5%20%2B".to_owned(), Some("application/x-www-form-urlencoded"))
    );
    assert_eq!(of("<a>{{n}}</a>"), ("<a>{{n}}</a>".to_owned(), Some("application/xml")));
    assert_eq!(of("```\n{{n}}\\n\n```"), ("5\\n\n".to_owned(), None));
    assert_eq!(of("```raw\n{{n}}\n```"), ("{{n}}\n".to_owned(), None));
    assert_eq!(of("```json\n{{n}}\n```"), ("5\n".to_owned(), json));
    assert_eq!(of("`{{n}}`"), ("5".to_owned(), None));
    assert_eq!(of("base64,SGk=;"), ("Hi".to_owned(), None));
    let graphql = "```graphql\n\n{ a(b: \"{{n}}\") }\n\nvariables { \"c\": [ {{n}} , 1 ] }\n```";
    assert_eq!(
        of(graphql),
        ("{\"query\":\"{ a(b: \\\"5\\\") }\",\"variables\":{\"c\":[5,1]}}".to_owned(), json)
    );
}

#[test]
fn files_and_multipart_are_left_to_who_sends() {
    let (journey, variables) = first(
        "POST http://h/\n[Multipart]\na: b\nf: file,x{{n}}.txt;\ng: file,y; image/png\n",
        &[("n", Value::from(1))],
    );
    let step = &journey.steps[0];
    assert_eq!(step.content_type, Some("multipart/form-data"));
    let StepBody::Multipart(parts) = &step.body else { panic!() };
    let [FormPart::Field(..), FormPart::File(_, path, None), FormPart::File(.., Some(given))] =
        parts.as_slice()
    else {
        panic!("{parts:?}")
    };
    assert_eq!(rendered(path, &variables), "x1.txt");
    assert_eq!(rendered(given, &variables), "image/png");
    for (name, expected) in [
        ("a/b.txt", "text/plain"),
        ("b.JPG", "application/octet-stream"),
        ("png", "application/octet-stream"),
        ("a.b/c", "application/octet-stream"),
        ("x.tar.html", "text/html"),
    ] {
        assert_eq!(content_type_of(name), expected, "{name}");
    }
    let file = super::support::journey("POST http://h/\nfile,a.bin;\n");
    assert!(
        matches!(&file.steps[0].body, StepBody::File(name) if name.as_constant() == Some(b"a.bin"))
    );
}

#[test]
fn options_are_typed() {
    let text = "GET http://h/\n[Options]\ndelay: 3\nretry: -1\nretry-interval: 2s\nrepeat: 4\nlocation: true\nmax-redirs: 5\n\
                compressed: false\nskip: true\nverbose: true\nvariable: a=1\nvariable: b=\"x{{a}}\"\nvariable: c=null\n";
    let journey = journey(text);
    let step = &journey.steps[0];
    let options = &step.options;
    assert_eq!(
        (options.delay_ns, options.retry_interval_ns),
        (Some(3_000_000), Some(2_000_000_000))
    );
    assert_eq!(
        (options.retry, options.repeat, options.max_redirects),
        (Some(None), Some(Some(4)), Some(Some(5)))
    );
    assert_eq!(
        (options.location, options.compressed, options.skip),
        (Some(true), Some(false), Some(true))
    );
    assert_eq!(options.variables[0].1, Setting::Value(Value::from(1)));
    let mut variables = journey.variables();
    step.set_variables(&mut variables, &mut Fixed).unwrap();
    let value = |name| variables.get(journey.names().slot(name).unwrap());
    assert_eq!(value("b"), Some(&Value::from("x1")));
    assert_eq!(value("c"), Some(&Value::Null));
    assert!(journey.needed().is_empty());
}

#[test]
fn steps_have_names_of_their_own() {
    let text = "GET http://h/a?x\n# name: login\nPOST http://h/\nGET {{base}}/a#b\nGET http://h/a\n# name: login\nPOST http://h/\n\
                GET http://h\n# name: login#2\nPOST {{base}}\n";
    let names: Vec<String> = journey(text).steps.into_iter().map(|step| step.name).collect();
    assert_eq!(names, ["GET /a", "login", "GET /a#2", "GET /a#3", "login#2", "GET /", "login#2#2"]);
}

#[test]
fn what_must_be_given_is_known_before_the_run() {
    let text = "GET http://h/{{a}}\n[Options]\nvariable: b={{c}}\nHTTP 200\nX: {{b}}\n[Captures]\nd: status\n[Asserts]\nstatus == {{d}}\n\
                variable \"e\" not exists\n\nGET http://h/{{d}}{{f}}\n\nGET http://h/{{a}}{{f}}\n";
    let journey = journey(text);
    let needed: Vec<_> = journey
        .needed()
        .iter()
        .map(|needed| (journey.names().name(needed.slot), needed.line))
        .collect();
    assert_eq!(needed, [("c", 3), ("a", 1), ("f", 12)]);
}

#[test]
fn a_step_says_what_it_needs_of_a_response() {
    let needs =
        |text: &str| journey(&format!("GET http://h/\nHTTP 200\n{text}\n")).steps[0].needs_body();
    for text in [
        "",
        "X: y",
        "[Captures]\na: header \"b\"\nb: cookie \"c\"",
        "[Asserts]\nstatus == 1\nduration < 1\nvariable \"a\" jsonpath \"$\" exists",
    ] {
        assert!(!needs(text), "{text}");
    }
    for text in [
        "`x`",
        "[Captures]\na: jsonpath \"$\"",
        "[Captures]\na: body",
        "[Asserts]\nbytes count == 1",
        "[Asserts]\nregex /(a)/ exists",
        "[Asserts]\nsha256 exists",
    ] {
        assert!(needs(text), "{text}");
    }
    let journey = journey("GET http://h/\nHTTP 200\n[Captures]\na: status\nb: body redact\n");
    assert_eq!(journey.steps[0].captured().collect::<Vec<_>>(), [(0, false), (1, true)]);
}

#[test]
fn what_is_not_supported_is_refused_by_name_and_line() {
    let asserted = |line: &str| refusal(&format!("GET http://h/\nHTTP 200\n[Asserts]\n{line}\n"));
    for (line, expected) in [
        ("xpath \"//a\" exists", "test.hurl:4: XPath is not supported"),
        ("body xpath \"//a\" exists", "test.hurl:4: XPath is not supported"),
        ("certificate \"Issuer\" exists", "test.hurl:4: the query certificate is not supported"),
        ("ip isIpv4", "test.hurl:4: the query ip is not supported"),
        ("redirects count == 1", "test.hurl:4: the query redirects is not supported"),
        ("rawbytes count == 1", "test.hurl:4: rawbytes is not supported"),
        ("jsonpath \"$..a\" exists", "test.hurl:4: `..` is not supported in the JSONPath `$..a`"),
        ("jsonpath \"$.a[1:2]\" exists", "test.hurl:4: slices are not supported"),
        ("jsonpath \"$.a[:2]\" exists", "test.hurl:4: slices are not supported"),
        (
            "jsonpath \"$.a[0,1]\" exists",
            "test.hurl:4: several selectors in brackets are not supported",
        ),
        (
            "jsonpath \"$.a[?(@.b==1)]\" exists",
            "test.hurl:4: filters are not supported in the JSONPath",
        ),
        ("jsonpath \"a\" exists", "test.hurl:4: `a` is no JSONPath"),
        ("jsonpath \"$.{{a}}\" exists", "test.hurl:4: variables in a JSONPath are not supported"),
        ("body matches /(/", "test.hurl:4: `(` is no regular expression: unclosed group"),
        (
            "body matches \"{{a}}\"",
            "test.hurl:4: variables in a regular expression are not supported",
        ),
        ("body toDate \"%Y\" exists", "test.hurl:4: the filter toDate"),
        ("body dateFormat \"%Y\" exists", "test.hurl:4: the filter dateFormat"),
        ("body location exists", "test.hurl:4: the filter location is not supported"),
        ("body split \"a\" nth {{n}} exists", "test.hurl:4: a variable as the index of nth"),
        ("body == file,a;", "test.hurl:4: a file in an assert is not supported"),
        ("body == /a/", "test.hurl:4: a regular expression here is not supported"),
        ("status == {{a toInt}}", "test.hurl:4: filters in {{…}} are not supported"),
    ] {
        assert!(asserted(line).starts_with(expected), "{line}: {}", asserted(line));
    }
    for (option, why) in [
        ("cert: a.pem", "client certificates per entry are not supported"),
        ("insecure: true", "what is trusted is given for the whole run"),
        ("http2: true", "the version is given for the whole run (fix: --http)"),
        ("max-time: 3s", "the timeout is given for the whole run"),
        ("aws-sigv4: a", "it is not supported"),
        ("output: a", "it is not supported"),
        ("retry: {{n}}", "a variable as the value of the option retry"),
    ] {
        let refused = refusal(&format!("GET http://h/\n[Options]\n{option}\n"));
        assert!(refused.starts_with("test.hurl:3: ") && refused.contains(why), "{refused}");
    }
    let several = "GET http://h/{{a urlEncode}}\n[Form]\na: b\nHTTP 200\n[Captures]\n{{x}}: xpath \"a\"\nfile,b;\n";
    let refused = refusal(several);
    let lines: Vec<&str> = refused.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["test.hurl:1", "test.hurl:6", "test.hurl:6", "test.hurl:7"]);
    assert!(
        refusal("POST http://h/\n[Form]\na: b\n`text`\n")
            .contains("only one of [Form], [Multipart] and a body")
    );
    assert!(refusal("POST http://h/\n{\"a\": {{newUuid}}}\n").contains("in quotation marks"));
}
