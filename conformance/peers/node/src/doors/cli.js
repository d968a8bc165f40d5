// The cli: one call, one reply on stdout, and an exit status that says whether there was a reply (ARGV-1, ARGV-2).

import { readSync } from 'node:fs';
import { CAP_NEAR } from '../limits.js';
import { CannotServe, Malformed, Refusal } from '../errors.js';
import { log } from '../log.js';
import { argumentsFromWords } from '../parameters.js';
import { takeOutput } from '../stdio.js';
import { answer, findVerb } from '../verbs.js';
import { isList } from '../wire/values.js';
import { refusal, writeReply } from '../wire/reply.js';
import { decode } from '../wire/shape.js';
import { parseCommandLine, wordsAsBytes } from './command-line.js';
import { HELP } from './help.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const WROTE = 0, NOT_WRITTEN = 1, NO_CALL = 2, NOT_SERVED = 1;

const DOORS = {
  serve: async (...given) => (await import('./serve.js')).serve(...given),
  pipe: async (...given) => (await import('./pipe.js')).servePipe(...given),
};

export async function runCommandLine() {
  const line = parseCommandLine(wordsAsBytes());
  const output = takeOutput();
  if (line.help) return write(output, Buffer.from(HELP));
  if (line.noCall) return noCall(line.noCall);
  if (Object.hasOwn(DOORS, line.verb)) return openDoor(line, output);
  let args;
  try {
    args = listArgument(line);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return noCall(`--args: ${error.message}`);
  }
  const reply = await answerLine(line, args);
  const bytes = writeReply(reply, line.encoding, CAP_NEAR);
  return write(output, line.encoding === 'cbor' ? bytes : Buffer.concat([bytes, Buffer.from('\n')]));
}

function noCall(why) {
  log(why);
  return NO_CALL;
}

async function write(output, bytes) {
  try {
    await output.write(bytes);
    await output.end();
    return WROTE;
  } catch (error) {
    log(`the reply could not be written: ${error.message}`);
    return NOT_WRITTEN;
  }
}

async function openDoor({ verb, words, fault, list, flags }, output) {
  try {
    if (fault) throw new CannotServe(fault);
    if (words.length > 0 || list !== undefined) throw new CannotServe(`${verb} takes no arguments`);
    return await DOORS[verb](flags, output);
  } catch (error) {
    if (!(error instanceof CannotServe)) throw error;
    log(error.message);
    return NOT_SERVED;
  }
}

async function answerLine({ verb, words, fault }, list) {
  try {
    if (fault) throw new Refusal(fault);
    const parameters = findVerb(verb, 'cli')?.args ?? [];
    const args = list ?? argumentsFromWords(verb, parameters, words);
    return await untilStopped((signal) => answer(verb, args, { door: 'cli', signal }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusal(error.message, error.fault);
  }
}

// A signal ends a call that waits for another program, so that the child is ended in its steps and none is left behind.
async function untilStopped(call) {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const name of STOP_SIGNALS) process.on(name, abort);
  try {
    return await call(stop.signal);
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, abort);
  }
}

// The list of --args, or undefined where there is none.
function listArgument({ list }) {
  if (list === undefined) return undefined;
  const bytes = list.toString() === '-' ? readStdin() : list;
  if (bytes.length > CAP_NEAR) throw new Malformed(`the list is over the cap of ${CAP_NEAR} bytes`);
  const value = decode(bytes);
  if (!isList(value)) throw new Malformed('the value is not a list');
  return value;
}

const RETRY_MS = 5;
const never = new Int32Array(new SharedArrayBuffer(4));

// Reads all of stdin, or one byte more than the cap.
function readStdin() {
  const chunk = Buffer.allocUnsafe(65_536);
  const chunks = [];
  for (let length = 0; length <= CAP_NEAR;) {
    const read = readSome(chunk, CAP_NEAR + 1 - length);
    if (read === 0) break;
    chunks.push(Buffer.from(chunk.subarray(0, read)));
    length += read;
  }
  return Buffer.concat(chunks);
}

function readSome(chunk, most) {
  for (;;) {
    try {
      return readSync(0, chunk, 0, Math.min(chunk.length, most), null);
    } catch (error) {
      if (error.code === 'EOF') return 0;
      if (error.code !== 'EAGAIN') throw new Malformed(`stdin cannot be read: ${error.message}`);
      Atomics.wait(never, 0, 0, RETRY_MS); // somebody has set O_NONBLOCK on it
    }
  }
}
