//! The libraries that scripts load.

use super::{request, thread};

#[test]
fn the_standard_libraries_are_there() {
    let worker = thread(
        r#"local ffi, bit = require("ffi"), require("bit")
           assert(ffi.sizeof("int") == 4 and bit.band(6, 3) == 2)
           assert(os.getenv and io.open and debug.traceback and coroutine.wrap and jit.version)
           assert(require("wrk") == wrk and package.path)
           wrk.path = "/" .. string.rep("x", 3) .. math.floor(2.5) .. table.concat({ 1, 2 })"#,
    );
    assert!(request(&worker).starts_with("GET /xxx212 "));
}

#[test]
fn the_clock_of_socket_tells_the_time() {
    let worker = thread(
        r#"local socket = require("socket")
           local now = socket.gettime()
           assert(math.abs(now - os.time()) < 2 and now ~= math.floor(now))
           math.randomseed(now * 1000)"#,
    );
    assert!(worker.is_static());
}

#[test]
fn json_is_read_and_written_as_cjson_does() {
    let worker = thread(
        r#"local cjson, json = require("cjson"), require("json")
           local read = cjson.decode('{"id": 7, "list": [1, "two", null, true], "none": null, "half": 0.5}')
           assert(read.id == 7 and read.list[2] == "two" and read.list[4] == true and read.half == 0.5)
           assert(read.none == cjson.null and read.list[3] == cjson.null and #read.list == 4)
           assert(json.encode({ 1, 2, { a = "b\n" } }) == '[1,2,{"a":"b\\n"}]')
           assert(json.encode({}) == "{}" and json.encode(1.5) == "1.5" and json.encode(cjson.null) == "null")
           assert(not pcall(cjson.decode, "{") and not pcall(cjson.encode, print))
           local nothing, why = require("cjson.safe").decode("{")
           assert(nothing == nil and type(why) == "string")
           wrk.body = cjson.encode({ name = "x" })"#,
    );
    assert!(request(&worker).ends_with(r#"|{"name":"x"}"#));
}
