//! A manual page as man(7) of Linux lays it out: name, synopsis, description, options under the headings of the help,
//! notes, exit status, see also. What it is written in is a [`Markup`]: roff or Markdown.

use clap::{Arg, ArgAction, Command};

use super::plain;

/// What pages are written in. Words between backquotes of a text are bold, and what has a meaning in the markup is escaped.
pub trait Markup {
    /// Begins a page of section 1.
    fn titled(name: &str) -> Self;

    /// Begins a section.
    fn section(&mut self, heading: &str);

    /// Begins a part of a section.
    fn subsection(&mut self, heading: &str);

    /// Markup as it is.
    fn line(&mut self, markup: &str);

    /// A term, in markup, and what it means, in words.
    fn item(&mut self, term: &str, about: &str);

    /// Lines that stay as they are.
    fn literal<'a>(&mut self, lines: impl Iterator<Item = &'a str>);

    /// Words, as one paragraph or the rest of one.
    fn filled(&mut self, words: &str);

    /// Ends a paragraph: another one follows.
    fn paragraph(&mut self);

    /// The page.
    fn finish(self) -> String;

    /// What is typed.
    fn bold(words: &str) -> String;

    /// What stands for a value.
    fn italic(words: &str) -> String;

    /// Words that mean nothing but themselves.
    fn escaped(words: &str) -> String;

    /// Another page of this manual, by its name.
    fn other_page(name: &str) -> String;

    /// Words, those between two backquotes bold.
    fn text(words: &str) -> String {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts: Vec<&str> = words.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return Self::escaped(&words);
        }
        let part = |(index, part): (usize, &&str)| match index % 2 {
            0 => Self::escaped(part),
            _ => Self::bold(part),
        };
        parts.iter().enumerate().map(part).collect()
    }

    /// A text of a help: running lines become paragraphs, lines that are indented or have columns stay.
    fn flow(&mut self, text: &str) {
        let mut lines = text.lines().peekable();
        let mut first = true;
        while let Some(line) = lines.next() {
            if line.trim().is_empty() {
                continue;
            }
            let mut block = vec![line];
            while let Some(next) = lines.next_if(|next| continues(&block, next)) {
                block.push(next);
            }
            // A paragraph right behind a heading is one already.
            if !std::mem::take(&mut first) {
                self.paragraph();
            }
            match is_laid_out(line) {
                true => self.literal(block.into_iter()),
                false => self.filled(&block.join(" ")),
            }
        }
    }
}

/// Commands whose tool is written with Go's package flag: its options have one dash, however long.
const ONE_DASH: [&str; 3] = ["gurl", "hey", "vegeta"];

/// What opens the part of a help text that says what the exit statuses mean.
const EXIT_STATUS: &str = "Exit status: ";

/// ablaze(1).
pub fn of_program<M: Markup>(program: &Command) -> String {
    let mut page: M = begun("ablaze", program);
    page.section("Options");
    page.flow("Without a command, the options are those of `ablaze load`: see ablaze-load(1).");
    let own = program.get_arguments().filter(|own| {
        matches!(own.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::Version)
    });
    own.for_each(|argument| item(&mut page, argument, "--"));
    let commands = || program.get_subcommands().filter(|command| command.get_name() != "help");
    page.section("Commands");
    for command in commands() {
        let name = M::bold(&format!("ablaze {}", command.get_name()));
        page.item(&name, &plain(command.get_about()));
    }
    ended(&mut page, program);
    let others = commands().map(|command| format!("ablaze-{}", command.get_name()));
    see_also(page, others)
}

/// The page of a command, by its name as a page.
pub fn of_command<M: Markup>(name: &str, command: &Command) -> String {
    let dashes = if ONE_DASH.contains(&command.get_name()) { "-" } else { "--" };
    let mut page: M = begun(name, command);
    arguments(&mut page, command);
    page.section("Options");
    options(&mut page, command, dashes);
    for own in command.get_subcommands().filter(|own| own.get_name() != "help") {
        page.section(&format!("Options of {}", own.get_name()));
        page.flow(&plain(own.get_about()));
        options(&mut page, own, dashes);
    }
    ended(&mut page, command);
    see_also(page, std::iter::once("ablaze".to_owned()))
}

/// Title, name, synopsis and description.
fn begun<M: Markup>(name: &str, command: &Command) -> M {
    let mut page = M::titled(name);
    page.section("Name");
    page.line(&M::text(&format!("{name} - {}", plain(command.get_about()))));
    page.section("Synopsis");
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim);
    page.literal(usage);
    let description = plain(command.get_before_help());
    if !description.is_empty() {
        page.section("Description");
        page.flow(&description);
    }
    page
}

