//! What scripts have sent.

use super::{request, thread};

#[test]
fn without_functions_the_request_is_that_of_the_command_line() {
    let worker = thread("");
    assert!(worker.is_static() && !worker.wants_responses() && !worker.has_delay());
    assert_eq!(request(&worker), "GET /path?q HTTP/1.1|Host: two:8001|X: y|");
    assert_eq!(request(&worker), "GET /path?q HTTP/1.1|Host: two:8001|X: y|");
}

#[test]
fn constants_that_a_script_sets_are_in_the_request() {
    let worker = thread(
        r#"wrk.method = "POST"
           wrk.body = "a=1&b=2"
           wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
           wrk.headers["X"] = nil"#,
    );
    assert!(worker.is_static());
    let expected = "POST /path?q HTTP/1.1|Content-Length: 7|\
                    Content-Type: application/x-www-form-urlencoded|Host: two:8001|a=1&b=2";
    assert_eq!(request(&worker), expected);
}

#[test]
fn a_request_per_call_counts_and_keeps_what_was_not_given() {
    let worker = thread(
        r#"local count = 0
           function request()
              count = count + 1
              wrk.headers["X-Count"] = count
              return wrk.format(nil, "/item/" .. count)
           end"#,
    );
    assert!(!worker.is_static());
    assert_eq!(request(&worker), "GET /item/1 HTTP/1.1|Host: two:8001|X-Count: 1|X: y|");
    assert_eq!(request(&worker), "GET /item/2 HTTP/1.1|Host: two:8001|X-Count: 2|X: y|");
}

#[test]
fn headers_and_a_body_of_ones_own_replace_those_of_the_table() {
    let worker = thread(
        r#"function request()
              return wrk.format("PUT", nil, { ["A"] = true, ["B"] = 1.5 }, "body")
           end"#,
    );
    let expected = "PUT /path?q HTTP/1.1|A: true|B: 1.5|Content-Length: 4|Host: two:8001|body";
    assert_eq!(request(&worker), expected);
}

#[test]
fn requests_made_in_init_are_sent_together() {
    let worker = thread(
        r#"function init(args)
              local all = {}
              for i, path in ipairs({ "/a", "/b", "/c" }) do all[i] = wrk.format("GET", path) end
              together = table.concat(all)
           end
           function request() return together end"#,
    );
    let mut bytes = Vec::new();
    worker.request(&mut bytes).unwrap();
    let ends = ablaze_script::requests::ends(&bytes).unwrap();
    assert_eq!(ends.len(), 3);
    assert!(bytes[ends[1]..].starts_with(b"GET /c HTTP/1.1\r\n"));
}

#[test]
fn init_is_given_the_url_and_the_words_behind_it() {
    let worker = thread(
        r#"function init(args)
              wrk.path = "/" .. args[1] .. "/" .. args[2] .. "/" .. #args
              wrk.headers["Url"] = args[0]
           end"#,
    );
    let expected = "GET /first/second/2 HTTP/1.1|Host: two:8001|Url: http://two:8001/path?q|X: y|";
    assert_eq!(request(&worker), expected);
}

#[test]
fn a_token_of_one_response_is_in_the_next_requests() {
    let worker = thread(
        r#"local token, path = nil, "/authenticate"
           function request() return wrk.format("GET", path) end
           function response(status, headers, body)
              if not token and status == 200 then
                 token, path = headers["X-Token"], "/resource/" .. body
                 wrk.headers["X-Token"] = token
              end
           end"#,
    );
    assert!(worker.wants_responses());
    assert!(request(&worker).starts_with("GET /authenticate "));
    let head = b"HTTP/1.1 200 OK\r\nX-Token:  abc \r\nServer: s\r\n\r\n";
    worker.response(200, head, b"\0\xff7").unwrap();
    let mut bytes = Vec::new();
    worker.request(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"GET /resource/\0\xff7 HTTP/1.1\r\n"));
    assert!(bytes.windows(14).any(|part| part == b"X-Token: abc\r\n"));
}

#[test]
fn delays_are_whole_milliseconds() {
    let worker = thread("function delay() return 12.9 end");
    assert_eq!(worker.delay_ns().unwrap(), 12_000_000);
    assert_eq!(thread("function delay() return -1 end").delay_ns().unwrap(), 0);
    assert_eq!(thread("function delay() end").delay_ns().unwrap(), 0);
    assert_eq!(thread("").delay_ns().unwrap(), 0);
}
