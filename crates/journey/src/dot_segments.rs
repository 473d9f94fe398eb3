//! The segments `.` and `..` of a URL's path (RFC 3986, 5.2.4), which clients leave out before they ask.

/// Takes them out of what begins with a path at `start`: neither a query nor a fragment behind it is touched.
pub(crate) fn remove(url: &mut Vec<u8>, start: usize) {
    let has_any =
        |from: &[u8]| memchr::memchr_iter(b'/', from).any(|at| from.get(at + 1) == Some(&b'.'));
    if url.get(start) != Some(&b'/') || !has_any(&url[start..]) {
        return;
    }
    let end = memchr::memchr2(b'?', b'#', &url[start..]).map_or(url.len(), |end| start + end);
    // What is kept is written over what was read: never more than that.
    let (mut read, mut written) = (start, start);
    while read < end {
        let next = memchr::memchr(b'/', &url[read + 1..end]).map_or(end, |at| read + 1 + at);
        let is_last = next == end;
        match &url[read + 1..next] {
            b"." => {}
            b".." => written = start + memchr::memrchr(b'/', &url[start..written]).unwrap_or(0),
            _ => {
                url.copy_within(read..next, written);
                written += next - read;
                read = next;
                continue;
            }
        }
        if is_last {
            url[written] = b'/';
            written += 1;
        }
        read = next;
    }
    url.copy_within(end.., written);
    url.truncate(url.len() - (end - written));
}

/// Where the path of a URL begins, which may be a path alone.
pub(crate) fn path_start(url: &[u8]) -> usize {
    if url.first() == Some(&b'/') {
        return 0;
    }
    let authority = memchr::memmem::find(url, b"://").map_or(0, |at| at + 3);
    memchr::memchr3(b'/', b'?', b'#', &url[authority..]).map_or(url.len(), |at| authority + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 3986, 5.2.4, the paths of 5.4 as they are joined with their base, and what curl 7.88 asks for.
    #[test]
    fn paths_are_those_of_the_rfc() {
        for (given, expected) in [
            ("/a/b/c/./../../g", "/a/g"),
            ("/b/c/./g", "/b/c/g"),
            ("/b/c/.", "/b/c/"),
            ("/b/c/./", "/b/c/"),
            ("/b/c/..", "/b/"),
            ("/b/c/../..", "/"),
            ("/b/c/../../../g", "/g"),
            ("/b/c/g.", "/b/c/g."),
            ("/b/c/.g", "/b/c/.g"),
            ("/b/c/..g", "/b/c/..g"),
            ("/b/c/g;x=1/../y", "/b/c/y"),
            ("/b/c/g?y/../x", "/b/c/g?y/../x"),
            ("/b/../c?y/./x#/../z", "/c?y/./x#/../z"),
            ("/a//../b", "/a/b"),
            ("/...", "/..."),
            ("/.", "/"),
            ("", ""),
            ("?/..", "?/.."),
            ("http://h.x:1/a/../b", "http://h.x:1/b"),
            ("http://h.x", "http://h.x"),
            ("http://h.x?a/../b", "http://h.x?a/../b"),
        ] {
            let mut url = given.as_bytes().to_vec();
            let start = path_start(&url);
            remove(&mut url, start);
            assert_eq!(String::from_utf8(url).unwrap(), expected, "{given}");
        }
    }
}
