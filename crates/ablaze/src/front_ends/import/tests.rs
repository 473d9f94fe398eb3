//! What commands and recordings become, as people copy them out of browsers.

use super::*;

/// What a text becomes, and what was noted. Files are called by their content.
fn imported(text: &str) -> Result<(String, Vec<String>), String> {
    let mut read_file = |path: &str| match path.strip_prefix("file:") {
        Some(content) => Ok(content.as_bytes().to_vec()),
        None => Err(format!("no file {path}")),
    };
    let imported = of_text(text, "test", &mut read_file)?;
    Ok((hurl::text(&imported.entries), imported.notes))
}

#[track_caller]
fn assert_becomes(command: &str, expected: &str) {
    assert_eq!(imported(command).unwrap(), (expected.to_owned(), Vec::new()), "{command}");
}

#[test]
fn options_of_curl_have_their_places() {
    for (command, expected) in [
        ("curl h:80/a?b=c#d", "GET http://h:80/a?b=c\n"),
        ("curl -XPUT http://h/ -H 'A: b' -H 'C;' -H 'Accept:'", "PUT http://h/\nA: b\nC:\n"),
        ("curl http://h/ -d a=1 -d 'b=%20x'", "POST http://h/\n[Form]\na: 1\nb: \\u{20}x\n"),
        // Encoded again, it would be `%20`: text stays as it is.
        (
            "curl http://h/ -d 'a=1+2'",
            "POST http://h/\nContent-Type: application/x-www-form-urlencoded\n`a=1+2`\n",
        ),
        (
            "curl -d '{\"a\": 1}' -H 'content-type: application/json' http://h/",
            "POST http://h/\ncontent-type: application/json\n{\"a\": 1}\n",
        ),
        (
            "curl http://h/ --json '{\"a\":' --json '1}'",
            "POST http://h/\nAccept: application/json\nContent-Type: application/json\n{\"a\":1}\n",
        ),
        // curl would not encode the @ of a name; a form here would.
        (
            "curl http://h/ --data-raw @x=1",
            "POST http://h/\nContent-Type: application/x-www-form-urlencoded\n`@x=1`\n",
        ),
        ("curl http://h/ -d @file:a=b", "POST http://h/\n[Form]\na: b\n"),
        (
            "curl http://h/ --data-binary @file:x -H 'Content-Type: a/b'",
            "POST http://h/\nContent-Type: a/b\nfile,file\\:x;\n",
        ),
        (
            "curl http://h/ --data-urlencode 'a=b c&d' --data-urlencode =e",
            "POST http://h/\nContent-Type: application/x-www-form-urlencoded\n`a=b+c%26d&e`\n",
        ),
        ("curl -G http://h/?x=y -d a=b --data-urlencode 'c=d e'", "GET http://h/?x=y&a=b&c=d+e\n"),
        (
            "curl http://h/ -F a=b -F 'c=@d e.png;type=image/png' -F 'e=<file:text'",
            "POST http://h/\n[Multipart]\na: b\nc: file,d\\ e.png; image/png\ne: text\n",
        ),
        ("curl http://h/ --form-string 'a=@b'", "POST http://h/\n[Multipart]\na: @b\n"),
        ("curl -d '' -H Content-Type: http://h/", "POST http://h/\n"),
        ("curl --data-urlencode a@b=c -H Content-Type: http://h/", "POST http://h/\n`a@b=c`\n"),
        ("curl -u ann:a:b http://h/", "GET http://h/\n[BasicAuth]\nann: a:b\n"),
        ("curl -b 'a=1; b=2=3' http://h/", "GET http://h/\n[Cookies]\na: 1\nb: 2=3\n"),
        (
            "curl -L --compressed -I -A me -e http://r/ https://h/",
            "HEAD https://h/\nUser-Agent: me\nReferer: http://r/\n[Options]\ncompressed: true\n\
             location: true\n",
        ),
        ("curl http://a/ http://b/", "GET http://a/\n\nGET http://b/\n"),
        (
            "curl http://a/ -d x=1 --next http://b/",
            "POST http://a/\n[Form]\nx: 1\n\nGET http://b/\n",
        ),
        ("curl --url http://a/ -- -b", "GET http://a/\n\nGET http://-b\n"),
    ] {
        assert_becomes(command, expected);
    }
}

#[test]
fn what_has_no_place_is_named_with_its_value() {
    let (text, notes) =
        imported("curl -sSo out --max-time 5 -x http://p:1 --http2 http://h/ -b jar -vm3 | jq .")
            .unwrap();
    assert_eq!(text, "GET http://h/\n");
    let expected = [
        "`| jq .`",
        "-s",
        "-S",
        "-o out",
        "--max-time 5",
        "-x http://p:1",
        "--http2",
        "-b jar",
        "-v",
        "-m 3",
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:?}");
    for (note, option) in notes.iter().zip(expected) {
        assert!(note.starts_with("left out: ") && note.ends_with(option), "{note} {option}");
    }
}

