// argv:PROG runs the program for the one call: the arguments on its stdin, the reply on its stdout.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CALL_MS, CAP_NEAR, CHILD_GRACE_MS } from '../limits.js';
import { Refusal, Unreachable } from '../errors.js';
import { encode } from '../wire/reply.js';
import { Child } from './child.js';
import { Conversation } from './conversation.js';
import { within } from './within.js';

export async function askArgv(program, { verb, args }, signal) {
  if (verb.includes('\0')) throw new Refusal('ask: verb holds U+0000, which no command line can');
  const list = encode(args, 'cbor');
  if (list.length > CAP_NEAR) throw new Unreachable(`the arguments have ${list.length} bytes and the cap is ${CAP_NEAR}`);
  const child = await Child.start(program, ['--cbor', '--args', '-', '--', verb]);
  try {
    child.stdin.end(list);
    const bytes = await within(readAll(child), CALL_MS, 'the call', signal);
    return await read(bytes, program);
  } finally {
    await child.close(signal);
  }
}

// All of stdout once the program has ended well. One that hands its stdout to another process may not keep us waiting for it.
async function readAll(child) {
  const chunks = [];
  let length = 0;
  child.stdout.on('data', (chunk) => {
    length += chunk.length;
    if (length <= CAP_NEAR) chunks.push(chunk);
  });
  const ended = once(child.stdout, 'end');
  const { code } = await child.exited;
  if (code !== 0) throw new Unreachable(await child.epitaph());
  await Promise.race([ended, sleep(CHILD_GRACE_MS)]);
  if (length > CAP_NEAR) throw new Unreachable(`its reply has ${length} bytes and the cap is ${CAP_NEAR}`);
  if (length === 0) throw new Unreachable(`it wrote no reply; ${await child.epitaph()}`);
  return Buffer.concat(chunks);
}

function read(bytes, program) {
  const conversation = new Conversation({ peer: program, cap: CAP_NEAR, send: () => {} });
  conversation.take({ bytes });
  conversation.fail(new Unreachable('what it wrote is no reply'));
  return conversation.reply;
}
