// What the program answers: the table of its verbs, and the way from a call to a reply.

import { SURFACE } from './limits.js';
import { Refusal } from './errors.js';
import { log } from './log.js';
import { quote } from './text.js';
import { ask } from './ask/ask.js';
import { checkArguments } from './parameters.js';
import { map } from './wire/values.js';
import { refusal, rowsReply } from './wire/reply.js';

const EVERYWHERE = ['cli', 'pipe', 'socket'];
const DOORS = EVERYWHERE;

const VALUES = { name: 'value', type: 'any', optional: true, rest: true };

// A verb with `run` gives rows. The two without open a door, and are answered by the cli itself.
const VERBS = [
  { verb: 'echo', about: 'the arguments back, a row each', doors: EVERYWHERE, args: [VALUES], run: (args) => args },
  {
    verb: 'ask',
    about: "call another program's verb and give its rows",
    doors: EVERYWHERE,
    args: [{ name: 'target', type: 'text' }, { name: 'verb', type: 'text' }, VALUES],
    run: ask,
  },
  { verb: 'verbs', about: 'what is answered, a row for each verb and door', doors: EVERYWHERE, run: listVerbs, surface: SURFACE },
  { verb: 'client', about: 'a client library as source; there is none', doors: EVERYWHERE, run: refuseClient },
  { verb: 'serve', about: 'answer on a socket until told to stop', doors: ['cli'] },
  { verb: 'pipe', about: 'answer on stdin and stdout until stdin ends', doors: ['cli'] },
];

export function findVerb(name, door) {
  return VERBS.find(({ verb, doors }) => verb === name && doors.includes(door));
}

function listVerbs() {
  return DOORS.flatMap((door) => VERBS.filter(({ doors }) => doors.includes(door)).map((entry) => row(entry, door)));
}

function row({ verb, about, args }, door) {
  return map({ verb, about, door, args: args?.map(map) });
}

function refuseClient() {
  throw new Refusal('peer has no client library');
}

// answer gives the one reply to a call and never throws. The signal aborts when nobody can read the reply any more.
export async function answer(verb, args, { door, signal }) {
  const entry = findVerb(verb, door);
  if (!entry?.run) return refusal(`no such call: ${quote(verb)}`, 'refused');
  try {
    const rows = await entry.run(checkArguments(verb, entry.args ?? [], args), { signal });
    return rowsReply(rows, entry.surface);
  } catch (error) {
    if (error instanceof Refusal) return refusal(error.message, error.fault);
    log(`${verb} crashed: ${error.stack}`);
    return refusal(`${verb} crashed: ${quote(String(error.message))}`, 'failed');
  }
}