#[test]
fn what_a_browser_copies_is_read() {
    // Chrome, "Copy as cURL (bash)"; then "Copy all as cURL".
    let chrome = r#"curl 'https://shop.example/api/login' \
  -H 'accept: application/json' \
  -H 'content-type: application/json' \
  -b 'theme=dark; lang=de' \
  -H 'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"' \
  --data-raw $'{"user":"ann","password":"it\'s"}' ;
curl 'https://shop.example/items?page=1' -H 'accept: */*' --insecure"#;
    let (text, notes) = imported(chrome).unwrap();
    // A journey with `insecure: true` could not be walked.
    assert_eq!(notes, ["left out: curl's -k (use --insecure with run and load)"]);
    assert_eq!(
        text,
        "POST https://shop.example/api/login\naccept: application/json\ncontent-type: application/json\n\
         sec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"\n[Cookies]\ntheme: dark\nlang: de\n\
         {\"user\":\"ann\",\"password\":\"it's\"}\n\n\
         GET https://shop.example/items?page=1\naccept: */*\n",
    );
}

#[test]
fn what_is_no_command_or_no_recording_is_refused() {
    for (text, needle) in [
        ("curl", "no URL"),
        ("curl -s", "no URL"),
        ("wget http://h/", "`wget` is no curl command"),
        ("curl http://h/ -d", "-d of the curl command has no value"),
        ("curl http://h/ -d @none", "no file none"),
        ("curl http://h/ -F a", "-F: `a` has no `=`"),
        ("curl http://h/ -d a=b -F c=d", "both -d and -F"),
        ("curl ftp://h/", "only http:// and https://"),
        ("curl -X get http://h/", "capital letters"),
        ("curl 'http://h/", "no closing '"),
        ("{", "it is not JSON"),
        (&*"[".repeat(100_000), "[…` is no curl command"),
        (BROKEN_LINE, "`ftp://h/a\\r\\nb`: only"),
        ("{\"log\":{}}", "no log.entries"),
        ("{\"log\":{\"entries\":[]}}", "no request"),
        ("", "nothing to import"),
    ] {
        let error = imported(text).unwrap_err();
        assert!(error.contains(needle), "{text}: {error}");
    }
}

/// A URL that would break a line of what is said about it.
const BROKEN_LINE: &str =
    r#"{"log":{"entries":[{"request":{"method":"GET","url":"ftp://h/a\r\nb"}}]}}"#;

/// A login and a list, as Chrome 130 saves them (shortened).
const CHROME: &str = r#"{"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},
"pages":[{"startedDateTime":"2026-01-02T03:04:05.678Z","id":"page_1","title":"https://shop.example/","pageTimings":{"onContentLoad":1.5,"onLoad":2}}],
"entries":[
{"_connectionId":"12","_initiator":{"type":"other"},"_priority":"VeryHigh","_resourceType":"document","cache":{},"connection":"443","pageref":"page_1",
 "request":{"method":"POST","url":"https://shop.example/login","httpVersion":"http/2.0","headers":[
  {"name":":authority","value":"shop.example"},{"name":":method","value":"POST"},{"name":":path","value":"/login"},{"name":":scheme","value":"https"},
  {"name":"accept","value":"text/html,*/*;q=0.8"},{"name":"accept-encoding","value":"gzip, deflate, br, zstd"},
  {"name":"content-length","value":"30"},{"name":"content-type","value":"application/x-www-form-urlencoded"},{"name":"cookie","value":"consent=yes; a=b=c"}],
  "queryString":[],"cookies":[{"name":"consent","value":"yes"}],"headersSize":-1,"bodySize":30,
  "postData":{"mimeType":"application/x-www-form-urlencoded","text":"user=ann%40example&password=nna","params":[{"name":"user","value":"ann%40example"},{"name":"password","value":"nna"}]}},
 "response":{"status":302,"statusText":"","httpVersion":"http/2.0","headers":[{"name":"location","value":"/items"},{"name":"set-cookie","value":"session=abc; Path=/; HttpOnly\nlang=de"}],"cookies":[],"content":{"size":0,"mimeType":"x-unknown"},"redirectURL":"/items","headersSize":-1,"bodySize":-1,"_transferSize":120},
 "serverIPAddress":"127.0.0.1","startedDateTime":"2026-01-02T03:04:05.700Z","time":12.3,"timings":{"blocked":1,"dns":-1,"ssl":-1,"connect":-1,"send":0.1,"wait":10,"receive":1}},
{"request":{"method":"GET","url":"https://shop.example/items?page=2&q=a%20b","httpVersion":"http/2.0","headers":[
  {"name":"accept","value":"*/*"},{"name":"cookie","value":"consent=yes; session=abc; lang=de"}],"queryString":[{"name":"page","value":"2"}],"cookies":[],"headersSize":-1,"bodySize":0},
 "response":{"status":200,"statusText":"","httpVersion":"http/2.0","headers":[],"cookies":[],"content":{"size":2,"mimeType":"application/json","text":"[]"},"redirectURL":"","headersSize":-1,"bodySize":-1}},
{"request":{"method":"GET","url":"data:image/png;base64,iVBORw0KGgo=","httpVersion":"","headers":[],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},"response":{"status":200}},
{"request":{"method":"GET","url":"wss://shop.example/live","httpVersion":"http/1.1","headers":[{"name":"Upgrade","value":"websocket"}]},"response":{"status":101}},
{"request":{"method":"GET","url":"https://ads.example/","httpVersion":"","headers":[]},"response":{"status":0,"statusText":"","_error":"net::ERR_BLOCKED_BY_CLIENT"}}
]}}"#;

