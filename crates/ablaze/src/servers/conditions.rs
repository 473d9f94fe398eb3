//! Conditions as they are written on the command line: delays and their distributions, faults,
//! routes, work. Errors are the second half of a sentence that begins with option and value.

use std::path::Path;

use ablaze_load::planning::sources;
use ablaze_model::spec::server::RouteSpec;
use ablaze_model::spec::server::values::{App, Delay, FaultShare, Share};
use ablaze_model::spec::{Body, Bytes};

use super::names;
use crate::values;

/// `10ms`, `uniform:1ms-20ms`, `exp:10ms`, `bimodal:1ms/100ms/1%`, `stall:1s/10s`.
pub fn delay(text: &str) -> Result<Delay, String> {
    let Some((kind, values)) = text.split_once(':') else { return time(text).map(Delay::Constant) };
    match kind {
        "uniform" => {
            let (least, most) = two(values, '-', "uniform:1ms-20ms")?;
            let (least, most) = (time(least)?, time(most)?);
            if least > most {
                return Err("the shorter time comes first, such as 1ms-20ms".into());
            }
            Ok(Delay::Uniform(least, most))
        }
        "exp" => time(values).map(Delay::Exponential),
        "bimodal" => {
            let example = "bimodal:1ms/100ms/1%";
            let (mostly, rest) = two(values, '/', example)?;
            let (sometimes, share_of_those) = two(rest, '/', example)?;
            Ok(Delay::Bimodal(time(mostly)?, time(sometimes)?, share(share_of_those)?))
        }
        "stall" => {
            let (length, period) = two(values, '/', "stall:1s/10s")?;
            let (length, period) = (time(length)?, time(period)?);
            if length >= period {
                return Err("a stall must be shorter than its period, such as 1s/10s".into());
            }
            Ok(Delay::Stall(length, period))
        }
        _ => Err("expected a time, uniform:…, exp:…, bimodal:… or stall:…".into()),
    }
}

/// `reset-before=1%`.
pub fn fault(text: &str) -> Result<FaultShare, String> {
    let (kind, of) = two(text, '=', "reset-before=1%")?;
    Ok(FaultShare { fault: names::fault(kind)?, share: share(of)? })
}

/// `shop`, or `shop:404=1%/500=0.1%`.
pub fn app(text: &str) -> Result<App, String> {
    let example = "shop, or shop:404=1%/500=0.1%";
    let (name, errors) =
        text.split_once(':').map_or((text, None), |(name, errors)| (name, Some(errors)));
    if name != "shop" {
        return Err(format!("expected {example}"));
    }
    let (mut not_found, mut failing) = (None, None);
    for error in errors.into_iter().flat_map(|errors| errors.split('/')) {
        let (status, of) = two(error, '=', "shop:404=1%/500=0.1%")?;
        let place = match status {
            "404" => &mut not_found,
            "500" => &mut failing,
            _ => return Err(format!("the shop has errors 404 and 500 only, such as {example}")),
        };
        *place = Some(share(of)?);
    }
    Ok(App::Shop { not_found, failing })
}

/// CPU time: a bare number is nanoseconds, as the option's name for its value says.
pub fn work_ns(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(nanoseconds) => Ok(nanoseconds),
        Err(_) => values::duration_ns(text)
            .map_err(|_| "expected nanoseconds, or a time such as 10us".to_owned()),
    }
}

/// `/path*=404:gone`, or `/path=200:@FILE`.
pub fn route(text: &str) -> Result<RouteSpec, String> {
    // A path may have `=` in it; what follows the right one is a status.
    let parts = text.match_indices('=').find_map(|(at, _)| {
        let (status, body) = text[at + 1..].split_once(':')?;
        let digits = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| (&text[..at], status, body))
    });
    let Some((path, status, body)) = parts else {
        return Err("expected PATH=STATUS:BODY, such as /gone=404:nothing".into());
    };
    let status: u16 = status.parse().map_err(|_| "the status is not a number".to_owned())?;
    if status < 200 {
        return Err(format!("{status} is not a final status: use 200 to 999"));
    }
    if !path.starts_with(['/', '*']) {
        return Err("a path must start with / or *".into());
    }
    let body = match body.strip_prefix('@') {
        Some(file) => {
            let path = Path::new(file);
            Body::File(sources::file(path, "a body").map_err(|error| error.to_string())?)
        }
        None => Body::Given(Bytes::from(body)),
    };
    Ok(RouteSpec { path: path.to_owned(), status, body })
}