fn arguments<M: Markup>(page: &mut M, command: &Command) {
    let mut positionals = command.get_positionals().filter(|own| !own.is_hide_set()).peekable();
    if positionals.peek().is_none() {
        return;
    }
    page.section("Arguments");
    positionals.for_each(|argument| page.item(&values::<M>(argument), &about(argument)));
}

/// The options without a heading, then those of each heading, in the order of the help.
fn options<M: Markup>(page: &mut M, command: &Command, dashes: &str) {
    let all = || command.get_arguments().filter(|own| !own.is_positional() && !own.is_hide_set());
    let mut headings: Vec<Option<&str>> = vec![None];
    for argument in all() {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            page.subsection(heading);
        }
        let own = all().filter(|argument| argument.get_help_heading() == heading);
        own.for_each(|argument| item(page, argument, dashes));
    }
}

/// An option with all its names and what it does.
fn item<M: Markup>(page: &mut M, argument: &Arg, dashes: &str) {
    let letters = argument.get_short_and_visible_aliases().unwrap_or_default();
    let words = argument.get_long_and_visible_aliases().unwrap_or_default();
    let letters = letters.into_iter().map(|letter| M::bold(&format!("-{letter}")));
    // clap has its own help everywhere, and only that one with two dashes.
    let dashes = if matches!(argument.get_action(), ArgAction::Help) { "--" } else { dashes };
    let words = words.into_iter().map(|word| M::bold(&format!("{dashes}{word}")));
    let names: Vec<String> = letters.chain(words).collect();
    let value =
        if argument.get_action().takes_values() { values::<M>(argument) } else { String::new() };
    let optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match value.is_empty() {
        true => value,
        false if optional => format!("[={value}]"),
        false => format!(" {value}"),
    };
    page.item(&format!("{}{value}", names.join(", ")), &about(argument));
}

/// What the help calls the value of an argument.
fn values<M: Markup>(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().map(|name| M::italic(name)).collect::<Vec<_>>().join(" ")
}

/// What an argument is for, with the values that it permits and its default where clap has them.
fn about(argument: &Arg) -> String {
    let mut about = plain(argument.get_long_help().or(argument.get_help()));
    if !argument.get_action().takes_values() {
        return about;
    }
    let permitted = argument.get_possible_values();
    let permitted: Vec<&str> =
        permitted.iter().filter(|own| !own.is_hide_set()).map(|own| own.get_name()).collect();
    if !permitted.is_empty() && !argument.is_hide_possible_values_set() {
        about += &format!(" [possible values: {}]", permitted.join(", "));
    }
    let default = argument.get_default_values();
    if !default.is_empty() && !argument.is_hide_default_value_set() {
        let default: Vec<_> = default.iter().map(|value| value.to_string_lossy()).collect();
        about += &format!(" [default: {}]", default.join(" "));
    }
    about
}

/// What the help says behind the options, and what the exit statuses mean.
fn ended<M: Markup>(page: &mut M, command: &Command) {
    let after = plain(command.get_after_help());
    let (notes, statuses) = match after.find(EXIT_STATUS) {
        Some(at) => (&after[..at], &after[at + EXIT_STATUS.len()..]),
        None => (after.as_str(), ""),
    };
    if !notes.trim().is_empty() {
        page.section("Notes");
        page.flow(notes);
    }
    if !statuses.is_empty() {
        page.section("Exit status");
        page.flow(statuses);
    }
}

fn see_also<M: Markup>(mut page: M, others: impl Iterator<Item = String>) -> String {
    page.section("See also");
    let others: Vec<String> = others.map(|name| M::other_page(&name)).collect();
    page.line(&others.join(",\n"));
    page.finish()
}

/// Whether a line of a help is laid out in columns or indented, so that its blanks count.
fn is_laid_out(line: &str) -> bool {
    line.starts_with(' ') || line.contains("   ")
}

/// Whether a line belongs to the lines before it: both running text, or both laid out. An indented line behind one that
/// ends in the middle of a sentence is its continuation.
fn continues(block: &[&str], next: &str) -> bool {
    let laid_out = is_laid_out(block[0]);
    let open = block.last().is_some_and(|line| line.ends_with([',', ';']));
    !next.trim().is_empty() && (is_laid_out(next) == laid_out || (!laid_out && open))
}
