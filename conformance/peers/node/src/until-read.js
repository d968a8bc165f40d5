import { setImmediate as turn } from 'node:timers/promises';

// untilRead resolves when a stream has brought all that the kernel held for it at the call. A whole turn of the event loop looks
// at each stream once, and the first turn that brings nothing proves that there was no more. A stream that is paused is
// waited for. The signal ends the wait.
export async function untilRead(stream, signal) {
  let brought = true;
  const note = () => { brought = true; };
  stream.on('data', note);
  while (brought && !stream.readableEnded && !stream.destroyed && !signal.aborted) {
    if (stream.isPaused()) await resumed(stream, signal);
    brought = false;
    await turn();
    await turn(); // the first may have begun with its look at the streams behind it
    if (stream.isPaused()) brought = true;
  }
  stream.off('data', note);
}

function resumed(stream, signal) {
  return new Promise((resolve) => {
    for (const name of ['resume', 'close']) stream.once(name, resolve);
    signal.addEventListener('abort', resolve, { once: true });
  });
}
