// The verb ask: one call to another program, by one of three ways, and its rows as ours.

import { Malformed, Refusal, Unreachable, Unwritable } from '../errors.js';
import { quote } from '../text.js';
import { askArgv } from './argv.js';
import { askPipe } from './pipe.js';
import { askUnix } from './unix.js';

const WAYS = { argv: askArgv, pipe: askPipe, unix: askUnix };

export async function ask([target, verb, ...args], { signal }) {
  const [kind, where] = splitTarget(target);
  if (verb === '') throw new Refusal('ask: verb is empty; it takes the name of a verb');
  const reply = await reach(() => WAYS[kind](where, { verb, args }, signal), target);
  if (!reply.ok) throw new Refusal(reply.text, reply.fault);
  return reply.rows;
}

function splitTarget(target) {
  const colon = target.indexOf(':');
  const kind = target.slice(0, Math.max(colon, 0));
  const where = target.slice(colon + 1);
  if (!Object.hasOwn(WAYS, kind) || where === '' || where.includes('\0')) {
    throw new Refusal(`ask: target is the text "${quote(target)}"; it takes argv:PROG, pipe:PROG or unix:PATH`);
  }
  return [kind, where];
}

// What our own side concludes, that nobody answers or that the answer is no reply, is told as failed: the faults for it are
// never written (FAULT-4).
async function reach(call, target) {
  try {
    return await call();
  } catch (error) {
    const known = error instanceof Unreachable || error instanceof Malformed || error instanceof Unwritable;
    if (!known) throw error;
    throw new Refusal(`ask: ${quote(target, 200)}: ${error.message}`, 'failed');
  }
}
