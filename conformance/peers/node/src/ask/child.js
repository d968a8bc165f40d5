// A program that we start: in a process group of its own, its stderr read all the time, and always ended (PIPE-4).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHILD_GRACE_MS } from '../limits.js';
import { Unreachable } from '../errors.js';
import { quote } from '../text.js';

const TAIL_BYTES = 1024;
const TAIL_QUOTED = 200;
const TAIL_WAIT_MS = 100;
const LOOK_EVERY_MS = 20;
const HASTE_MS = 100;

const living = new Set();
process.on('exit', () => {
  for (const child of living) child.signal('SIGKILL');
});

export class Child {
  // Throws Unreachable where the program cannot be started.
  static async start(program, words) {
    let started;
    try {
      started = spawn(program, words, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
      await once(started, 'spawn');
    } catch (error) {
      throw new Unreachable(`it cannot be started: ${error.message}`);
    }
    const child = new Child(started);
    living.add(child);
    return child;
  }

  constructor(started) {
    this.process = started;
    this.tail = Buffer.alloc(0);
    this.exited = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.process.stderr.on('data', (chunk) => {
      this.tail = Buffer.concat([this.tail, chunk]).subarray(-TAIL_BYTES);
    });
    this.process.stdin.on('error', () => {}); // it may end without reading; its reply or its exit tells more
  }

  get stdin() {
    return this.process.stdin;
  }

  get stdout() {
    return this.process.stdout;
  }

  // Resolves when the program has ended, with a sentence that holds its status and the last that it wrote to stderr.
  async epitaph() {
    const { code, signal } = await this.exited;
    const { stderr } = this.process;
    if (!stderr.readableEnded) await Promise.race([once(stderr, 'close'), sleep(TAIL_WAIT_MS)]);
    return `it ended with ${signal ? `the signal ${signal} (killed)` : `exit status ${code}`}${this.lastWords()}`;
  }

  lastWords() {
    const words = [...this.tail.toString().trim()].slice(-TAIL_QUOTED).join('');
    return words === '' ? '' : `, and its stderr with: ${quote(words, TAIL_QUOTED * 4)}`;
  }

  // Signals the whole group, of which the program itself may be gone already. False where nobody is left.
  signal(name) {
    try {
      return process.kill(-this.process.pid, name);
    } catch {
      return false;
    }
  }

  // Ends it in steps, and whatever it started in its group with it; sooner where the signal says that time is short.
  async close(signal) {
    this.stdin.end();
    for (const step of [undefined, 'SIGTERM', 'SIGKILL']) {
      if (step) this.signal(step);
      if (await this.#endsWithin(signal.aborted ? HASTE_MS : CHILD_GRACE_MS)) break;
    }
    living.delete(this);
    for (const stream of this.process.stdio) stream.destroy();
  }

  async #endsWithin(ms) {
    const end = Date.now() + ms;
    await Promise.race([this.exited, sleep(ms)]);
    while (this.signal(0)) {
      if (Date.now() >= end) return false;
      await sleep(LOOK_EVERY_MS);
    }
    return true;
  }
}
