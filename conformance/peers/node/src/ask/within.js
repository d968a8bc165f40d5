import { Unreachable } from '../errors.js';

// within settles as the promise does, or fails when the time has run out or the signal aborts (CLIENT-4).
export async function within(promise, ms, what, signal) {
  let timer, stop;
  const ended = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Unreachable(`${what} took more than ${ms} ms`)), ms);
    stop = () => reject(new Unreachable('broken off: its caller is gone, or this program stops'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
