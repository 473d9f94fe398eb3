//! Specs saved and read back, compared, and cut into shards.

use super::*;
use crate::plan::tls::{Identity, PrivateKey};

fn file(name: &str, bytes: &[u8]) -> Blob {
    Blob::new(name, bytes.to_vec())
}

/// A spec in which everything is said.
fn full(secrets: &mut Secrets) -> LoadSpec {
    let mut spec = LoadSpec::default();
    let (url, user) = UrlSpec::parse("https://me:s3cret@h:8443/x?y").unwrap();
    assert_eq!(url.shown, "https://h:8443/x?y");
    spec.destination.url = Some(url);
    spec.destination.connect_to = vec![ConnectTo { port: Some(2), ..ConnectTo::default() }];
    spec.destination.proxy = Some(ProxySpec {
        host: "p".into(),
        port: 3128,
        way: None,
        credentials: Some(secrets.keep_text("proxy", "Basic s3cret")),
    });
    let cookie = Line::Secret(secrets.keep_text("header Cookie", "Cookie: s3cret"));
    spec.requests = RequestsSpec {
        method: Some("PUT".into()),
        head: Head::Composed {
            lines: vec![Line::Text(vec![b'X', b':', 0xff].into()), cookie],
            content_type: Some("a/b".into()),
            user: user.map(|user| secrets.keep_text("user", user)),
            user_agent: None,
        },
        urls: Some(Feed::of(file("urls", b"/a\n/b\n/c\n"))),
        url_files: vec![("b.json".to_owned(), file("b.json", b"[]"))],
        bodies: Bodies::Same(Body::File(file("body", b"{}"))),
        cookies: Some(CookiesSpec {
            typed: vec![secrets.keep_text("cookie", "a=s3cret")],
            files: Vec::new(),
        }),
        journey: Some(JourneySpec {
            file: file("login.hurl", b"GET /\n"),
            files: vec![("a.png".to_owned(), file("a.png", b"png"))],
            variables: vec![("a".to_owned(), "1".to_owned())],
            secrets: vec![(
                "password".to_owned(),
                secrets.keep_text("variable password", "s3cret"),
            )],
            continue_on_error: true,
            location: true,
            location_trusted: true,
            max_redirects: Some(5),
        }),
        data: Some(DataSpec {
            feed: Feed::of(file("users.csv", b"a\n1\n")),
            order: ablaze_feed::Order::Random,
        }),
        users: Default::default(),
        seed: 7,
    };
    spec.http = Some(HttpVersion::Http2);
    let identity = Identity { chain: vec![vec![1]], key: PrivateKey { der: b"s3cret".to_vec() } };
    spec.tls.identity = Some(secrets.keep("client certificate", Secret::Identity(identity)));
    spec.tls.trust = TrustSpec::Issuers(file("ca.pem", b"-----"));
    spec.words = Words(vec!["ablaze".into()]);
    spec
}

#[test]
fn a_spec_comes_back_from_its_saved_form_without_secrets_and_bytes() {
    let mut secrets = Secrets::default();
    let spec = full(&mut secrets);
    let text = serde_json::to_string(&spec).unwrap();
    for shown in [&text, &format!("{spec:?}"), &format!("{secrets:?}")] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    let names = serde_json::to_string(&secrets).unwrap();
    assert_eq!(
        names,
        r#"{"client certificate":"***","cookie":"***","header Cookie":"***","proxy":"***","user":"***","variable password":"***"}"#
    );
    let mut back: LoadSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(back, spec);
    assert_eq!(back.blobs().len(), 7);
    for blob in back.blobs() {
        assert_eq!(blob.bytes(), Err(BlobError::Missing(blob.name.clone())));
    }
    let body = back.blobs_mut().into_iter().find(|blob| blob.name == "body").unwrap();
    let changed = body.attach(b"[]".to_vec()).unwrap_err().to_string();
    assert!(
        changed.starts_with("the file `body` has changed: its SHA-256 was 44136fa3"),
        "{changed}"
    );
    body.attach(b"{}".to_vec()).unwrap();
    assert_eq!(body.bytes().unwrap(), b"{}");
}