#[test]
fn a_recording_of_chrome_becomes_a_journey() {
    let (text, notes) = imported(CHROME).unwrap();
    let expected = "POST https://shop.example/login\naccept: text/html,*/*;q=0.8\n[Options]\ncompressed: true\n\
                    [Cookies]\nconsent: yes\na: b=c\n[Form]\nuser: ann@example\npassword: nna\nHTTP 302\n\n\
                    GET https://shop.example/items?page=2&q=a%20b\naccept: */*\n[Cookies]\nconsent: yes\nHTTP 200\n\n\
                    GET https://ads.example/\n";
    assert_eq!(text, expected);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].contains("entry 3") && notes[0].contains("data:image/png"), "{notes:?}");
    assert!(notes[1].contains("entry 4") && notes[1].contains("wss://"), "{notes:?}");
    assert!(notes[2].contains("https://ads.example/` had no response"), "{notes:?}");
}

/// An upload and a JSON body, as Firefox 132 saves them (shortened), with a byte order mark before it.
const FIREFOX: &str = "\u{feff}{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":\"Firefox\",\"version\":\"132.0\"},\
\"browser\":{\"name\":\"Firefox\",\"version\":\"132.0\"},\"pages\":[],\"entries\":[\
{\"startedDateTime\":\"2026-01-02T03:04:05.678+01:00\",\"request\":{\"bodySize\":240,\"method\":\"POST\",\
\"url\":\"http://127.0.0.1:8080/upload\",\"httpVersion\":\"HTTP/1.1\",\"headers\":[{\"name\":\"Host\",\"value\":\"127.0.0.1:8080\"},\
{\"name\":\"User-Agent\",\"value\":\"Mozilla/5.0 #1\"},{\"name\":\"Content-Type\",\"value\":\"multipart/form-data; boundary=----geckoform\"},\
{\"name\":\"Connection\",\"value\":\"keep-alive\"}],\"cookies\":[],\"queryString\":[],\"headersSize\":300,\
\"postData\":{\"mimeType\":\"multipart/form-data; boundary=----geckoform\",\"params\":[{\"name\":\"title\",\"value\":\"my file\"},\
{\"name\":\"f\",\"fileName\":\"a.png\",\"contentType\":\"image/png\",\"value\":\"\"}],\"text\":\"------geckoform\"}},\
\"response\":{\"status\":200,\"headers\":[]},\"cache\":{},\"timings\":{},\"time\":3},\
{\"request\":{\"method\":\"PATCH\",\"url\":\"http://127.0.0.1:8080/basket\",\"headers\":[{\"name\":\"Content-Type\",\"value\":\"application/json\"}],\
\"postData\":{\"mimeType\":\"application/json\",\"params\":[],\"text\":\"{\\\"count\\\":{{2}}\"}},\"response\":{\"status\":204}},\
{\"request\":{\"method\":\"POST\",\"url\":\"http://127.0.0.1:8080/raw\",\"headers\":[],\
\"postData\":{\"mimeType\":\"application/octet-stream\",\"encoding\":\"base64\",\"text\":\"/wABYQ==\"}},\"response\":{\"status\":200}}]}}";

#[test]
fn a_recording_of_firefox_becomes_a_journey() {
    let (text, notes) = imported(FIREFOX).unwrap();
    let expected = "POST http://127.0.0.1:8080/upload\nUser-Agent: Mozilla/5.0 \\#1\n[Multipart]\ntitle: my file\n\
                    f: file,a.png; image/png\nHTTP 200\n\n\
                    PATCH http://127.0.0.1:8080/basket\nContent-Type: application/json\n\
                    `{\"count\":\\u{7b}{2}}`\nHTTP 204\n\n\
                    POST http://127.0.0.1:8080/raw\nhex,ff000161;\nHTTP 200\n";
    assert_eq!(text, expected);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("`a.png`"), "{notes:?}");
}
