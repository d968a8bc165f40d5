// From a stream of bytes to whole messages: frames on a socket, lines on a pipe. What is read is never more than what came,
// whatever length was announced (LIMIT-2). Both readers give items, { bytes } or { tooLong: size }.

const LF = 0x0a, CR = 0x0d;
const BLANKS = new Set([0x09, CR, 0x20]);
const BLOCK_LEAST = 256, BLOCK_MOST = 65_536;

// Bytes collects up to a limit, in blocks that grow with what has come. A list of the chunks would be many times larger than
// what is in them where they come byte by byte, and one buffer that doubles leaves as much behind as it holds.
class Bytes {
  constructor(limit) {
    this.limit = limit;
    this.length = 0;
    this.blocks = [];
    this.room = Buffer.alloc(0); // what is free of the last block
  }

  // Takes what fits of the chunk and tells how much that was.
  add(chunk) {
    const length = Math.min(chunk.length, this.limit - this.length);
    for (let at = 0; at < length;) {
      if (this.room.length === 0) this.grow(this.length + at);
      const copied = chunk.copy(this.room, 0, at, length);
      this.room = this.room.subarray(copied);
      at += copied;
    }
    this.length += length;
    return length;
  }

  grow(length) {
    const size = Math.min(this.limit - length, Math.max(BLOCK_LEAST, Math.min(length, BLOCK_MOST)));
    this.room = Buffer.allocUnsafeSlow(size);
    this.blocks.push(this.room);
  }

  get whole() {
    return this.blocks.length === 1 ? this.blocks[0].subarray(0, this.length) : Buffer.concat(this.blocks, this.length);
  }
}

export class FrameReader {
  constructor(cap) {
    this.cap = cap;
    this.frames = 0; // that ended
    this.lost = false; // behind a frame over the cap nothing tells where the next begins
    this.startHeader();
  }

  startHeader() {
    this.header = new Bytes(4);
    this.body = undefined;
  }

  // True between the first byte of a frame and its last.
  get begun() {
    return this.header.length > 0;
  }

  *read(chunk) {
    let at = 0;
    while (!this.lost && at < chunk.length) {
      at += (this.body ?? this.header).add(chunk.subarray(at));
      if (!this.body && this.header.length === 4) yield* this.startBody();
      if (this.body && this.body.length === this.body.limit) yield this.endBody();
    }
  }

  *startBody() {
    const length = this.header.whole.readUInt32BE(0);
    this.lost = length > this.cap;
    if (this.lost) yield { tooLong: length };
    else this.body = new Bytes(length);
  }

  endBody() {
    const bytes = this.body.whole;
    this.frames++;
    this.startHeader();
    return { bytes };
  }
}

export function frame(bytes) {
  const header = Buffer.allocUnsafe(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

export class LineReader {
  constructor(cap) {
    this.cap = cap;
    this.startLine();
  }

  startLine() {
    this.kept = new Bytes(this.cap + 1); // one more, for the CR of a line of exactly the cap
    this.size = 0;
    this.last = undefined;
  }

  *read(chunk) {
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(LF, at);
      this.add(chunk.subarray(at, end < 0 ? chunk.length : end));
      if (end < 0) return;
      yield* this.endLine();
      at = end + 1;
    }
  }

  add(part) {
    if (part.length === 0) return;
    this.kept.add(part);
    this.size += part.length;
    if (this.size > this.cap + 1) this.kept = new Bytes(0); // only its size is still of interest
    this.last = part[part.length - 1];
  }

  // The end of the input ends the last line too.
  *endLine() {
    const size = this.last === CR ? this.size - 1 : this.size;
    const bytes = this.kept.whole.subarray(0, size);
    this.startLine();
    if (size > this.cap) yield { tooLong: size };
    else if (!bytes.every((byte) => BLANKS.has(byte))) yield { bytes };
  }
}

const LINE_END = Buffer.of(LF);

export function line(bytes) {
  return Buffer.concat([bytes, LINE_END]);
}
