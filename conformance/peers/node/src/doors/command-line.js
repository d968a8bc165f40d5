// The words of a command line, sorted into a verb, its words and flags (ARGV-3).

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { quote } from '../text.js';

const LIMIT_FLAGS = ['--cap', '--depth', '--items', '--intbits'];
const DOOR_FLAGS = {
  serve: ['--socket', '--instance', '--limit', '--stall', '--grace', '--tied', ...LIMIT_FLAGS],
  pipe: ['--tied', ...LIMIT_FLAGS],
};
const WITH_VALUE = new Set(['--args', ...DOOR_FLAGS.serve]);
const NUMBER = /^-\d+(\.\d+)?([eE][+-]?\d+)?$/;

// Node has decoded process.argv, and so repaired what is no UTF-8. The bytes as they came are under /proc, behind Node's own.
export function wordsAsBytes() {
  const line = readFileSync('/proc/self/cmdline');
  const words = [];
  for (let at = 0; at < line.length;) {
    const end = line.indexOf(0, at);
    words.push(line.subarray(at, end));
    at = end + 1;
  }
  return words.slice(words.length - (process.argv.length - 2));
}

const isFlag = (word) => word.startsWith('-') && word !== '-' && !NUMBER.test(word);

// parseCommandLine gives { help } or { noCall } or else { verb, words, flags, list, encoding, fault }, where list is the value of
// --args in bytes, and fault is the first thing to refuse.
export function parseCommandLine(raw) {
  const line = { words: [], flags: new Map(), encoding: 'json' };
  const rest = [...raw];
  for (let flagsEnded = false; rest.length > 0;) {
    const bytes = rest.shift();
    if (flagsEnded || !isFlag(bytes.toString())) line.words.push(text(line, bytes));
    else if (bytes.toString() === '--') flagsEnded = true;
    else takeFlag(line, bytes, rest);
  }
  line.verb = line.words.shift();
  if (line.verb === 'help') line.help = true;
  if (line.verb === undefined) line.noCall ??= 'there is no verb; see --help';
  refuseMisplaced(line);
  return line;
}

function text(line, bytes) {
  const word = bytes.toString();
  if (!isUtf8(bytes)) line.fault ??= `the word ${quote(word)} is not valid UTF-8`;
  return word;
}

function takeFlag(line, bytes, rest) {
  const equals = bytes.indexOf('=');
  const name = text(line, equals < 0 ? bytes : bytes.subarray(0, equals));
  if (WITH_VALUE.has(name)) takeValue(line, name, equals < 0 ? rest.shift() : bytes.subarray(equals + 1));
  else if (equals >= 0) line.fault ??= `no such flag: ${quote(bytes.toString())}`;
  else if (name === '--help' || name === '-h') line.help = true;
  else if (name === '--cbor' || name === '--json') line.encoding = name.slice(2);
  else line.fault ??= `no such flag: ${quote(name)}`;
}

function takeValue(line, name, value) {
  if (value === undefined) line.noCall ??= `${name} has no value`;
  else if (name === '--args') line.list = value;
  else line.flags.set(name, text(line, value));
}

function refuseMisplaced(line) {
  const known = DOOR_FLAGS[line.verb] ?? [];
  const misplaced = [...line.flags.keys()].find((name) => !known.includes(name));
  if (misplaced) line.fault ??= `${quote(line.verb ?? '')} has no flag ${misplaced}`;
  if (line.list !== undefined && line.words.length > 0) line.fault ??= 'there are words beside --args';
}
