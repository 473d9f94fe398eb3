// How figures are written: by the rules of the reports (crates/chart/src/number.rs and unit.rs). A test holds both
// against each other.

// Rust rounds what lies exactly between two decimals to the even one; toFixed rounds it up.
const fixed = (value, decimals) => {
  const text = value.toFixed(decimals);
  const rest = value.toFixed(Math.min(decimals + 25, 100)).split(".")[1].slice(decimals);
  const down = () => value.toFixed(decimals + 1).slice(0, -1).replace(/\.$/, "");
  return /^50*$/.test(rest) && "13579".includes(text.at(-1)) ? down() : text;
};
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");
const whole = (value) => grouped(BigInt(Math.round(value)).toString());

const decimalsFor = (value, digits) => {
  if (value === 0) return 0;
  return Math.min(Math.max(digits - Math.floor(Math.log10(value)) - 1, 0), 12);
};

// A value to this many significant digits; whole digits are never dropped.
const significant = (value, digits) => {
  let decimals = decimalsFor(value, digits);
  const rounded = Math.round(value * 10 ** decimals) / 10 ** decimals;
  if (decimals > 0 && rounded > 0) decimals = decimalsFor(rounded, digits);
  return decimals > 0 ? fixed(value, decimals) : whole(value);
};

// The length in ns and the name of the unit that a time is best read in.
const timeUnit = (ns) => [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([length]) => ns / length >= 0.9995) ?? [1, "ns"];
const time = (ns) => {
  const [length, name] = timeUnit(ns);
  return `${significant(ns / length, length === 1 && Number.isInteger(ns) ? 1 : 3)} ${name}`;
};

const percent = (share) => {
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value < 1e-4) return "under 0.0001 %";
  if (share < 1 && value > 99.9) return "over 99.9 %";
  return `${significant(value, value >= 99 ? 3 : 2)} %`;
};

// p99.9 for 0.999: three digits, and two more than the nines of what is near 1.
const percentile = (q) => {
  const nines = q < 1 ? -Math.log10(1 - q) : 0;
  let text = fixed(q * 100, Math.min(Math.floor(Math.max(nines, 0)) + 1, 6));
  if (q < 1 && text.startsWith("100")) text = fixed(q * 100, 6);
  return `p${text.replace(/\.?0*$/, (zeros) => (text.includes(".") ? "" : zeros))}`;
};

// A value of a unit as a sentence or a table shows it; `-` for what is no number.
const textOf = (unit, value) => {
  if (value === null || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  const plain = () => (Number.isInteger(size) && size < 1e18 ? whole(size) : significant(size, 3));
  const text = {
    count: plain,
    bytes: () => `${plain()} B`,
    ratio: () => significant(size, 3),
    per_s: () => `${significant(size, 3)}/s`,
    ns: () => time(size),
    share: () => percent(size),
    quantile: () => percentile(size),
  }[unit]();
  return value < 0 ? `−${text}` : text;
};
