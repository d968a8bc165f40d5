import { CAP_LEAST, DEPTH_MOST, LIMITS } from '../limits.js';
import { CannotServe } from '../errors.js';
import { quote } from '../text.js';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

// Readers for the values of flags. Each gives the default where the flag is missing, and throws where the value is none.

export function count(flags, name, least, byDefault, most = Infinity) {
  const word = flags.get(name);
  if (word === undefined) return byDefault;
  const value = /^\d{1,15}$/.test(word) ? Number(word) : NaN;
  if (!(value >= least && value <= most)) {
    const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
    throw new CannotServe(`${name} is ${quote(word)}; it takes a number ${range}`);
  }
  return value;
}

// The limits of the messages that a door takes.
export function limitOptions(flags, cap) {
  return {
    depth: count(flags, '--depth', 1, LIMITS.depth, DEPTH_MOST),
    items: count(flags, '--items', 1, LIMITS.items),
    intBits: count(flags, '--intbits', 1, LIMITS.intBits),
    cap: count(flags, '--cap', CAP_LEAST, cap),
  };
}

export function duration(flags, name, byDefault) {
  const word = flags.get(name);
  if (word === undefined) return byDefault;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(word) ?? [];
  const value = Number(digits) * UNIT_MS[unit];
  if (!(value > 0 && value < 2 ** 31)) {
    throw new CannotServe(`${name} is ${quote(word)}; it takes a duration such as 500ms or 5s`);
  }
  return value;
}
