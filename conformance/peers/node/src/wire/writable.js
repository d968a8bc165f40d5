import { LIMITS, OVER } from '../limits.js';
import { Unwritable } from '../errors.js';
import { quote } from '../text.js';
import { fitsBits, isBool, isFloat, isInteger, isList, isMap, isText } from './values.js';

// checkWritable walks a message before it is written and names the member that cannot be (ENC-7). A cycle shows as depth. What is
// written keeps to the limits that other readers have by default, whatever our own reader takes.
export function checkWritable(message) {
  new Check().value(message);
}

class Check {
  constructor() {
    this.path = [];
    this.items = 0;
  }

  fail(why) {
    throw new Unwritable(`${spell(this.path)} cannot be written: ${why}`);
  }

  value(value) {
    if (isList(value)) {
      this.open(value.length);
      value.forEach((element, i) => this.member(i, element));
    } else if (isMap(value)) {
      this.open(value.size);
      for (const [key, member] of value) this.member(key, member);
    } else {
      const why = scalarFault(value);
      if (why) this.fail(why);
    }
  }

  open(size) {
    if (this.path.length >= LIMITS.depth) this.fail(OVER.depth(LIMITS));
    this.items += size;
    if (this.items > LIMITS.items) this.fail(OVER.items(LIMITS));
  }

  member(key, value) {
    this.path.push(key);
    if (isText(key) && !key.isWellFormed()) this.fail('half a surrogate pair in its name');
    this.value(value);
    this.path.pop();
  }
}

function scalarFault(value) {
  if (value === null || isBool(value)) return undefined;
  if (isText(value)) return value.isWellFormed() ? undefined : 'half a surrogate pair';
  if (isFloat(value)) return Number.isFinite(value) ? undefined : String(value);
  if (isInteger(value)) return fitsBits(value, LIMITS.intBits) ? undefined : OVER.intBits(LIMITS);
  return `a value of type ${typeof value}`;
}

function spell(path) {
  const [first, ...rest] = path;
  const steps = rest.map((step) => (isText(step) ? `.${quote(step)}` : `[${String(step)}]`));
  return quote(`${String(first)}${steps.join('')}`, 200);
}
