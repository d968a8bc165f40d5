// A JSON reader for bytes. JSON.parse is no help here: it rounds integers, takes 1 and 1.0 for the same, keeps the last of two
// equal keys, and knows no limits.

import { LIMITS, OVER } from '../limits.js';
import { Malformed } from '../errors.js';
import { invalidUtf8At, quote } from '../text.js';
import { fitsBits } from './values.js';

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a, MINUS = 0x2d, PLUS = 0x2b, DOT = 0x2e, ZERO = 0x30;
const OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d, OPEN_MAP = 0x7b, CLOSE_MAP = 0x7d;
const DIGITS_PER_BIT = Math.log10(2);

const LITERALS = new Map([
  [0x6e, ['null', null]],
  [0x74, ['true', true]],
  [0x66, ['false', false]],
]);

const ESCAPES = new Map([
  [0x22, 0x22], [0x5c, 0x5c], [0x2f, 0x2f], [0x62, 0x08], [0x66, 0x0c], [0x6e, 0x0a], [0x72, 0x0d], [0x74, 0x09],
]);

const isDigit = (byte) => byte >= 0x30 && byte <= 0x39;
const isSpace = (byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export function readJson(bytes, start = 0, limits = LIMITS) {
  const bad = invalidUtf8At(bytes);
  if (bad >= 0) throw new Malformed(`invalid UTF-8 at byte ${bad}`);
  const reader = new Reader(bytes, start, limits);
  const value = reader.value();
  reader.skipSpace();
  if (reader.at < bytes.length) reader.fail('there is something behind the message');
  return value;
}

// The first name in a map that may be broken behind it, or undefined (SHAPE-6).
export function firstNameInJson(bytes, start) {
  const reader = new Reader(bytes, start, LIMITS);
  try {
    reader.expect(OPEN_MAP, '{');
    reader.skipSpace();
    return reader.text();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Reader {
  constructor(bytes, at, limits) {
    this.bytes = bytes;
    this.at = at;
    this.limits = limits;
    this.depth = 0;
    this.items = 0;
  }

  fail(why, at = this.at) {
    throw new Malformed(`${why}, at byte ${at}`);
  }

  unexpected(wanted) {
    if (this.at >= this.bytes.length) this.fail(`the JSON ends where ${wanted} is due`);
    const found = this.bytes.toString('utf8', this.at, this.at + 4);
    this.fail(`JSON has "${quote([...found][0])}" where ${wanted} is due`);
  }

  skipSpace() {
    while (isSpace(this.bytes[this.at])) this.at++;
  }

  expect(byte, name) {
    if (this.bytes[this.at] !== byte) this.unexpected(name);
    this.at++;
  }

  value() {
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (byte === QUOTE) return this.text();
    if (byte === OPEN_MAP) return this.map();
    if (byte === OPEN_LIST) return this.list();
    if (byte === MINUS || isDigit(byte)) return this.number();
    return this.literal(byte);
  }

  literal(byte) {
    const [word, value] = LITERALS.get(byte) ?? [];
    if (word === undefined) this.unexpected('a value');
    for (let i = 0; i < word.length; i++, this.at++) {
      if (this.bytes[this.at] !== word.charCodeAt(i)) this.unexpected(word);
    }
    return value;
  }

  open() {
    if (++this.depth > this.limits.depth) this.fail(OVER.depth(this.limits));
    this.at++;
    this.skipSpace();
  }

  close() {
    this.depth--;
    this.at++;
  }

  countItem() {
    if (++this.items > this.limits.items) this.fail(OVER.items(this.limits));
  }

  // True where another item follows, false at the end of the map or list.
  more(closing, name) {
    this.skipSpace();
    if (this.bytes[this.at] === closing) return false;
    this.expect(COMMA, `, or ${name}`);
    return true;
  }

  list() {
    const list = [];
    this.open();
    if (this.bytes[this.at] !== CLOSE_LIST) {
      do {
        this.countItem();
        list.push(this.value());
      } while (this.more(CLOSE_LIST, ']'));
    }
    this.close();
    return list;
  }

  map() {
    const map = new Map();
    this.open();
    if (this.bytes[this.at] !== CLOSE_MAP) {
      do this.member(map); while (this.more(CLOSE_MAP, '}'));
    }
    this.close();
    return map;
  }

  member(map) {
    this.countItem();
    this.skipSpace();
    const from = this.at;
    const key = this.text();
    if (map.has(key)) this.fail(`duplicate key "${quote(key)}"`, from);
    this.skipSpace();
    this.expect(COLON, ':');
    map.set(key, this.value());
  }

  text() {
    this.expect(QUOTE, 'a text');
    const { bytes } = this;
    const from = this.at;
    let escaped = false;
    for (;; this.at++) {
      const byte = bytes[this.at];
      if (byte === QUOTE) break;
      if (byte === undefined) this.fail('the JSON ends inside a text');
      if (byte < 0x20) this.fail('a raw control in a text');
      if (byte === BACKSLASH) {
        escaped = true;
        this.at++;
      }
    }
    const end = this.at++;
    return escaped ? this.unescape(from, end) : bytes.toString('utf8', from, end);
  }

  // An escape is never shorter than what it means in UTF-8, so the buffer is large enough, and is no larger than what came.
  unescape(from, end) {
    const out = Buffer.allocUnsafe(end - from);
    let length = 0;
    for (let at = from; at < end;) {
      const byte = this.bytes[at];
      if (byte !== BACKSLASH) {
        out[length++] = byte;
        at++;
        continue;
      }
      const { code, next } = this.escape(at, end);
      length += code < 0x80 ? writeByte(out, length, code) : out.write(String.fromCodePoint(code), length);
      at = next;
    }
    return out.toString('utf8', 0, length);
  }

  escape(at, end) {
    const letter = this.bytes[at + 1];
    if (letter !== 0x75) {
      const code = ESCAPES.get(letter);
      if (code === undefined) this.fail('an escape that JSON does not have', at);
      return { code, next: at + 2 };
    }
    const high = this.hex4(at + 2, end);
    if (high < 0xd800 || high > 0xdfff) return { code: high, next: at + 6 };
    const paired = high < 0xdc00 && this.bytes[at + 6] === BACKSLASH && this.bytes[at + 7] === 0x75;
    const low = paired ? this.hex4(at + 8, end) : 0;
    if (low < 0xdc00 || low > 0xdfff) this.fail('half a surrogate pair', at);
    return { code: 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), next: at + 12 };
  }

  hex4(at, end) {
    const digits = this.bytes.latin1Slice(at, Math.min(at + 4, end));
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('an escape without its four hexadecimal digits', at);
    return Number.parseInt(digits, 16);
  }

  digits() {
    if (!isDigit(this.bytes[this.at])) this.unexpected('a digit');
    while (isDigit(this.bytes[this.at])) this.at++;
  }

  number() {
    const from = this.at;
    if (this.bytes[this.at] === MINUS) this.at++;
    if (this.bytes[this.at] === ZERO) this.at++;
    else this.digits();
    const integerEnd = this.at;
    if (this.bytes[this.at] === DOT) {
      this.at++;
      this.digits();
    }
    const mantissaEnd = this.at;
    if ((this.bytes[this.at] | 0x20) === 0x65) this.exponent();
    const word = this.bytes.latin1Slice(from, this.at);
    if (this.at > integerEnd || word === '-0') return this.float(word, from, mantissaEnd);
    return this.integer(word, from);
  }

  exponent() {
    this.at++;
    const sign = this.bytes[this.at];
    if (sign === PLUS || sign === MINUS) this.at++;
    this.digits();
  }

  integer(word, from) {
    // Digits are counted first: to convert a million of them, only to refuse the result, takes too long.
    const { intBits } = this.limits;
    const value = word.length <= intBits * DIGITS_PER_BIT + 2 ? BigInt(word) : undefined;
    if (value === undefined || !fitsBits(value, intBits)) this.fail(OVER.intBits(this.limits), from);
    return value;
  }

  float(word, from, mantissaEnd) {
    const value = Number(word);
    if (!Number.isFinite(value)) this.fail(`no binary64 holds ${quote(word)}`, from);
    if (value === 0 && /[1-9]/.test(this.bytes.latin1Slice(from, mantissaEnd))) {
      this.fail(`${quote(word)} would become zero`, from);
    }
    return value;
  }
}

function writeByte(out, at, byte) {
  out[at] = byte;
  return 1;
}
