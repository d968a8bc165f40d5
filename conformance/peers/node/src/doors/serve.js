// The socket door: who is let in, and how it stops (SOCK-4 to SOCK-6).

import { setTimeout as sleep } from 'node:timers/promises';
import { BREAK_OFF_MS, CAP_SOCKET, CONNECTIONS, DRAIN_MS, STALL_MS } from '../limits.js';
import { CannotServe } from '../errors.js';
import { log } from '../log.js';
import { tie } from '../tied.js';
import { map } from '../wire/values.js';
import { encode, refusal, writeReply } from '../wire/reply.js';
import { frame, line } from '../wire/streams.js';
import { Caller } from './caller.js';
import { listen } from './listen.js';
import { count, duration, limitOptions } from './options.js';

export async function serve(flags, output) {
  const options = {
    limits: limitOptions(flags, CAP_SOCKET),
    limit: count(flags, '--limit', 1, CONNECTIONS),
    stall: duration(flags, '--stall', STALL_MS),
    grace: duration(flags, '--grace', DRAIN_MS),
    tied: count(flags, '--tied', 1),
  };
  const stopped = toldToStop(options.tied);
  const listener = await listen(flags);
  log('only the mode of the socket tells callers apart: our user and root can connect, and uid and pid stay unknown');
  const callers = new Set();
  listener.server.on('connection', (socket) => letIn(socket, listener, callers, options));
  listener.server.on('error', (error) => log(`accepting: ${error.message}`));
  await announce(output, listener);
  await stopped;
  await drain(listener, callers, options.grace);
  return 0;
}

function toldToStop(tied) {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
    if (tied !== undefined) tie(tied, resolve);
  });
}

async function announce(output, { path, remove }) {
  try {
    await output.write(line(encode(map({ event: 'listening', at: path }), 'json')));
  } catch (error) {
    remove();
    throw new CannotServe(`stdout cannot be written: ${error.message}`);
  }
}

function letIn(socket, listener, callers, options) {
  if (!listener.isOurs()) {
    log('a caller was closed: others than our user may connect, so nobody is known');
    socket.destroy();
    return;
  }
  if (callers.size >= options.limit) {
    turnAway(socket, options);
    return;
  }
  const caller = new Caller(socket, options);
  callers.add(caller);
  caller.closed.then(() => callers.delete(caller));
}

const TURN_AWAY_MS = 1_000;

function turnAway(socket, { limit, limits }) {
  socket.on('error', () => {});
  socket.on('end', () => socket.destroySoon());
  socket.end(frame(writeReply(refusal(`at most ${limit} connections are served at a time`, 'refused'), 'json', limits.cap)));
  socket.resume();
  setTimeout(() => socket.destroy(), TURN_AWAY_MS).unref();
}

// Within the grace all that has arrived is answered. What is not done by then is cut. The file goes before the server closes:
// while our socket is open no other file can have its inode.
async function drain({ server, remove }, callers, grace) {
  remove();
  server.close();
  const breakOff = () => callers.forEach((caller) => caller.breakOff());
  setTimeout(breakOff, Math.max(grace - BREAK_OFF_MS, grace / 2));
  const signal = AbortSignal.timeout(grace);
  const all = Promise.all([...callers].map((caller) => caller.stop(signal)));
  await Promise.race([all, sleep(grace)]);
}
