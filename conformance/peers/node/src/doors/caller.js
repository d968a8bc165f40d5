// One connection of the socket door: its frames, its clocks and its end (SOCK-1, SOCK-5).

import { ConnectionFault, Link } from '../link.js';
import { log } from '../log.js';
import { untilRead } from '../until-read.js';
import { frame, FrameReader } from '../wire/streams.js';
import { sliceWriter } from './slices.js';

const LINGER_MS = 1_000;
const PROBE_MS = 200;

export class Caller {
  #clock;
  #probe;
  #closing = false;

  constructor(socket, { limits, stall }) {
    this.socket = socket;
    this.stall = stall;
    this.reader = new FrameReader(limits.cap);
    const write = sliceWriter(socket, stall);
    this.link = new Link({
      door: 'socket',
      limits,
      survivesTooLong: false,
      check: (message) => message,
      send: (bytes) => write(frame(bytes)),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    this.closed = new Promise((resolve) => { socket.once('close', resolve); });
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('end', () => this.#endOfInput());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#release());
    this.link.done.then(() => this.#hangUp(), (error) => this.#fail(error));
  }

  #read(chunk) {
    if (this.#closing) return; // nothing that comes behind the end is looked at
    for (const item of this.reader.read(chunk)) this.link.take(item);
    this.#watchClock();
  }

  // A frame that has begun must end, but the time in which we do not read is not the peer's.
  #watchClock() {
    const running = this.reader.begun && !this.reader.lost && !this.link.paused;
    if (!running || this.reader.frames !== this.#clock?.frames) this.#stopClock();
    if (!running || this.#clock) return;
    const late = () => this.#fail(new ConnectionFault(`a frame did not end within ${this.stall} ms`));
    this.#clock = { timer: setTimeout(late, this.stall), frames: this.reader.frames };
  }

  #stopClock() {
    clearTimeout(this.#clock?.timer);
    this.#clock = undefined;
  }

  #pause() {
    this.socket.pause();
    this.#stopClock();
  }

  #resume() {
    this.socket.resume();
    this.#watchClock();
  }

  #endOfInput() {
    this.#stopClock();
    if (this.#closing) return;
    if (this.reader.begun && !this.reader.lost) log('a connection ended inside a frame');
    this.link.end();
    if (this.link.busy) this.#probeWhileBusy();
  }

  // A peer that has closed looks like one that only ended its sending, until something is written. To write nothing at all
  // tells the two apart and sends no byte (CLIENT-7).
  #probeWhileBusy() {
    this.#probe = setInterval(() => this.socket.write(''), PROBE_MS);
  }

  // Answers each frame whose last byte is here, and cuts the one that has only begun (SOCK-6).
  async stop(signal) {
    await untilRead(this.socket, signal);
    this.#stopClock();
    this.link.end();
    await this.link.done.catch(() => {});
  }

  // What waits on others is to answer now (SOCK-6).
  breakOff() {
    this.link.abort();
  }

  #fail(error) {
    if (this.#closing) return;
    log(`a connection was closed: ${error.message}`);
    this.#hangUp();
  }

  // The peer gets to read what was written. A socket that is closed with bytes unread would take that from it, so what still
  // comes is read and thrown away for a moment.
  #hangUp() {
    if (this.#closing) return;
    this.#closing = true;
    this.#stopClock();
    clearInterval(this.#probe);
    this.link.abort();
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
    this.socket.once('end', () => this.socket.destroySoon());
    if (this.socket.readableEnded) this.socket.destroySoon();
  }

  #release() {
    this.#closing = true;
    this.#stopClock();
    clearInterval(this.#probe);
    this.link.abort();
    this.link.end();
  }
}
