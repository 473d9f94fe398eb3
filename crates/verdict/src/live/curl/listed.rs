//! What a line of `--urls` sends: lines may have a method and a body of their own, and say nothing of those of others.

use ablaze_model::Run;
use ablaze_model::spec::Bodies;

/// What the requests of one line are.
pub(super) struct Line<'a> {
    pub method: &'a str,
    pub has_body: bool,
    /// It says its method, and its body, itself.
    pub is_own: bool,
}

/// The method and the path of a group that is named by both: a line of a list that says its method.
pub(super) fn method_and_path<'a>(run: &Run, name: &'a str) -> (Option<&'a str>, &'a str) {
    match name.split_once(' ') {
        Some((method, path)) if is_list(run) && path.starts_with(['/', 'h']) => {
            (Some(method), path)
        }
        _ => (None, name),
    }
}

/// The line of this name. `None` where there is no list: all requests are those of the options.
pub(super) fn line<'a>(run: &'a Run, name: &'a str) -> Option<Line<'a>> {
    let asked = run.asked.as_ref().filter(|_| is_list(run))?;
    if let (Some(method), _) = method_and_path(run, name) {
        // Of a saved run it is not known which lines have one: those that get something usually have none.
        let has_body =
            sent_body(run, name).unwrap_or(run.plan.requests.has_body && method != "GET");
        return Some(Line { method, has_body, is_own: true });
    }
    let has_body = asked.requests.bodies != Bodies::None;
    let usual = if has_body { "POST" } else { "GET" };
    let given = asked.requests.method.as_ref().map(|method| std::str::from_utf8(&method.0));
    let method = given.map_or(usual, |method| method.unwrap_or(usual));
    Some(Line { method, has_body, is_own: false })
}

fn is_list(run: &Run) -> bool {
    run.asked.as_ref().is_some_and(|asked| asked.requests.urls.is_some())
}

/// Whether a request of the line has a body, by its bytes, where these are known.
fn sent_body(run: &Run, name: &str) -> Option<bool> {
    let requests = &run.plan.requests;
    let group = requests.groups.names.iter().position(|known| known == name)?;
    let of_templates = requests.groups.of_templates.iter().zip(&requests.templates);
    let mut own = of_templates.filter(|(of, _)| **of as usize == group).peekable();
    own.peek()?;
    Some(own.any(|(_, template)| template.bytes.len() > template.head_bytes))
}
