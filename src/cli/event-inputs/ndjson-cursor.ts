/**
 * Reads NDJSON files of events: one event per line in the standard form or, with a map, any object.
 *
 * Lines with a known shape are read by it, all others are parsed, with the same result (S1.2).
 */
import { type Instant, tryParseInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { MarkCheck } from "../../event-files/cell-texts.ts";
import type { EventMaker } from "../../event-files/event-file-map.ts";
import { LINE_BYTES_MAX, NOT_UTF8, TOO_LONG } from "../../event-files/input-error.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import { countKeys, scanJson, findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson, parsePlainJson } from "../../numbers/json.ts";
import { createProblem, type Problem } from "../../problem-table.ts";
import type { ByteSource } from "./byte-source.ts";
import { readLineBlocks } from "./line-blocks.ts";
import {
  createKnownShapes,
  type KnownShapes,
  createInstantReader,
  type InstantReader,
  isPlainNumber,
  type ShapeFiller,
} from "./shape-filler.ts";

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const BLANK = /^[ \t\r\n]*$/;
/** Below this depth, keys are counted to detect repeated ones. Deeper lines are searched for them. */
const KEY_COUNT_DEPTH_MAX = 200;

/** Options of reading lines. */
export interface NdjsonOptions {
  /** Makes events from other objects, which are always parsed. */
  readonly makeEvent?: EventMaker<unknown> | undefined;
  /** Ended with the file. */
  readonly marks?: MarkCheck | undefined;
}

/** A parsed line. */
type ParsedLine = { readonly event: unknown } | { readonly reason: Problem };
/** A line that is blank or not read yet. */
const NO_EVENT: ParsedLine = { reason: createProblem("$", "INVALID_JSON", { reason: "" }) };

/** The state of a cursor. The head is a line of a known shape, or a parsed one. */
interface CursorState {
  /** A block of lines, the start of the head in it, and its end (exclusive). */
  bytes: Buffer;
  start: number;
  position: number;
  line: number;
  at: Instant | undefined;
  /** The head's shape, whose spans are in {@link KnownShapes}. */
  filler: ShapeFiller | undefined;
  parsedLine: ParsedLine;
}

/** A cursor over an NDJSON file. */
export function createNdjsonCursor(
  file: string,
  source: ByteSource,
  sink: EventSink,
  { makeEvent, marks }: NdjsonOptions = {},
): EventCursor {
  const blocks = readLineBlocks(source.chunks);
  const shapes = createKnownShapes((schemaName) => sink.findSlots?.(schemaName));
  const instants = createInstantReader();
  const state: CursorState = {
    bytes: Buffer.alloc(0),
    start: 0,
    position: 0,
    line: 0,
    at: undefined,
    filler: undefined,
    parsedLine: NO_EVENT,
  };
  let isOversized = false;

  return {
    file,
    get line() {
      return state.line;
    },
    get at() {
      return state.at;
    },
    advance() {
      if (isOversized) {
        isOversized = false;
        setHead(state, { reason: TOO_LONG });
        return true;
      }
      while (state.position < state.bytes.length) {
        const filler = shapes.match(state.bytes, state.position);
        if (filler !== undefined && advanceByShape(state, filler, shapes, instants)) return true;
        const learner = filler === undefined && makeEvent === undefined ? shapes : undefined;
        if (advanceByParsing(state, { learner, makeEvent })) return true;
      }
      return false;
    },
    async fill() {
      const { value: block } = await blocks.next();
      isOversized = block === "oversized";
      state.bytes = Buffer.isBuffer(block) ? block : Buffer.alloc(0);
      state.position = 0;
      if (block === undefined) marks?.end();
      return block !== undefined;
    },
    take: () => emitHead(file, state, shapes, sink),
    close: async () => source.close(),
  };
}

/**
 * Advances over a line of a known shape; its values are read when it is taken.
 *
 * @returns false if its timestamp or one of its numbers isn't plain, so that it must be parsed
 */
function advanceByShape(
  state: CursorState,
  filler: ShapeFiller,
  shapes: KnownShapes,
  instants: InstantReader,
): boolean {
  const { bytes } = state;
  const { spans } = shapes;
  for (const span of filler.numberSpans) {
    if (!isPlainNumber(bytes, spans[2 * span] ?? 0, spans[2 * span + 1] ?? 0)) return false;
  }
  const from = spans[2 * filler.timestampSpan] ?? 0;
  const until = spans[2 * filler.timestampSpan + 1] ?? 0;
  const instant = instants.readInstant(bytes, from, until) ?? tryParseInstant(bytes.toString("latin1", from, until));
  if (instant === undefined) return false;
  state.filler = filler;
  state.at = instant;
  state.start = state.position;
  state.position = shapes.after;
  state.line++;
  return true;
}

/**
 * Advances over a line by parsing it. The `learner`, if given, learns its shape.
 *
 * @returns false if it is blank
 */
function advanceByParsing(
  state: CursorState,
  { learner, makeEvent }: { readonly learner: KnownShapes | undefined } & Pick<NdjsonOptions, "makeEvent">,
): boolean {
  const text = sliceLine(state.bytes, state.position);
  state.start = state.position;
  state.position = state.bytes.indexOf(LINE_END, state.position) + 1;
  const result = parseLine(text);
  const isEvent = result !== undefined && "event" in result;
  setHead(
    state,
    isEvent && makeEvent !== undefined ? toParsedLine(makeEvent(result.event, state.line + 1)) : (result ?? NO_EVENT),
  );
  if (isEvent) learner?.learn(text);
  return result !== undefined;
}

function toParsedLine(event: ReturnType<EventMaker<unknown>>): ParsedLine {
  return "code" in event ? { reason: event } : { event };
}

/** Passes the head to the sink. If a value isn't plain, the line is parsed. */
function emitHead(file: string, state: CursorState, shapes: KnownShapes, sink: EventSink): boolean {
  const { filler, at, line } = state;
  if (filler !== undefined && at !== undefined) {
    if (filler.fillSlots(state.bytes, shapes.spans)) {
      filler.slots.timestamp = at;
      return sink.onFilledSlots?.(file, line, filler.slots) ?? true;
    }
    state.parsedLine = parseLine(sliceLine(state.bytes, state.start)) ?? NO_EVENT;
  }
  const { parsedLine } = state;
  return "event" in parsedLine
    ? sink.onEvent(file, line, parsedLine.event)
    : sink.onBadLine(file, line, parsedLine.reason);
}

/** Makes a parsed line the head. */
function setHead(state: CursorState, parsedLine: ParsedLine): void {
  state.line++;
  state.filler = undefined;
  state.parsedLine = parsedLine;
  state.at = "event" in parsedLine ? readTimestamp(parsedLine.event) : undefined;
}

/** The line at `start` without its LF or CRLF. */
function sliceLine(bytes: Buffer, start: number): Buffer {
  const end = bytes.indexOf(LINE_END, start);
  return bytes.subarray(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
}

/** Parses a line; undefined if it is blank. */
function parseLine(text: Buffer): ParsedLine | undefined {
  if (text.length > LINE_BYTES_MAX) return { reason: TOO_LONG };
  let lineText: string;
  try {
    lineText = utf8.decode(text);
  } catch {
    return { reason: NOT_UTF8 };
  }
  if (BLANK.test(lineText)) return undefined;
  try {
    const { longNumbers, depth, keys } = scanJson(text);
    const event = longNumbers > 0 ? parseJson(lineText) : parsePlainJson(lineText);
    if (depth < KEY_COUNT_DEPTH_MAX && countKeys(event) === keys) return { event };
    const [repeatedKey] = findRepeatedKeys(lineText, 1);
    if (repeatedKey === undefined) return { event };
    return { reason: createProblem("$", "REPEATED_KEY", { column: repeatedKey.column }) };
  } catch (error) {
    if (error instanceof RatebookError)
      return { reason: createProblem("$", "INVALID_JSON", { reason: error.message }) };
    throw error;
  }
}

function readTimestamp(event: unknown): Instant | undefined {
  if (typeof event !== "object" || event === null || !Object.hasOwn(event, "timestamp")) return undefined;
  const { timestamp } = event as { readonly timestamp: unknown };
  return typeof timestamp === "string" ? tryParseInstant(timestamp) : undefined;
}
