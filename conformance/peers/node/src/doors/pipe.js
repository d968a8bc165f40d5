// The pipe: stdin and stdout, held open by the program that started this one (section 7).

import { BREAK_OFF_MS, CAP_NEAR, DRAIN_MS } from '../limits.js';
import { Link } from '../link.js';
import { log } from '../log.js';
import { openInput } from '../stdio.js';
import { tie } from '../tied.js';
import { untilRead } from '../until-read.js';
import { line, LineReader } from '../wire/streams.js';
import { count, limitOptions } from './options.js';

const NO_CBOR = 'a pipe carries JSON only; CBOR is for the socket';

export async function servePipe(flags, output) {
  const limits = limitOptions(flags, CAP_NEAR);
  const tied = count(flags, '--tied', 1);
  const input = openInput();
  const reader = new LineReader(limits.cap);
  const link = new Link({
    door: 'pipe',
    limits,
    survivesTooLong: true,
    check: jsonOnly,
    send: (bytes) => output.write(line(bytes)),
    pause: () => input.pause(),
    resume: () => input.resume(),
  });

  input.on('data', (chunk) => takeAll(link, reader.read(chunk)));
  const late = endOfInput(input, tied).then(() => {
    takeAll(link, reader.endLine());
    link.end();
    return drainEnd(link);
  });
  try {
    await Promise.race([link.done, late]);
    await output.end();
    return 0;
  } catch (error) {
    log(`the pipe was closed: ${error.message}`);
    return 1;
  }
}

function takeAll(link, items) {
  for (const item of items) link.take(item);
}

// Resolves at the end of stdin, or when a signal or the end of the tied process says the same and all that was sent is read.
function endOfInput(input, tied) {
  return new Promise((resolve) => {
    const stop = async () => {
      await untilRead(input, AbortSignal.timeout(DRAIN_MS / 2));
      input.pause();
      resolve();
    };
    input.on('end', resolve);
    input.on('error', resolve);
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    if (tied !== undefined) tie(tied, stop);
  });
}

// Rejects when what was read is not handled in time.
async function drainEnd(link) {
  const timers = [];
  const late = new Promise((_, reject) => {
    timers.push(setTimeout(() => link.abort(), DRAIN_MS - BREAK_OFF_MS));
    timers.push(setTimeout(() => reject(new Error('what was read could not be answered in time')), DRAIN_MS));
  });
  await Promise.race([link.done, late]).finally(() => timers.forEach(clearTimeout));
}

function jsonOnly(message) {
  if (message.encoding !== 'cbor' || message.kind === 'event' || message.kind === 'ignored') return message;
  return { kind: 'malformed', text: NO_CBOR, encoding: 'json' };
}
