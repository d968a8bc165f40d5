// From bytes to a call, an event or a reply (sections 1 and 3).

import { Malformed } from '../errors.js';
import { firstNameInJson, readJson } from './json-read.js';
import { firstNameInCbor, readCbor } from './cbor-read.js';
import { detect } from './detect.js';
import { isList, isMap, isText } from './values.js';

const SHAPES = ['call', 'ok', 'event'];

// decode gives the one value that the bytes are, in either encoding.
export function decode(bytes, limits) {
  const { encoding, at } = detect(bytes);
  return encoding === 'cbor' ? readCbor(bytes, at, limits) : readJson(bytes, at, limits);
}

// sort tells what a message is: a call, an event, a reply, an ignored event, or malformed. It never throws. Each comes with
// the encoding in which it would be answered.
export function sort(bytes, limits) {
  let encoding = 'json';
  try {
    const start = detect(bytes);
    encoding = start.encoding;
    return { ...sortMap(decode(bytes, limits)), encoding };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    if (beginsAsEvent(bytes)) return { kind: 'ignored', encoding };
    return { kind: 'malformed', text: error.message, encoding };
  }
}

// A broken event is not answered, so one has to be known by its first name even where the rest cannot be read (SHAPE-6).
function beginsAsEvent(bytes) {
  try {
    const { encoding, at } = detect(bytes);
    return (encoding === 'cbor' ? firstNameInCbor(bytes, at) : firstNameInJson(bytes, at)) === 'event';
  } catch (error) {
    if (error instanceof Malformed) return false;
    throw error;
  }
}

function sortMap(value) {
  if (!isMap(value)) throw new Malformed('a call is an object, and this is none');
  const present = SHAPES.filter((name) => value.has(name));
  if (present.length === 0) throw new Malformed('a message has one of call, ok and event, and this has none');
  if (present.length > 1) throw new Malformed(`a message has one of call, ok and event, and this has ${present.join(' and ')}`);
  if (present[0] === 'ok') return { kind: 'reply', members: value };
  return present[0] === 'call' ? readCall(value) : readEvent(value);
}

function readCall(members) {
  const verb = members.get('call');
  if (!isText(verb) || verb === '') throw new Malformed('call is not a text that names a verb');
  const args = members.has('args') ? members.get('args') : [];
  if (!isList(args)) throw new Malformed('args is not a list');
  return { kind: 'call', verb, args };
}

function readEvent(members) {
  const name = members.get('event');
  return isText(name) && name !== '' ? { kind: 'event', name } : { kind: 'ignored' };
}
