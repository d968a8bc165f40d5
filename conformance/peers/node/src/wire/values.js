// The values of the wire in JavaScript. An integer is a BigInt, whatever its size, and a float is a Number, so that 1 and 1.0
// stay two things and nothing is rounded. A map is a Map: an object would put its numeric keys first, and has a prototype.

import { quote } from '../text.js';

export const isInteger = (value) => typeof value === 'bigint';
export const isFloat = (value) => typeof value === 'number';
export const isText = (value) => typeof value === 'string';
export const isBool = (value) => typeof value === 'boolean';
export const isList = Array.isArray;
export const isMap = (value) => value instanceof Map;

// map builds a Map from an object literal, leaving out what is undefined.
export function map(members) {
  return new Map(Object.entries(members).filter(([, value]) => value !== undefined));
}

export function fitsBits(integer, bits) {
  const magnitude = integer < 0n ? -1n - integer : integer;
  return magnitude >> BigInt(bits) === 0n;
}

// The integer that a number is exactly, however it was written (ENC-6), or undefined.
export function exactInteger(value) {
  if (isInteger(value)) return value;
  return isFloat(value) && Number.isInteger(value) ? BigInt(value) : undefined;
}

// The whole number from 0 that a value is, or undefined.
export function wholeNumber(value) {
  const integer = exactInteger(value);
  return integer !== undefined && integer >= 0n ? integer : undefined;
}

// A few words about a value, for the error that says what came.
export function describe(value) {
  if (value === null) return 'null';
  if (isText(value)) return `the text "${quote(value)}"`;
  if (isList(value)) return `a list of ${value.length}`;
  if (isMap(value)) return `a map of ${value.size}`;
  return quote(Object.is(value, -0) ? '-0.0' : String(value));
}
