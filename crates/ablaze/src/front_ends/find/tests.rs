//! Tests of the search that a command line describes.

use super::*;

fn read(line: &str) -> Result<Search, String> {
    let words = std::iter::once("find").chain(line.split(' '));
    let matches = command().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let options = FindOptions::from_arg_matches(&matches).unwrap();
    let goal = options.slo.clone().unwrap_or_default().parse().map_err(|_| "no goal")?;
    search(&options, &goal, words::of(&matches, &LOAD), &mut Secrets::default())
        .map_err(|error| error.line)
}

#[test]
fn a_command_line_becomes_a_search() {
    let search = read(":1/ --slo p99<20ms -c 100 --arrivals poisson --from 50 --to 2k").unwrap();
    let words = search.load.words.0.join(" ");
    assert_eq!(words, "--connections 100 --arrivals poisson");
    assert_eq!(search.arrivals(), ablaze_model::plan::Arrivals::Poisson);
    let stage = search.stage_load(123.4567, false);
    assert_eq!(stage.shape.connections(), Some(100));
    assert!(
        stage.words.0.ends_with(&["--rate", "123.457/s", "--duration", "2000ms"].map(String::from))
    );
    assert_eq!(
        (search.start_per_s, search.lowest_per_s, search.highest_per_s),
        (50.0, 50.0, 2000.0)
    );
    assert_eq!((search.stage_ns, search.confirm_ns), (2_000_000_000, 6_000_000_000));
    // What is permitted to last a second needs longer stages to be seen.
    assert_eq!(read(":1/ --slo p99<1s").unwrap().stage_ns, 10_000_000_000);
    assert_eq!(read(":1/ --slo p99<1s -d 3s").unwrap().stage_ns, 3_000_000_000);
    // The longest stage has a hundred requests at least, unless another rate was asked for.
    let lowest = |line: &str| read(line).unwrap().lowest_per_s;
    assert_eq!(lowest(":1/ --slo p99<20ms -d 500ms"), 26.0);
    assert_eq!(lowest(":1/ --slo p99<20ms -d 20s"), 1.0);
    // One in a thousand is seen in a thousand.
    assert_eq!(lowest(":1/ --slo errors<0.1% -d 10s"), 10.93);
    // Below what is asked of the rate itself nothing can hold.
    let above = read(":1/ --slo rate>490,p99<20ms --from 2").unwrap();
    assert_eq!((above.lowest_per_s, above.start_per_s), (500.0, 500.0));
    assert_eq!(lowest(":1/ --slo p99<20ms -d 500ms --to 5"), 5.0);
    assert_eq!(lowest(":1/ --slo p99<20ms -d 500ms --from 2"), 2.0);
    for wrong in [
        "--slo p99<20ms",
        ":1/",
        "before.json --slo p99<20ms",
        ":1/ --slo p99<20ms --from 10 --to 5",
        ":1/ --slo p99<20ms --rate 5",
        ":1/ --slo p99<20ms -d 1ms",
        ":1/ --slo rate>2k --to 1k",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_help_fits_a_terminal() {
    let mut command = command();
    command.clone().debug_assert();
    let help = command.render_help().to_string();
    let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn how_long_it_takes_is_said_before_it_starts() {
    let said = |line: &str| length::in_short(&read(line).unwrap());
    // 60 stages of 6 s and what is beside them.
    let expected = "; at most 60 stages, 6 min 24 s";
    let plain = said(":1/ --slo p99<20ms --from 100");
    assert!(plain.starts_with("usually ") && plain.ends_with(expected), "{plain}");
    // One rate is tried twice: 2 s and 6 s, and what is beside them.
    let once = said(":1/ --slo p99<20ms --from 100 --to 100");
    assert_eq!(once, format!("usually 8 s{expected}"));
    // Warm-up counts, and so do stages that last until enough requests are due.
    let warm = said(":1/ --slo p99<20ms --from 100 --to 100 --warmup 10s");
    assert_eq!(warm, "usually 28 s; at most 60 stages, 16 min 24 s");
    let slow = said(":1/ --slo errors<0.1% -d 500ms --from 300 --to 300");
    assert!(slow.starts_with("usually 8 s"), "{slow}");
}
