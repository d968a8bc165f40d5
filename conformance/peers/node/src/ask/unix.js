// unix:PATH dials a socket and makes one call there in CBOR.

import { readSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { CALL_MS, CAP_SOCKET, DIAL_MS, SOCKET_PATH_BYTES } from '../limits.js';
import { Unreachable } from '../errors.js';
import { frame, FrameReader } from '../wire/streams.js';
import { Conversation, writeCall } from './conversation.js';
import { within } from './within.js';

export async function askUnix(path, call, signal) {
  const length = Buffer.byteLength(path);
  if (length > SOCKET_PATH_BYTES) {
    throw new Unreachable(`the path has ${length} bytes, and the limit of a socket's path is ${SOCKET_PATH_BYTES}`);
  }
  const bytes = writeCall(call, 'cbor', CAP_SOCKET);
  const socket = connect({ path, allowHalfOpen: true });
  try {
    await within(connected(socket), DIAL_MS, 'the dial', signal);
    return await within(exchange(socket, bytes, path), CALL_MS, 'the call', signal);
  } finally {
    socket.destroy();
  }
}

async function connected(socket) {
  try {
    await once(socket, 'connect');
  } catch (error) {
    throw new Unreachable(`nobody answers: ${error.message}`);
  }
}

function exchange(socket, bytes, path) {
  const conversation = new Conversation({
    peer: path,
    cap: CAP_SOCKET,
    send: (message) => socket.write(frame(message)),
  });
  const reader = new FrameReader(CAP_SOCKET);
  const take = (chunk) => {
    for (const item of reader.read(chunk)) conversation.take(item);
  };
  socket.on('data', take);
  socket.on('end', () => conversation.fail(new Unreachable('it closed the connection before its reply')));
  socket.on('error', (error) => conversation.fail(new Unreachable(`the connection failed: ${error.message}`)));
  socket.write(frame(bytes), (error) => {
    if (error) readUnread(socket, take);
  });
  return conversation.reply;
}

// A peer that turns us away may have closed before our call could be written. What it said lies unread, and Node destroys a
// socket whose write failed, so it is read here, past the stream.
function readUnread(socket, take) {
  const chunk = Buffer.alloc(65_536);
  try {
    for (;;) {
      const length = readSync(socket._handle.fd, chunk, 0, chunk.length, null);
      if (length === 0) return;
      take(chunk.subarray(0, length));
    }
  } catch {
    // There is no more, and the stream's own error says the rest.
  }
}
