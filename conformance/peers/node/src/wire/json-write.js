// A JSON writer that keeps integers exact and floats floats.

import { checkWritable } from './writable.js';
import { isFloat, isInteger, isList, isMap } from './values.js';

export function writeJson(value) {
  checkWritable(value);
  const parts = [];
  write(value, parts);
  return Buffer.from(parts.join(''));
}

function write(value, parts) {
  if (isList(value)) writeList(value, parts);
  else if (isMap(value)) writeMap(value, parts);
  else if (isFloat(value)) parts.push(float(value));
  else if (isInteger(value)) parts.push(value.toString());
  // What is left is null, a bool or a text: JSON.stringify escapes in a text what it has to, and no more.
  else parts.push(JSON.stringify(value));
}

function writeList(list, parts) {
  parts.push('[');
  list.forEach((element, i) => {
    if (i > 0) parts.push(',');
    write(element, parts);
  });
  parts.push(']');
}

function writeMap(map, parts) {
  let before = '{';
  for (const [key, value] of map) {
    parts.push(before, JSON.stringify(key), ':');
    write(value, parts);
    before = ',';
  }
  parts.push(map.size === 0 ? '{}' : '}');
}

// JavaScript already writes the fewest digits; what it leaves out is what tells a float from an integer.
function float(value) {
  if (Object.is(value, -0)) return '-0.0';
  const digits = String(value);
  return /[.e]/.test(digits) ? digits : `${digits}.0`;
}
