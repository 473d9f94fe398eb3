// Axes: from values to places between 0 and 1 and back, and the round numbers beside them, by the rules of
// crates/chart/src/axis.rs. A span that somebody chose (`window`) is not rounded.

const usable = (value) => value !== null && Number.isFinite(value) && Math.abs(value) <= 1e18;
const linear = { to: (value) => value, from: (at) => at };
const powers = { to: (value) => (value > 0 ? Math.log10(value) : NaN), from: (at) => 10 ** at };
const nines = { to: (q) => (q >= 0 && q < 1 ? -Math.log10(1 - q) : NaN), from: (at) => 1 - 10 ** -at };
const lawOf = (scale) => ({ log: powers, ratio: powers, percentile: nines })[scale] ?? linear;

// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
const roundStep = (least) => {
  if (!(least > 0 && Number.isFinite(least))) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((round) => least / power <= round + 1e-9) ?? 10) * power;
};
const withDecimals = (value, decimals) => {
  const [digits, fraction] = fixed(Math.abs(value), decimals).split(".");
  const text = grouped(digits) + (fraction ? `.${fraction}` : "");
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
};
const decimalsOf = (step) => Math.min(Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0), 12);
const multiples = (low, high, step) => {
  const all = [];
  for (let at = Math.ceil(low / step - 1e-9); all.length < 100 && at * step <= high + step * 1e-9; at += 1) all.push(at * step);
  return all;
};

// The length that ticks are counted in and its name, which the title has.
const scaleFor = (unit, largest) => {
  if (unit === "ns") return timeUnit(largest);
  return { share: [0.01, "%"], bytes: [1, "bytes"] }[unit] ?? [1, ""];
};
const even = (unit, low, high, step) => {
  const [length, name] = scaleFor(unit, Math.max(Math.abs(low), Math.abs(high)));
  const decimals = decimalsOf(step / length);
  const ticks = multiples(low, high, step).map((value) => ({ value, text: withDecimals(value / length, decimals) }));
  return { ticks, name, low, high };
};
const evenFromZero = (unit, values, count) => {
  let [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (high - low < 1e-12) high = low + 1;
  const step = roundStep((high - low) / count);
  return even(unit, Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step, step);
};

// A round value with its unit and no digits that say nothing: `100 µs`.
const roundText = (unit, value) => {
  const [length, name] = scaleFor(unit, value);
  return `${withDecimals(value / length, decimalsOf(value / length))}${name && " "}${name}`;
};
const byPowers = (unit, values, count) => {
  const positive = values.filter((value) => value > 1e-18);
  let [low, high] = positive.length > 0 ? [Math.min(...positive), Math.max(...positive)] : [1, 10];
  const decades = Math.log10(high / low);
  const series = decades * 3 <= count + 1 ? [1, 2, 5] : decades * 2 <= count + 1 ? [1, 3] : [1];
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1];
  const round = [];
  for (let power = from; power <= to; power += Math.max(Math.floor((to - from) / count), 1)) {
    round.push(...series.map((first) => first * 10 ** power));
  }
  const first = Math.max(round.findLastIndex((value) => value <= low * (1 + 1e-9)), 0);
  let last = round.findIndex((value) => value >= high * (1 - 1e-9));
  last = Math.min(Math.max(last === -1 ? round.length - 1 : last, first + 1), round.length - 1);
  const ticks = round.slice(first, last + 1).map((value) => ({ value, text: roundText(unit, value) }));
  return { ticks, name: "", low: Math.log10(round[first]), high: Math.log10(round[last]) };
};

