// Replies: how one is written (SHAPE-3, LIMIT-3, ENC-7) and how one is read (SHAPE-5, VER-1).

import { FAMILY } from '../limits.js';
import { Malformed, Unwritable } from '../errors.js';
import { writeJson } from './json-write.js';
import { writeCbor } from './cbor-write.js';
import { describe, isBool, isList, isText, map, wholeNumber } from './values.js';

const FAULTS_WRITTEN = new Map([
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['malformed', 'malformed'],
  ['unavailable', 'failed'], // never written: some readers take it for unreadable
]);

export const rowsReply = (rows, surface) => ({ ok: true, rows, surface });
export const refusal = (text, fault) => ({ ok: false, text, fault: FAULTS_WRITTEN.get(fault) ?? 'refused' });

export function encode(value, encoding) {
  return encoding === 'cbor' ? writeCbor(value) : writeJson(value);
}

// writeReply always gives a message within the cap: what cannot be written, or is too long, is replaced by a refusal.
export function writeReply(reply, encoding, cap) {
  let bytes;
  try {
    bytes = encode(members(reply), encoding);
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    return encode(members(refusal(error.message, 'failed')), encoding);
  }
  if (bytes.length <= cap) return bytes;
  return encode(members(refusal(`the reply has ${bytes.length} bytes and the cap is ${cap}`, 'failed')), encoding);
}

function members({ ok, rows = [], surface, text, fault }) {
  return map({
    ok,
    family: BigInt(FAMILY),
    surface: surface === undefined ? undefined : BigInt(surface),
    n: BigInt(rows.length),
    result: rows,
    error: text,
    fault,
  });
}

// readReply takes the steps of SHAPE-5 in their order. It throws Malformed, made on our side, where one fails.
export function readReply(reply, peer) {
  const family = reply.has('family') ? wholeNumber(reply.get('family')) : 0n;
  if (family === undefined) throw new Malformed(`family is ${describe(reply.get('family'))}, and not a whole number`);
  if (family > BigInt(FAMILY)) throw new Malformed(`${peer} speaks family ${family} and this program reads up to ${FAMILY}`);

  const ok = reply.get('ok');
  if (!isBool(ok)) throw new Malformed(`ok is ${describe(ok)}, and not a bool`);
  const rows = readRows(reply);
  return ok ? rowsReply(rows) : readRefusal(reply);
}

function readRows(reply) {
  const result = reply.has('result') ? reply.get('result') : [];
  if (!isList(result)) throw new Malformed(`result is not a list: it is ${describe(result)}`);
  const n = reply.has('n') ? wholeNumber(reply.get('n')) : BigInt(result.length);
  if (n === undefined) throw new Malformed(`n is ${describe(reply.get('n'))}, and not a whole number`);
  if (n > result.length) throw new Malformed(`n is ${n} and result holds ${result.length}`);
  return result.slice(0, Number(n));
}

function readRefusal(reply) {
  const text = reply.get('error');
  return refusal(isText(text) && text !== '' ? text : 'no reason given', reply.get('fault'));
}
