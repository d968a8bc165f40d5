import { writeSync } from 'node:fs';

// log writes a line for people on stderr. It avoids process.stderr, which would set O_NONBLOCK on a pipe that others share
// (ARGV-5), and a stderr that takes nothing is no reason to stop.
export function log(text) {
  try {
    writeSync(2, `peer: ${text}\n`);
  } catch {
    // There is nowhere left to say so.
  }
}
