/**
 * Parses JSON with long numbers as decimals (S1.2). The engine's parser is several times as fast as one in JavaScript,
 * but returns only doubles. So each number that a double may not represent is replaced by a placeholder before parsing:
 * a number below 1e-200, which no remaining number of the text can be and which encodes the index of the digits in a
 * list.
 */
import type { Steps } from "./steps.ts";

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, LARGE_E, SMALL_E] = [
  0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x45, 0x65,
];
/** Any number with this many digits can be represented by a double. */
const DIGITS_MAX = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** A placeholder is 1 + the index of the digits, divided by this. */
const SCALE = 1e300;
/** Placeholders are less than this. Numbers without an exponent and of at most 15 digits are zero or at least 1e-15. */
const PLACEHOLDER_MAX = 1e-200;

/** Numbers converted in one step. */
const NUMBERS_OF_STEP = 2_000;
/** Characters searched for numbers in one step; a longer string or number is one step. */
const CHARACTERS_OF_STEP = 1_000_000;

/**
 * Parses a JSON text, in steps.
 *
 * @param convert converts a number of more than 15 digits or with an exponent
 * @param finish returns the value of a converted number; called in the order of the fields of the value
 * @throws {SyntaxError} for invalid JSON; {RangeError} if nested too deeply for the stack
 */
export function* parseWithLongNumbers<Converted>(
  text: string,
  convert: (digits: string) => Converted,
  finish: (converted: Converted | undefined, digits: string) => unknown,
): Steps<unknown> {
  const numbers: string[] = [];
  const withoutNumbers = yield* withPlaceholders(text, numbers);
  const value: unknown = JSON.parse(withoutNumbers);
  if (numbers.length === 0) return value;
  const converted: Converted[] = [];
  for (const number of numbers) {
    converted.push(convert(number));
    if (converted.length % NUMBERS_OF_STEP === 0) yield;
  }
  const restoreNumber = (number: number): unknown => {
    const index = Math.round(number * SCALE) - 1;
    return finish(converted[index], numbers[index] ?? "");
  };
  return isPlaceholder(value) ? restoreNumber(value) : (restore(value, restoreNumber), value);
}

function* withPlaceholders(text: string, numbers: string[]): Steps<string> {
  const pieces: string[] = [];
  let copied = 0;
  let at = 0;
  let nextStep = CHARACTERS_OF_STEP;
  while (at < text.length) {
    if (at >= nextStep) {
      yield;
      nextStep = at + CHARACTERS_OF_STEP;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code !== MINUS && !isDigit(code)) at++;
    else {
      const start = at;
      let digits = 0;
      let hasExponent = false;
      for (; ; at++) {
        const part = text.charCodeAt(at);
        if (isDigit(part)) digits++;
        else if (part === SMALL_E || part === LARGE_E) hasExponent = true;
        else if (part !== POINT && part !== MINUS && part !== PLUS) break;
      }
      if (!hasExponent && digits <= DIGITS_MAX) continue;
      const number = text.slice(start, at);
      // Invalid numbers stay, for the parser to reject.
      if (!NUMBER.test(number)) continue;
      numbers.push(number);
      pieces.push(text.slice(copied, start), `${numbers.length}e-300`);
      copied = at;
    }
  }
  pieces.push(text.slice(copied));
  return pieces.join("");
}

/** Replaces placeholders by the converted numbers. */
function restore(value: unknown, restoreNumber: (placeholder: number) => unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (isPlaceholder(item)) value[index] = restoreNumber(item);
      else if (typeof item === "object") restore(item, restoreNumber);
    }
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (!isPlaceholder(field)) {
      if (typeof field === "object") restore(field, restoreNumber);
    } else if (key === "__proto__") {
      // An assignment would set the prototype.
      Object.defineProperty(fields, key, {
        value: restoreNumber(field),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else fields[key] = restoreNumber(field);
  }
}

function isPlaceholder(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < PLACEHOLDER_MAX;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The index after the closing quote of the string whose opening quote is here. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH && escapes > start + 1) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
    at = end + 1;
  }
}