#[test]
fn a_form_comes_back_and_names_its_files() {
    let field = |name: &str, content| FormField {
        name: name.into(),
        content,
        filename: None,
        content_type: None,
    };
    let mut spec = LoadSpec::default();
    let photo = field("photo", Body::File(file("a.png", b"png")));
    spec.requests.bodies = Bodies::Form(vec![field("a", Body::Given("b".into())), photo]);
    let text = serde_json::to_string(&spec).unwrap();
    let mut back: LoadSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(back, spec);
    let [blob] = &mut back.blobs_mut()[..] else { panic!("one file") };
    blob.attach(b"png".to_vec()).unwrap();
    // A long text does not stay with a run, and a short one does.
    let long = field("b", Body::Given(Bytes(vec![b'x'; 5000])));
    spec.requests.bodies = Bodies::Form(vec![field("a", Body::Given("b".into())), long]);
    let Bodies::Form(kept) = spec.kept().requests.bodies else { panic!("no form") };
    assert_eq!(kept[0].content, Body::Given("b".into()));
    assert_eq!(kept[1].content.file().unwrap().length_bytes, 5000);
}

#[test]
fn a_changed_file_makes_another_spec_and_other_words_do_not() {
    let spec = full(&mut Secrets::default());
    let mut other = spec.clone();
    other.words = Words::default();
    assert_eq!(other, spec);
    other.requests.bodies = Bodies::Same(Body::File(file("body", b"[]")));
    assert_ne!(other, spec);
}

#[test]
fn a_secret_that_was_not_handed_over_is_named() {
    let mut secrets = Secrets::default();
    let (one, other) = (secrets.keep_text("user", "a:b"), secrets.keep_text("user", "c:d"));
    assert_eq!(secrets.keep_text("user", "a:b"), one, "the same has one name");
    assert_eq!((secrets.text(&one), secrets.text(&other)), (Ok("a:b"), Ok("c:d")));
    let missing = Secrets::default().text(&other).unwrap_err().to_string();
    assert!(missing.contains("`user (2)`"), "{missing}");
}

#[test]
fn shards_together_do_what_was_asked_for() {
    let mut spec = full(&mut Secrets::default());
    spec.limits.requests = Some(1001);
    spec.shape = Shape::Closed { connections: Some(10) };
    let shards: Vec<LoadSpec> = (0..3).map(|index| spec.shard(index, 3).unwrap()).collect();
    let connections: Vec<_> = shards.iter().map(|s| s.shape.connections().unwrap()).collect();
    assert_eq!(connections, [4, 3, 3]);
    let requests: Vec<_> = shards.iter().map(|s| s.limits.requests.unwrap()).collect();
    assert_eq!(requests.iter().sum::<u64>(), 1001);
    let entries: Vec<u32> = (0..10).collect();
    let taken = |spec: &LoadSpec| spec.requests.urls.as_ref().unwrap().taken(entries.clone());
    let mut all: Vec<u32> = shards.iter().flat_map(taken).collect();
    all.sort_unstable();
    assert_eq!(all, entries, "every line once");
    let own = [334, 334, 333].into_iter().zip(&shards);
    let numbers = own.flat_map(|(own, shard)| {
        let part = shard.part.unwrap();
        (0..own).map(move |number| part.in_whole(number))
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..1001), "every number once");
    let again = shards[1].shard(1, 2).unwrap();
    assert_eq!(taken(&again), [4], "of 1, 4, 7 every second");
    let rate = RateProfile::constant(900.0);
    spec.shape = Shape::Open { rate, arrivals: Arrivals::Constant, connections: None };
    let Shape::Open { rate, .. } = spec.shard(2, 3).unwrap().shape else { panic!("closed") };
    assert_eq!(rate, RateProfile::constant(300.0));
    spec.limits.requests = Some(2);
    let few = spec.shard(2, 3).unwrap_err().to_string();
    assert_eq!(few, "2 requests cannot be split between 3 machines: use 3 or more");
    assert!(spec.shard(3, 3).is_err());
}

#[test]
fn bytes_that_are_no_text_are_saved_too() {
    for bytes in [&b"text"[..], b"", b"\xff\x00"] {
        let saved = serde_json::to_string(&Bytes(bytes.to_vec())).unwrap();
        assert_eq!(serde_json::from_str::<Bytes>(&saved).unwrap().0, bytes, "{saved}");
    }
    assert!(serde_json::from_str::<Bytes>(r#"{"hex":"abc"}"#).is_err());
}
