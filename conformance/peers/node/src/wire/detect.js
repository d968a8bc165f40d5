import { isUtf8 } from 'node:buffer';
import { Malformed } from '../errors.js';

const SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);
const OPENINGS = new Set([0x7b, 0x5b]);

// detect finds where the message begins and in which encoding it is (ENC-1). It throws where the bytes are surely of another
// kind, since "unexpected byte" would not tell anybody what to change.
export function detect(bytes) {
  let at = 0;
  while (SPACE.has(bytes[at])) at++;
  if (at === bytes.length) throw new Malformed('the message is empty');
  const first = bytes[at];
  const other = otherKind(bytes.subarray(at, at + 16));
  if (other) throw new Malformed(`${other}, at byte ${at}`);
  return { encoding: first >= 0x80 && first <= 0xbf ? 'cbor' : 'json', at };
}

function otherKind(head) {
  const begins = (...wanted) => wanted.every((byte, i) => head[i] === byte);
  if (begins(0xef, 0xbb, 0xbf)) return 'a byte order mark; a message is UTF-8 without one';
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff) || hasZeroBesideBrace(head)) return 'this is UTF-16; a message is UTF-8';
  if (begins(0x1f, 0x8b)) return 'this is gzip; a message is not compressed';
  if (/^content-length:/i.test(head.latin1Slice())) return 'a Content-Length header; a message has no headers';
  if (head[0] >= 0xc0 && head[0] <= 0xdb && !beginsCharacter(head)) return 'a CBOR tag in front; send the bare map';
  return undefined;
}

function hasZeroBesideBrace(head) {
  return (OPENINGS.has(head[0]) && head[1] === 0) || (head[0] === 0 && OPENINGS.has(head[1]));
}

// The bytes C2 to DB are heads of tags and also of characters of two bytes.
function beginsCharacter(head) {
  return head.length >= 2 && isUtf8(head.subarray(0, 2));
}