// Round values between two: 1, 2, 5 by powers of ten where that gives enough, else evenly. The text is
// that of a value with its unit.
const ratios = (unit, low, high, count, write) => {
  const decades = Math.log10(high / low);
  let values = [];
  if (high / low >= 4) {
    const series = decades * 3 <= count + 2 ? [1, 2, 5] : [1];
    const stride = Math.max(Math.floor((Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1) / (count + 2)), 1);
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      if (power % stride === 0) values.push(...series.map((first) => first * 10 ** power));
    }
    values = values.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  }
  if (values.length === 0 || high / low < 4) values = multiples(low, high, roundStep((high - low) / count));
  return { ticks: values.map((value) => ({ value, text: write(unit, value) })), name: "", low: Math.log10(low), high: Math.log10(high) };
};
const trimmed = (unit, value) => {
  const text = textOf(unit, value);
  return text.includes(".") ? text.replace(/\.?0*$/, "") : text;
};
// As many digits as it takes to tell neighbours apart: `1.25 ms`.
const exactly = (unit, value) => {
  const [length, name] = scaleFor(unit, value);
  return `${withDecimals(Number((value / length).toPrecision(9)), 9).replace(/\.?0+$/, "")}${name && " "}${name}`;
};

// Whole nines and the median; in a narrow span evenly between the percentiles at its ends.
const percentiles = (low, high, count) => {
  const name = "%";
  const places = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
  let inside = places.filter((q) => nines.to(q) >= low - 1e-9 && nines.to(q) <= high + 1e-9);
  let text = (q) => percentile(q).slice(1);
  if (3 > inside.length) {
    const [from, to] = [nines.from(low) * 100, nines.from(high) * 100];
    const step = roundStep((to - from) / count);
    inside = multiples(from, to, step).map((percents) => percents / 100);
    text = (q) => withDecimals(q * 100, decimalsOf(step));
  }
  return { ticks: inside.map((value) => ({ value, text: text(value) })), name, low, high };
};
const sideBySide = (axis) => {
  const values = axis.values ?? axis.names.map((_, at) => at + 1);
  const text = (value) => (axis.unit === "ns" ? textOf("ns", value) : textOf(axis.unit, value).replace(/\/s$| B$/, ""));
  const ticks = values.map((value, at) => ({ value, text: axis.names?.[at] ?? text(value) }));
  return { ticks, name: "", low: 0, high: values.length, values };
};

const laidOut = (axis, values, count, window) => {
  const unit = axis.unit;
  const ends = window ?? axis.ends;
  switch (axis.scale) {
    case "categories": return sideBySide(axis);
    case "percentile": {
      const highest = Math.max(0, ...values.filter((q) => q >= 0 && q < 1));
      const [low, high] = window ? window.map(nines.to) : [0, Math.min(Math.max(nines.to(highest), 1), 12)];
      return percentiles(low, high, count);
    }
    case "ratio": return ratios(unit, ...ends, count, window ? exactly : trimmed);
    case "log": return window ? ratios(unit, ...window, count, exactly) : byPowers(unit, values, count);
    default: return ends ? even(unit, ...ends, roundStep((ends[1] - ends[0]) / count)) : evenFromZero(unit, values, count);
  }
};

// An axis laid out for these values with about so many ticks, or for a window of it.
const fitted = (axis, values, count, window) => {
  const law = lawOf(axis.scale);
  const laid = laidOut(axis, values.filter(usable), count, window);
  const { low, high } = laid;
  const at = (value) => {
    if (!usable(value)) return NaN;
    if (laid.values) return laid.values.includes(value) ? (laid.values.indexOf(value) + 0.5) / high : NaN;
    return (law.to(value) - low) / (high - low);
  };
  const value = (place) => {
    if (laid.values) return laid.values[Math.min(Math.max(Math.floor(place * high), 0), high - 1)];
    return law.from(low + place * (high - low));
  };
  const ticks = laid.ticks.map((tick) => ({ at: at(tick.value), text: tick.text }));
  const base = law === linear && !laid.values ? Math.min(Math.max(at(0), 0), 1) : 0;
  return { ticks, name: laid.name, at, value, base };
};
const titleWith = (axis, name) => {
  const unit = lawOf(axis.scale) === powers ? "log scale" : name;
  return [axis.title, unit].filter((part) => part !== "").join(", ");
};
const along = (axis, value) => axis.names?.[value - 1] ?? textOf(axis.unit, value);
