// Arguments against the parameters that a verb declares.

import { Malformed, Refusal } from './errors.js';
import { quote } from './text.js';
import { describe, exactInteger, isBool, isFloat, isInteger, isList, isMap, isText } from './wire/values.js';
import { readJson } from './wire/json-read.js';

const TYPES = {
  any: { takes: 'any value', fits: () => true },
  text: { takes: 'a text', fits: isText },
  bool: { takes: 'true or false', fits: isBool },
  int: { takes: 'an integer', fits: (value) => exactInteger(value) !== undefined, convert: exactInteger },
  number: { takes: 'a number', fits: (value) => isInteger(value) || isFloat(value) },
  list: { takes: 'a list', fits: isList },
  map: { takes: 'a map', fits: isMap },
};

// The parameter at a position: the last one repeats where it is declared so.
function parameterAt(parameters, position) {
  const last = parameters.at(-1);
  return parameters[position] ?? (last?.rest ? last : undefined);
}

// checkArguments gives the arguments as the verb wants them, or refuses and says what came and what would be taken.
export function checkArguments(verb, parameters, args) {
  const checked = args.map((value, position) => checkOne(verb, parameters, value, position));
  const missing = parameters.find(({ optional }, position) => position >= args.length && !optional);
  if (missing) throw new Refusal(`${verb}: ${missing.name} is missing; it takes ${TYPES[missing.type].takes}`);
  return checked;
}

function checkOne(verb, parameters, value, position) {
  const parameter = parameterAt(parameters, position);
  if (!parameter) {
    throw new Refusal(`${verb}: argument ${position + 1} is ${describe(value)}; at most ${parameters.length} are taken`);
  }
  const { takes, fits, convert = (same) => same } = TYPES[parameter.type];
  if (!fits(value)) throw new Refusal(`${verb}: ${parameter.name} is ${describe(value)}; it takes ${takes}`);
  return convert(value);
}

// argumentsFromWords reads the words of a command line (ARGV-3): a text as it is, everything else as JSON.
export function argumentsFromWords(verb, parameters, words) {
  return words.map((word, position) => {
    const parameter = parameterAt(parameters, position);
    if (!parameter || parameter.type === 'text') return word;
    try {
      return readJson(Buffer.from(word));
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      const { takes } = TYPES[parameter.type];
      throw new Refusal(`${verb}: ${parameter.name} is ${quote(word)}; it takes ${takes} in JSON (${error.message})`);
    }
  });
}
