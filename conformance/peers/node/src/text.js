import { isUtf8 } from 'node:buffer';
import { QUOTED_BYTES } from './limits.js';

const SHORT_ESCAPES = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t']]);
const NEEDS_ESCAPE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

function escapeControl(char) {
  if (!NEEDS_ESCAPE.test(char)) return char;
  return SHORT_ESCAPES.get(char) ?? `\\u${char.codePointAt(0).toString(16).padStart(4, '0')}`;
}

// quote repeats what came in an error text: few bytes, cut between characters, nothing that a terminal would obey (ENC-5).
export function quote(text, most = QUOTED_BYTES) {
  let out = '';
  let bytes = 0;
  for (const char of text) {
    bytes += Buffer.byteLength(char);
    if (bytes > most) return `${out}…`;
    out += escapeControl(char);
  }
  return out;
}

const BLOCK = 4096;

// Where valid UTF-8 ends, or -1. It goes by blocks, as only the block with the fault is worth a look at each character.
export function invalidUtf8At(bytes) {
  if (isUtf8(bytes)) return -1;
  let at = 0;
  for (;;) {
    const end = characterStart(bytes, Math.min(at + BLOCK, bytes.length));
    if (end <= at || !isUtf8(bytes.subarray(at, end))) return invalidCharacterFrom(bytes, at);
    at = end;
  }
}

function characterStart(bytes, at) {
  for (let back = 0; back < 3 && at < bytes.length && (bytes[at] & 0xc0) === 0x80; back++) at--;
  return at;
}

function invalidCharacterFrom(bytes, at) {
  while (at < bytes.length) {
    const lead = bytes[at];
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return -1;
}
