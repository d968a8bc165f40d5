// A CBOR reader. cbor-x alone cannot be it: it takes 1.0 for 1, keeps the last of two equal keys, repairs invalid UTF-8 and has
// no texts in chunks. So the items, their limits and their order are read here, and cbor-x is given what it carries without
// loss: the floats of all three widths.

import { Decoder } from 'cbor-x';
import { LIMITS, OVER } from '../limits.js';
import { Malformed } from '../errors.js';
import { invalidUtf8At, quote } from '../text.js';
import { fitsBits } from './values.js';

const UNSIGNED = 0, NEGATIVE = 1, BYTES = 2, TEXT = 3, LIST = 4, MAP = 5, TAG = 6;
const INDEFINITE = 31;
const BREAK = 0xff;
const NAMES = ['an integer', 'an integer', 'a byte string', 'a text', 'a list', 'a map', 'a tag', 'a simple value'];
const SIMPLE = new Map([[20, false], [21, true], [22, null]]);

const floats = new Decoder({ useRecords: false });

export function readCbor(bytes, start = 0, limits = LIMITS) {
  const reader = new Reader(bytes, start, limits);
  const value = reader.value();
  if (reader.at < bytes.length) reader.fail('there is something behind the message');
  return value;
}

// The first name in a map that may be broken behind it, or undefined (SHAPE-6).
export function firstNameInCbor(bytes, start) {
  const reader = new Reader(bytes, start, LIMITS);
  try {
    reader.head();
    if (reader.major !== MAP || (reader.info !== INDEFINITE && reader.count === 0)) return undefined;
    return reader.key();
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

  need(length) {
    if (length > this.bytes.length - this.at) this.fail('the CBOR ends inside an item', this.bytes.length);
  }

  // Reads one head into major, info and argument, and where it began into from.
  head() {
    this.from = this.at;
    this.need(1);
    const first = this.bytes[this.at++];
    this.major = first >> 5;
    this.info = first & 0x1f;
    this.argument = this.readArgument();
  }

  readArgument() {
    const { info } = this;
    if (info < 24) return BigInt(info);
    if (info === INDEFINITE) return undefined;
    if (info > 27) this.fail('a reserved head', this.from);
    const length = 1 << (info - 24);
    this.need(length);
    const at = this.at;
    this.at += length;
    return length === 8 ? this.bytes.readBigUInt64BE(at) : BigInt(this.bytes.readUIntBE(at, length));
  }

  // The argument as a length or count. Beyond 2^53 it is rounded, which any limit it is compared with survives.
  get count() {
    return Number(this.argument);
  }

  value() {
    this.head();
    switch (this.major) {
      case UNSIGNED: return this.integer(this.argument);
      case NEGATIVE: return this.integer(this.argument === undefined ? undefined : -1n - this.argument);
      case BYTES: return this.fail('a byte string', this.from);
      case TEXT: return this.text();
      case LIST: return this.list();
      case MAP: return this.map();
      case TAG: return this.bigInteger();
      default: return this.simple();
    }
  }

  integer(value) {
    if (value === undefined) this.fail('a reserved head', this.from);
    return this.fitting(value, this.from);
  }

  fitting(integer, from) {
    if (!fitsBits(integer, this.limits.intBits)) this.failBits(from);
    return integer;
  }

  failBits(from) {
    this.fail(OVER.intBits(this.limits), from);
  }

  // The bytes of the string whose head was just read; one of indefinite length is joined from its chunks. Each chunk is
  // checked by itself, since a character may not be cut by one.
  string(major, checkChunk) {
    if (this.info !== INDEFINITE) return checkChunk(this.chunk());
    const chunks = [];
    while (!this.atBreak()) {
      this.head();
      if (this.major !== major || this.info === INDEFINITE) this.fail(`no chunk of ${NAMES[major]}`, this.from);
      chunks.push(checkChunk(this.chunk()));
    }
    return Buffer.concat(chunks);
  }

  chunk() {
    const length = this.count;
    this.need(length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text() {
    const whole = this.string(TEXT, (chunk) => {
      const bad = invalidUtf8At(chunk);
      if (bad >= 0) this.fail('invalid UTF-8', this.at - chunk.length + bad);
      return chunk;
    });
    return whole.toString('utf8');
  }

  // Takes the stop code where it is next.
  atBreak() {
    this.need(1);
    if (this.bytes[this.at] !== BREAK) return false;
    this.at++;
    return true;
  }

  // Opens a map or list and gives a function that tells whether another item follows.
  open() {
    if (++this.depth > this.limits.depth) this.fail(OVER.depth(this.limits), this.from);
    if (this.info === INDEFINITE) return () => !this.atBreak() && this.countItem();
    let left = this.count;
    if (left > this.limits.items - this.items) this.failItems(this.from);
    return () => left-- > 0 && this.countItem();
  }

  countItem() {
    if (++this.items > this.limits.items) this.failItems();
    return true;
  }

  failItems(at) {
    this.fail(OVER.items(this.limits), at);
  }

  list() {
    const list = [];
    const more = this.open();
    while (more()) list.push(this.value());
    this.depth--;
    return list;
  }

  map() {
    const map = new Map();
    const more = this.open();
    while (more()) {
      const from = this.at;
      const key = this.key();
      if (map.has(key)) this.fail(`duplicate key "${quote(key)}"`, from);
      map.set(key, this.value());
    }
    this.depth--;
    return map;
  }

  key() {
    this.head();
    if (this.major !== TEXT) this.fail(`the key of a map is ${NAMES[this.major]}, and keys are texts`, this.from);
    return this.text();
  }

  bigInteger() {
    const { from, argument } = this;
    if (argument !== 2n && argument !== 3n) this.fail(`a tag${argument === undefined ? '' : ` (${argument})`}`, from);
    this.head();
    if (this.major !== BYTES) this.fail(`tag ${argument} around ${NAMES[this.major]}, and it goes with byte strings`, from);
    const magnitude = this.magnitude(from);
    return argument === 2n ? magnitude : -1n - magnitude;
  }

  magnitude(from) {
    const { intBits } = this.limits;
    const bytes = this.string(BYTES, (chunk) => chunk);
    let first = 0;
    while (bytes[first] === 0) first++;
    if ((bytes.length - first) * 8 >= intBits + 8) this.failBits(from);
    return this.fitting(first === bytes.length ? 0n : BigInt(`0x${bytes.toString('hex', first)}`), from);
  }

  simple() {
    const { info, from } = this;
    if (SIMPLE.has(info)) return SIMPLE.get(info);
    if (info < 25 || info === INDEFINITE) this.fail(simpleFault(info), from);
    const value = floats.decode(this.bytes.subarray(from, this.at));
    if (!Number.isFinite(value)) this.fail(`${value} is no value of the wire`, from);
    return value;
  }
}

function simpleFault(info) {
  if (info === 23) return 'undefined';
  if (info === INDEFINITE) return 'a stop code with nothing to stop';
  return 'a simple value that is none of false, true and null';
}
