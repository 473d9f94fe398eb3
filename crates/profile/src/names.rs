//! Names of functions as people read them: long arguments of templates are left out, the function never is.

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
    use super::shortened;

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
