// A listening socket at a path, with the lock that makes it the only one (SOCK-2, SOCK-3).

import { spawnSync } from 'node:child_process';
import { chmodSync, constants, fchmodSync, fstatSync, linkSync, lstatSync, mkdtempSync, openSync, readFileSync, readlinkSync,
  rmSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { CannotServe } from '../errors.js';
import { ourUid, socketPath } from './place.js';

const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_DIRECTORY } = constants;
const FIRST_PASSED_FD = 3;
const TRY_MS = 1_000;
const LOCK_IS_HELD = 1;
const OTHERS_WRITE = 0o022;

// listen gives { server, path, isOurs(), remove() }: isOurs says that only our user can connect, and remove takes the file away.
export async function listen(flags) {
  const server = createServer({ allowHalfOpen: true });
  return isPassed() ? adopt(server) : bind(server, socketPath(flags));
}

async function bind(server, path) {
  takeLock(`${path}.lock`);
  await clear(path);
  await bindHidden(server, path);
  const file = identity(path);
  return {
    server,
    path,
    isOurs: () => onlyOurUserWrites(path),
    remove: () => { if (identity(path) === file) unlinkSync(path); },
  };
}

// A flock belongs to the open file and not to a process, so the flock program takes it on the descriptor that it inherits from
// us, and it is ours when that has ended. It goes when the descriptor does, which no other child gets.
function takeLock(path) {
  let fd;
  try {
    fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    if (!fstatSync(fd).isFile()) throw new Error('it is no file');
    fchmodSync(fd, 0o600); // a file of an older program, or an umask that took more than it should
  } catch (error) {
    throw new CannotServe(`the lock ${path} cannot be opened: ${error.message}`);
  }
  const { status, error } = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  if (status === LOCK_IS_HELD) throw new CannotServe(`another server holds ${path}`);
  if (status !== 0) throw new CannotServe(`the lock ${path} cannot be taken: ${error?.message ?? `flock exited ${status}`}`);
}

// Makes the path free: a socket on which nobody listens is removed, and anything else stays.
async function clear(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isSocket()) throw new CannotServe(`${path} is there and is no socket`);
  if (await isAnswered(path)) throw new CannotServe(`another server listens at ${path}`);
  unlinkSync(path);
}

// Only a refused connection says that nobody is there: a full queue, or no answer, is a server that is slow or stopped.
async function isAnswered(path) {
  const socket = connect(path);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(TRY_MS) });
    return true;
  } catch (error) {
    return error.code !== 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

// Node has no way to give a socket its mode before it has a name, so it gets its name in a directory that only we can enter,
// and comes out by a link, which, other than a rename, replaces nothing. The directory is named by its descriptor, which is
// short however long the path is, and stays open, since libuv removes the name that it has bound when the server closes.
async function bindHidden(server, path) {
  let hidden;
  try {
    hidden = mkdtempSync(join(dirname(path), '.peer-'));
    chmodSync(hidden, 0o700); // whatever the umask took
    const fd = openSync(hidden, O_RDONLY | O_DIRECTORY);
    const inside = `/proc/self/fd/${fd}/s`;
    server.listen({ path: inside, backlog: 1024 });
    await once(server, 'listening');
    chmodSync(inside, 0o600);
    linkSync(inside, path);
  } catch (error) {
    throw new CannotServe(`a socket cannot be made at ${path}: ${error.message}`);
  } finally {
    if (hidden) rmSync(hidden, { recursive: true, force: true });
  }
}

function identity(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.dev}:${stat.ino}`;
}

// Node cannot ask the kernel who calls (SO_PEERCRED). What the kernel does enforce is who may connect: whoever may write to the
// file. While that is our user alone, each caller is our user, or root, which could act as our user anyhow and is let in. When
// it no longer is, nobody is known.
function onlyOurUserWrites(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined || (stat.uid === ourUid && !(stat.mode & OTHERS_WRITE));
}

function isPassed() {
  const { LISTEN_FDS, LISTEN_PID } = process.env;
  return LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) >= 1;
}

// adopt serves the socket of a service manager (SOCK-6). Its file stays where it is.
async function adopt(server) {
  delete process.env.LISTEN_FDS; // they are for us, and not for the programs that we start
  delete process.env.LISTEN_PID;
  const path = pathOfPassed();
  if (!onlyOurUserWrites(path)) throw new CannotServe(`others than our user may connect to ${path}`);
  server.listen({ fd: FIRST_PASSED_FD });
  await once(server, 'listening');
  return { server, path, isOurs: () => onlyOurUserWrites(path), remove: () => {} };
}

// The kernel lists each socket with its inode as the seventh word and its path behind that.
function pathOfPassed() {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${FIRST_PASSED_FD}`));
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n').map((row) => row.trim().split(/\s+/));
    const path = lines.find((words) => words[6] === inode)?.slice(7).join(' ');
    if (path?.startsWith('/')) return path;
  } catch {
    // The one sentence below says it.
  }
  throw new CannotServe('the socket that was passed is no Unix socket with a path');
}
