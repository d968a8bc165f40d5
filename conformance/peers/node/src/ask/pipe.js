// pipe:PROG starts the program's pipe, makes one call there in JSON and closes it again.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CALL_MS, CAP_NEAR } from '../limits.js';
import { Unreachable } from '../errors.js';
import { line, LineReader } from '../wire/streams.js';
import { Child } from './child.js';
import { Conversation, writeCall } from './conversation.js';
import { within } from './within.js';

export async function askPipe(program, call, signal) {
  const bytes = writeCall(call, 'json', CAP_NEAR);
  const child = await Child.start(program, ['pipe']);
  try {
    const conversation = new Conversation({
      peer: program,
      cap: CAP_NEAR,
      send: (message) => child.stdin.write(line(message)),
    });
    readReplies(child, conversation);
    child.stdin.write(line(bytes));
    return await within(conversation.reply, CALL_MS, 'the call', signal);
  } finally {
    await child.close(signal);
  }
}

const LAST_WORDS_MS = 200;

// One reader for the life of the child. When no more comes, or the child has ended, the call fails; a moment is left to each for
// the other, since the exit status is the better reason, and a reply may still be on its way.
function readReplies(child, conversation) {
  const reader = new LineReader(CAP_NEAR);
  const take = (items) => {
    for (const item of items) conversation.take(item);
  };
  child.stdout.on('data', (chunk) => take(reader.read(chunk)));
  const ended = once(child.stdout, 'end').then(() => take(reader.endLine()));
  const epitaph = child.epitaph();
  ended.then(async () => {
    const why = await Promise.race([epitaph, sleep(LAST_WORDS_MS, `it closed its stdout${child.lastWords()}`)]);
    conversation.fail(new Unreachable(why));
  });
  epitaph.then(async (why) => {
    await Promise.race([ended, sleep(LAST_WORDS_MS)]);
    conversation.fail(new Unreachable(why));
  });
}