fn time(text: &str) -> Result<u64, String> {
    values::duration_ns(text)
}

/// A share as `1%` or `0.01`.
pub fn share(text: &str) -> Result<Share, String> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    // Digits and a point, so that neither `inf` nor `1e3` is taken for a share.
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let share = number.parse::<f64>().ok().filter(|_| plain);
    share
        .and_then(|number| Share::new(number / whole))
        .ok_or_else(|| format!("`{text}` is not a share: expected one such as 1% or 0.01"))
}

fn two<'a>(text: &'a str, at: char, example: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(at).ok_or_else(|| format!("expected a value such as {example}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::spec::server::values::Fault;

    const MS: u64 = 1_000_000;

    fn part(share: f64) -> Share {
        Share::new(share).unwrap()
    }

    #[test]
    fn delays_of_every_kind() {
        let good = [
            ("10ms", Delay::Constant(10 * MS)),
            ("0", Delay::Constant(0)),
            ("uniform:1ms-20ms", Delay::Uniform(MS, 20 * MS)),
            ("exp:10ms", Delay::Exponential(10 * MS)),
            ("bimodal:1ms/100ms/1%", Delay::Bimodal(MS, 100 * MS, part(0.01))),
            ("stall:1s/10s", Delay::Stall(1000 * MS, 10_000 * MS)),
        ];
        for (text, expected) in good {
            assert_eq!(delay(text), Ok(expected), "{text}");
        }
        let bad = [
            "",
            "fast",
            "uniform:1ms",
            "uniform:2ms-1ms",
            "exp:",
            "bimodal:1ms/2ms",
            "stall:1s",
            "bimodal:1ms/2ms/101%",
            "stall:2s/2s",
            "normal:1ms/2ms",
        ];
        for text in bad {
            assert!(delay(text).is_err(), "{text}");
        }
    }

    #[test]
    fn faults_and_their_shares() {
        let reset = |share| Ok(FaultShare { fault: Fault::ResetBefore, share: part(share) });
        assert_eq!(fault("reset-before=1%"), reset(0.01));
        assert_eq!(fault("reset-before=0.5"), reset(0.5));
        assert_eq!(fault("reset-before=100%"), reset(1.0));
        assert_eq!(fault("reset-befor=1%"), Err("did you mean reset-before?".into()));
        for text in ["garbage", "garbage=", "garbage=101%", "garbage=2", "garbage=inf", "=1%"] {
            assert!(fault(text).is_err(), "{text}");
        }
    }

    #[test]
    fn work_is_nanoseconds_unless_it_says_otherwise() {
        assert_eq!(work_ns("500"), Ok(500));
        assert_eq!(work_ns("10us"), Ok(10_000));
        assert_eq!(work_ns("1.5ms"), Ok(1_500_000));
        assert!(work_ns("a lot").is_err());
    }

    #[test]
    fn routes_with_all_that_paths_and_bodies_may_have() {
        let route_of = |path: &str, status, body: &[u8]| {
            let body = Body::Given(Bytes(body.to_vec()));
            Ok(RouteSpec { path: path.to_owned(), status, body })
        };
        assert_eq!(route("/gone=404:nothing"), route_of("/gone", 404, b"nothing"));
        assert_eq!(route("/a=b*=200:x=200:y"), route_of("/a=b*", 200, b"x=200:y"));
        assert_eq!(route("*=204:"), route_of("*", 204, b""));
        for text in ["/a", "/a=b", "/a=99:x", "/a=100:x", "/a=1000:x", "a=200:x", "/a=200"] {
            assert!(route(text).is_err(), "{text}");
        }
        let missing = route("/a=200:@/no/such/file").unwrap_err();
        assert!(missing.contains("/no/such/file") && missing.contains("check its name"));
    }
}
