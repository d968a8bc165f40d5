// A connection as the one who answers sees it, on a pipe or on a socket: messages are handled singly, in the sequence of their
// arrival, and go on being read while one is handled, up to a limit (LIMIT-5, SOCK-5).

import { WAITING_MESSAGES } from './limits.js';
import { answer } from './verbs.js';
import { refusal, writeReply } from './wire/reply.js';
import { sort } from './wire/shape.js';

// Thrown where the connection cannot go on. The text is for the log.
export class ConnectionFault extends Error {}

export class Link {
  #waiting = [];
  #waitingBytes = 0;
  #running = false;
  #ended = false;
  #paused = false;
  #gone = new AbortController();

  // transport has the door's name, its limits, send(bytes) that resolves when the kernel has them, pause() and resume().
  constructor(transport) {
    this.transport = transport;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.done.catch(() => {}); // a door that has closed already is not interested
  }

  get paused() {
    return this.#paused;
  }

  get busy() {
    return this.#running;
  }

  take(item) {
    this.#waiting.push(item);
    this.#waitingBytes += item.bytes?.length ?? 0;
    this.#holdBack();
    this.#run();
  }

  // No more comes. What was taken is answered, and then done resolves.
  end() {
    this.#ended = true;
    this.#run();
  }

  // Nobody can read a reply any more: whoever answers is told (CLIENT-7).
  abort() {
    this.#gone.abort();
  }

  #holdBack() {
    const full = this.#waiting.length >= WAITING_MESSAGES || this.#waitingBytes >= this.transport.limits.cap;
    if (full === this.#paused) return;
    this.#paused = full;
    if (full) this.transport.pause();
    else this.transport.resume();
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#waiting.length > 0) await this.#handle(this.#next());
      if (this.#ended) this.resolve();
    } catch (error) {
      this.#waiting = [];
      this.reject(error);
    } finally {
      this.#running = false;
    }
  }

  #next() {
    const item = this.#waiting.shift();
    this.#waitingBytes -= item.bytes?.length ?? 0;
    this.#holdBack();
    return item;
  }

  async #handle({ bytes, tooLong }) {
    if (tooLong !== undefined) return this.#tooLong(tooLong);
    const message = this.transport.check(sort(bytes, this.transport.limits));
    if (message.kind === 'reply') throw new ConnectionFault('a reply came, and no call waits for one');
    if (message.kind === 'malformed') return this.#send(refusal(message.text, 'malformed'), message.encoding);
    if (message.kind !== 'call') return undefined;
    const reply = await answer(message.verb, message.args, { door: this.transport.door, signal: this.#gone.signal });
    return this.#send(reply, message.encoding);
  }

  async #tooLong(size) {
    const { survivesTooLong, limits: { cap } } = this.transport;
    await this.#send(refusal(`the message has ${size} bytes and the cap is ${cap}`, 'malformed'), 'json');
    if (!survivesTooLong) throw new ConnectionFault(`a message of ${size} bytes came, over the cap of ${cap}`);
  }

  #send(reply, encoding) {
    return this.transport.send(writeReply(reply, encoding, this.transport.limits.cap));
  }
}
