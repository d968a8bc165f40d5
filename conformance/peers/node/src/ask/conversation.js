// One call on a connection of its own: what comes while its reply is awaited (CLIENT-3).

import { Malformed, Unreachable } from '../errors.js';
import { quote } from '../text.js';
import { map } from '../wire/values.js';
import { encode, readReply, refusal, writeReply } from '../wire/reply.js';
import { sort } from '../wire/shape.js';

// The bytes of a call. It is made while a call is being answered, and says so (CLIENT-6). One over the cap does not leave.
export function writeCall({ verb, args }, encoding, cap) {
  const bytes = encode(map({ call: verb, args, within: true }), encoding);
  if (bytes.length > cap) throw new Unreachable(`the call has ${bytes.length} bytes and the cap is ${cap}`);
  return bytes;
}

export class Conversation {
  // reply settles with the first reply. peer is the name for the other end, and send writes one message to it.
  constructor({ peer, cap, send }) {
    this.peer = peer;
    this.cap = cap;
    this.send = send;
    this.reply = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.fail = reject;
    });
    this.reply.catch(() => {}); // it may fail before anybody waits for it
  }

  take({ bytes, tooLong }) {
    if (tooLong !== undefined) {
      this.fail(new Malformed(`a message of ${tooLong} bytes came, and the cap is ${this.cap}`));
      return;
    }
    const message = sort(bytes);
    if (message.kind === 'reply') this.#settle(message.members);
    else if (message.kind === 'malformed') this.fail(new Malformed(`what came is no reply: ${message.text}`));
    else if (message.kind === 'call') this.#refuse(message);
    // What is left is an event. This program waits for none.
  }

  #settle(members) {
    try {
      this.resolve(readReply(members, this.peer));
    } catch (error) {
      this.fail(error);
    }
  }

  // A caller answers calls too; this one has no verbs.
  #refuse({ verb, encoding }) {
    this.send(writeReply(refusal(`no such call: ${quote(verb)}`, 'refused'), encoding, this.cap));
  }
}
