// stdin and stdout as this program was given them. Node's own process.stdin and process.stdout set O_NONBLOCK on what they
// wrap, and other processes share that flag (ARGV-5). A read in libuv's threads is no way out, since a thread that is blocked
// keeps the process from ending. So a pipe, a terminal or a device is opened anew through /proc, which gives flags of our own.
// What cannot be opened anew, a socket above all, and what has an offset that others share, a file, goes through a `cat`.

import { spawn } from 'node:child_process';
import { closeSync, constants, createReadStream, createWriteStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, ReadStream, WriteStream } from 'node:tty';

const { O_RDONLY, O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;

const reopen = (fd, flags) => openSync(`/proc/self/fd/${fd}`, flags | O_NOCTTY | O_NONBLOCK);

function kindOf(fd) {
  const stat = fstatSync(fd);
  if (stat.isFIFO()) return 'fifo';
  if (isatty(fd)) return 'terminal';
  if (stat.isCharacterDevice()) return 'device';
  return stat.isFile() ? 'file' : 'other';
}

// openInput gives stdin as a stream.
export function openInput() {
  const kind = kindOf(0);
  if (kind === 'file' || kind === 'device') return createReadStream('', { fd: 0, autoClose: false });
  try {
    if (kind === 'fifo') return readFifo(reopen(0, O_RDONLY));
    if (kind === 'terminal') return new ReadStream(reopen(0, O_RDONLY));
  } catch {
    // A pipe of another user's cannot be opened anew.
  }
  return relay([0, 'pipe', 'ignore']).stdout;
}

// Each read goes into the same buffer, so what a listener wants to keep it copies. With new memory for each, a line that never
// ends would hold many times the cap until it is collected.
function readFifo(fd) {
  const onread = {
    buffer: Buffer.allocUnsafe(65_536),
    callback: (length, buffer) => socket.emit('data', buffer.subarray(0, length)),
  };
  const socket = new Socket({ fd, readable: true, writable: false, onread });
  return socket;
}

// A cat is in a group of its own, so that a signal for ours does not cut off what is on its way, and ends with us.
function relay(stdio) {
  const cat = spawn('cat', { stdio, detached: true });
  cat.on('error', () => {}); // the stream that goes through it fails, which is where it is noticed
  process.once('exit', () => cat.kill());
  return cat;
}

// takeOutput gives stdout for the replies, and makes file descriptor 1 the same as stderr for everything else.
export function takeOutput() {
  const output = openOutput();
  closeSync(1);
  // The lowest free descriptor is 1 now, and open takes the lowest.
  try {
    reopen(2, O_WRONLY | O_APPEND);
  } catch {
    openSync('/dev/null', O_WRONLY);
  }
  return output;
}

function openOutput() {
  const kind = kindOf(1);
  try {
    if (kind === 'fifo') return new Output(new Socket({ fd: reopen(1, O_WRONLY), readable: false, writable: true }));
    if (kind === 'terminal') return new Output(new WriteStream(reopen(1, O_WRONLY)));
    if (kind === 'device') return new Output(createWriteStream('', { fd: reopen(1, O_WRONLY) }));
  } catch (error) {
    if (error.code === 'ENXIO' && kind === 'fifo') return new NoOutput();
  }
  const cat = relay(['pipe', 1, 'ignore']);
  const ended = new Promise((resolve) => { cat.once('close', resolve); });
  return new Output(cat.stdin, async () => {
    if ((await ended) !== 0) throw new Error('what was written did not arrive');
  });
}

class Output {
  constructor(stream, arrived = async () => {}) {
    this.stream = stream;
    this.arrived = arrived;
    stream.on('error', () => {}); // each write tells of its own failure
  }

  // Resolves when the kernel has all of it.
  write(bytes) {
    return new Promise((resolve, reject) => {
      this.stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async end() {
    this.stream.end();
    await this.arrived();
  }
}

// A pipe that nobody reads.
class NoOutput {
  async write() {
    throw new Error('nobody reads stdout');
  }

  async end() {}
}
