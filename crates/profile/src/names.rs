//! Names of functions as people read them: long arguments of templates are left out, the function never is; what the
//! system and Rust's runtime call before a thread's own code is left out of stacks.

/// Ends the name of a function of the kernel, and of one that the compiler put into its caller; flame
/// graphs colour by it.
pub const IN_KERNEL: &str = "_[k]";
/// See [`IN_KERNEL`].
pub const INLINED: &str = "_[i]";

/// How the names of functions begin that only lead to a thread's own code, where Rust does not mark its beginning.
const RUN_UP: [&str; 8] = [
    "_start",
    "__libc_start",
    "clone",
    "__clone",
    "start_thread",
    "thread_start",
    "[libc.so",
    "std::rt::",
];
/// Below this function Rust's runtime ends and a thread's own code begins.
const OWN_CODE: &str = "__rust_begin_short_backtrace";
/// How the names of functions begin that do nothing but call a closure.
const CALLS: [&str; 3] = [
    "core::ops::function::",
    "<alloc::boxed::Box<F,A> as core::ops::function::",
    "<alloc::boxed::Box<dyn core::ops::function::",
];

/// A folded stack with its names shortened, without the run-up to a thread's own code and without what only calls
/// closures. Its last function always stays.
pub fn readable_stack(frames: &str) -> String {
    let names: Vec<&str> = frames.split(';').collect();
    let (callers, last) = names.split_at(names.len() - 1);
    let marked = callers.iter().rposition(|name| name.contains(OWN_CODE));
    let begins = marked.map_or_else(
        || callers.iter().take_while(|name| starts_with(name, &RUN_UP)).count(),
        |at| at + 1,
    );
    let own = callers[begins..].iter().filter(|name| !starts_with(name, &CALLS));
    let names: Vec<String> = own.chain(last).map(|name| shortened_frame(name)).collect();
    names.join(";")
}

fn starts_with(name: &str, any: &[&str]) -> bool {
    any.iter().any(|start| name.starts_with(start))
}

/// A name in a stack, which may end in what it is.
fn shortened_frame(name: &str) -> String {
    let end = [IN_KERNEL, INLINED].into_iter().find(|end| name.ends_with(end)).unwrap_or("");
    format!("{}{end}", shortened(&name[..name.len() - end.len()]))
}

/// Names up to this many characters stay as they are.
const ENOUGH: usize = 60;
/// Arguments up to this many characters stay as they are.
const SHORT: usize = 8;

/// A name with its longer template arguments as `<…>`, if it is long: `std::map<…>::find`.
pub fn shortened(name: &str) -> String {
    if name.chars().count() <= ENOUGH {
        return name.to_owned();
    }
    let characters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < characters.len() {
        let is_operator = out.ends_with("operator") || out.ends_with("operator<");
        let end = match characters[at] {
            '<' if !is_operator => closing(&characters, at),
            _ => None,
        };
        match end {
            // At the beginning it says whose the function is: `<T as Trait>::f`.
            Some(end) if end - at - 1 > SHORT && !out.is_empty() => {
                out.push_str("<…>");
                at = end + 1;
            }
            _ => {
                out.push(characters[at]);
                at += 1;
            }
        }
    }
    out
}

/// The bracket that closes the one at this place.
fn closing(characters: &[char], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in characters.iter().enumerate().skip(open) {
        let arrow = at > 0 && characters[at - 1] == '-';
        match character {
            '<' => depth += 1,
            '>' if !arrow => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{readable_stack, shortened};

    #[test]
    fn a_stack_begins_where_the_thread_s_own_code_does() {
        let rust = "[libc.so.6];<std::sys::thread::unix::Thread>::new::thread_start;\
                    core::ops::function::FnOnce::call_once{{vtable.shim}};catch_unwind<F>_[i];\
                    std::sys::backtrace::__rust_begin_short_backtrace;{closure#0}<T>_[i];\
                    ablaze_target::server::work;<alloc::boxed::Box<F,A> as core::ops::function::FnOnce\
                    <Args>>::call_once;turn;__send;tcp_sendmsg_[k]";
        let expected = "{closure#0}<T>_[i];ablaze_target::server::work;turn;__send;tcp_sendmsg_[k]";
        assert_eq!(readable_stack(rust), expected);
        assert_eq!(readable_stack("_start;__libc_start_main;main;serve"), "main;serve");
        assert_eq!(readable_stack("clone3;start_thread;work(int);send"), "work(int);send");
        // What the thread's own code calls stays, and so does what a stack ends with.
        assert_eq!(readable_stack("main;f;std::sys::time::now"), "main;f;std::sys::time::now");
        assert_eq!(readable_stack("clone3;start_thread"), "start_thread");
        assert_eq!(readable_stack("clone3"), "clone3");
        let long =
            "f<a::very::long::name::of::a::type, and::another::one::that::is::long>(int)_[i]";
        assert_eq!(readable_stack(long), "f<…>(int)_[i]");
    }

    #[test]
    fn the_function_stays_and_its_arguments_go() {
        let string =
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
        let table = [
            (
                format!("std::map<{string}, int, std::less<{string}> >::find({string} const&)"),
                "std::map<…>::find(std::__cxx11::basic_string<…> const&)",
            ),
            (
                format!("void handle<{string}>(Connection*, {string})"),
                "void handle<…>(Connection*, std::__cxx11::basic_string<…>)",
            ),
            (
                format!("std::ostream& operator<< <{string}>(std::ostream&, {string} const&)"),
                "std::ostream& operator<< <…>(std::ostream&, std::__cxx11::basic_string<…> const&)",
            ),
            (
                "<alloc::vec::Vec<very::long::path::of::a::Type> as core::ops::drop::Drop>::drop"
                    .to_owned(),
                "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop",
            ),
            ("tcp_sendmsg".to_owned(), "tcp_sendmsg"),
            (
                "std::vector<std::string>::push_back".to_owned(),
                "std::vector<std::string>::push_back",
            ),
        ];
        for (name, expected) in table {
            assert_eq!(shortened(&name), expected);
        }
    }
}
