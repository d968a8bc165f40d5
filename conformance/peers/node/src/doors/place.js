// Where the socket is, and whether the directory is one to put it in (SOCK-2).

import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SOCKET_PATH_BYTES } from '../limits.js';
import { CannotServe } from '../errors.js';
import { quote } from '../text.js';

const PROGRAM = 'peer';
const MODE = 0o7777, STICKY = 0o1000, OTHERS_WRITE = 0o022;

export const ourUid = process.getuid();

// socketPath gives the path to serve at, in a directory that has been checked. It creates nothing where the path is too long.
export function socketPath(flags) {
  const named = flags.get('--socket');
  if (named !== undefined) {
    if (named === '') throw new CannotServe('--socket is empty');
    checkLength(named);
    checkNamedDirectory(dirname(named));
    return named;
  }
  const directory = defaultDirectory();
  const path = join(directory, `${instance(flags)}.sock`);
  checkLength(path);
  checkOwnDirectory(directory);
  return path;
}

function instance(flags) {
  const name = flags.get('--instance') ?? 'main';
  if (!/^[^/\0]+$/.test(name)) throw new CannotServe(`--instance is "${quote(name)}"; it takes a name without slashes`);
  return name;
}

function defaultDirectory() {
  const { XDG_RUNTIME_DIR, TMPDIR } = process.env;
  return XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, PROGRAM) : join(TMPDIR || '/tmp', `${PROGRAM}-${ourUid}`);
}

function checkLength(path) {
  const length = Buffer.byteLength(path);
  if (length > SOCKET_PATH_BYTES) {
    throw new CannotServe(`the path ${path} has ${length} bytes, and the limit of a socket's path is ${SOCKET_PATH_BYTES}`);
  }
}

function checkOwnDirectory(directory) {
  try {
    mkdirSync(directory, { mode: 0o700 });
    chmodSync(directory, 0o700); // whatever the umask took
  } catch (error) {
    if (error.code !== 'EEXIST') throw new CannotServe(`the directory ${directory} cannot be made: ${error.message}`);
  }
  const stat = statDirectory(directory);
  if (stat.uid !== ourUid) throw new CannotServe(`the directory ${directory} belongs to another user`);
  if ((stat.mode & MODE) !== 0o700) throw new CannotServe(`the directory ${directory} has not the mode 0700`);
}

function checkNamedDirectory(directory) {
  const stat = statDirectory(directory);
  if (stat.uid !== ourUid && stat.uid !== 0) throw new CannotServe(`the directory ${directory} belongs to another user`);
  if (stat.mode & OTHERS_WRITE && !(stat.mode & STICKY)) throw new CannotServe(`others can write to the directory ${directory}`);
}

function statDirectory(directory) {
  let stat;
  try {
    stat = lstatSync(directory);
  } catch (error) {
    throw new CannotServe(`the directory ${directory} cannot be used: ${error.message}`);
  }
  if (!stat.isDirectory()) throw new CannotServe(`${directory} is a link or no directory`);
  return stat;
}
