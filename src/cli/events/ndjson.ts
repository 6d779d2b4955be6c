/**
 * Reads an NDJSON file of events: one event a line, in the reference's shape or, with a map, any object.
 *
 * Lines that look like one before them are read by their shape, all others in full; both give the same (S1.2).
 *
 * @module
 */
import { type Instant, tryParseInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { countKeys, scanJson } from "../../numbers/json-scan.ts";
import { findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson, parsePlainJson } from "../../numbers/json.ts";
import type { EventCursor } from "../../records/event-cursor.ts";
import type { EventSink } from "../../records/event-sink.ts";
import { LINE_BYTES_MAX, NOT_UTF8, TOO_LONG } from "../../records/lines.ts";
import type { EventMaker } from "../../records/mapped-event.ts";
import type { ByteSource } from "./byte-source.ts";
import { createInstantReader, type InstantReader, isPlainNumber } from "./bytes.ts";
import { createKnownShapes, type KnownShapes } from "./known-shapes.ts";
import { createLineBlocks } from "./line-blocks.ts";
import type { ShapeFiller } from "./shape-filler.ts";

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const BLANK = /^[ \t\r\n]*$/;
/** Levels below which the keys of a line are counted by walking through it. */
const WALKED_LEVELS = 200;

/** How lines are read. */
export interface NdjsonOptions {
  /** How much is read at once. */
  readonly bufferBytes: number;
  /** Whether shapes are learned; without them every line is read in full. */
  readonly shapes: boolean;
  /** Makes events of objects of another kind; they are read in full. */
  readonly makeEvent?: EventMaker<unknown> | undefined;
  /** Whether the source begins where its file does, perhaps with a byte order mark; default true. */
  readonly atFileStart?: boolean;
}

/** A cursor that knows where its head is. */
export interface NdjsonCursor extends EventCursor {
  /** The first byte of the head in the source. */
  readonly offset: number;
}

/** A line that was read in full. */
type Parsed = { readonly event: unknown } | { readonly reason: string };

/** Where a file is. The head is a line of a known shape, or else one that was read in full. */
interface Place {
  bytes: Buffer;
  /** The head's first byte, the byte after it, and the end of the block. */
  start: number;
  position: number;
  end: number;
  line: number;
  at: Instant | undefined;
  /** The head's shape; its spans are those of {@link KnownShapes}. */
  filler: ShapeFiller | undefined;
  parsed: Parsed;
}

function emptyPlace(bytes: Buffer): Place {
  return { bytes, start: 0, position: 0, end: 0, line: 0, at: undefined, filler: undefined, parsed: { reason: "" } };
}

/** A cursor over an NDJSON file. */
export function createNdjsonCursor(
  file: string,
  source: ByteSource,
  sink: EventSink,
  options: NdjsonOptions,
): NdjsonCursor {
  const blocks = createLineBlocks(source, options.bufferBytes, options.atFileStart);
  const { makeEvent } = options;
  const learns = options.shapes && makeEvent === undefined;
  const shapes = createKnownShapes((schemaName) => (learns ? sink.slotsOf(schemaName) : undefined));
  const instants = createInstantReader();
  const { bytes } = blocks;
  const place = emptyPlace(bytes);
  let oversized = false;

  return {
    file,
    get line() {
      return place.line;
    },
    get at() {
      return place.at;
    },
    get offset() {
      return blocks.base + place.start;
    },
    advance() {
      if (oversized) {
        oversized = false;
        place.start = blocks.passedOver - blocks.base;
        goTo(place, { reason: TOO_LONG });
        return true;
      }
      while (place.position < place.end) {
        const found = shapes.match(place.bytes, place.position);
        if (found !== undefined && advanceShaped(place, found, shapes, instants)) return true;
        const learning = found === undefined && makeEvent === undefined ? shapes : undefined;
        if (advanceParsed(place, { learning, makeEvent })) return true;
      }
      return false;
    },
    async fill() {
      const found = await blocks.next();
      place.bytes = blocks.bytes;
      place.position = blocks.start;
      place.end = blocks.end;
      oversized = found === "oversized";
      return found !== "end";
    },
    take: () => takeHead(file, place, shapes, sink),
    close: async () => source.close(),
  };
}

/**
 * Goes past a line of a known shape; its values are looked at when it is taken.
 *
 * @returns false when its timestamp is none, or one of its numbers is not plain: it is then to be read in full
 */
function advanceShaped(place: Place, filler: ShapeFiller, shapes: KnownShapes, instants: InstantReader): boolean {
  const { bytes } = place;
  const { spans } = shapes;
  for (const span of filler.numberSpans) {
    if (!isPlainNumber(bytes, spans[2 * span] ?? 0, spans[2 * span + 1] ?? 0)) return false;
  }
  const from = spans[2 * filler.timestampSpan] ?? 0;
  const until = spans[2 * filler.timestampSpan + 1] ?? 0;
  const instant = instants.read(bytes, from, until) ?? tryParseInstant(bytes.toString("latin1", from, until));
  if (instant === undefined) return false;
  place.filler = filler;
  place.at = instant;
  place.start = place.position;
  place.position = shapes.after;
  place.line++;
  return true;
}

/**
 * Goes past a line by reading it in full.
 *
 * @param how where its shape is remembered, and what makes an event of it
 * @returns false when it is blank
 */
function advanceParsed(
  place: Place,
  { learning, makeEvent }: { readonly learning: KnownShapes | undefined } & Pick<NdjsonOptions, "makeEvent">,
): boolean {
  const text = lineAt(place.bytes, place.position);
  place.start = place.position;
  place.position = place.bytes.indexOf(LINE_END, place.position) + 1;
  const read = readLine(text);
  const isEvent = read !== undefined && "event" in read;
  goTo(
    place,
    isEvent && makeEvent !== undefined ? made(makeEvent(read.event, place.line + 1)) : (read ?? { reason: "" }),
  );
  if (isEvent) learning?.learn(text);
  return read !== undefined;
}

function made(event: ReturnType<EventMaker<unknown>>): Parsed {
  return typeof event === "string" ? { reason: event } : { event };
}

/** Hands the head on. What its shape promised and a value did not keep is read in full. */
function takeHead(file: string, place: Place, shapes: KnownShapes, sink: EventSink): boolean {
  const { filler, at, line } = place;
  if (filler !== undefined && at !== undefined) {
    if (filler.fill(place.bytes, shapes.spans)) {
      filler.slots.timestamp = at;
      return sink.filled(file, line, filler.slots);
    }
    place.parsed = readLine(lineAt(place.bytes, place.start)) ?? { reason: "" };
  }
  const { parsed } = place;
  return "event" in parsed ? sink.event(file, line, parsed.event) : sink.badLine(file, line, parsed.reason);
}

/** Makes a line that was read in full the head. */
function goTo(place: Place, parsed: Parsed): void {
  place.line++;
  place.filler = undefined;
  place.parsed = parsed;
  place.at = "event" in parsed ? timestampOf(parsed.event) : undefined;
}

/** The line that begins at `start`, without its line end and a carriage return before that. */
function lineAt(bytes: Buffer, start: number): Buffer {
  const end = bytes.indexOf(LINE_END, start);
  return bytes.subarray(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
}

/** Reads a line in full; undefined when it is blank. */
function readLine(text: Buffer): Parsed | undefined {
  if (text.length > LINE_BYTES_MAX) return { reason: TOO_LONG };
  let decoded: string;
  try {
    decoded = utf8.decode(text);
  } catch {
    return { reason: NOT_UTF8 };
  }
  if (BLANK.test(decoded)) return undefined;
  try {
    const { longNumbers, depth, keys } = scanJson(text);
    const event = longNumbers > 0 ? parseJson(decoded) : parsePlainJson(decoded);
    if (depth < WALKED_LEVELS && countKeys(event) === keys) return { event };
    const [repeated] = findRepeatedKeys(decoded, 1);
    if (repeated === undefined) return { event };
    return { reason: `expected each key of an object once: one is given again at column ${repeated.column}` };
  } catch (error) {
    if (error instanceof RatebookError) return { reason: error.message };
    throw error;
  }
}

function timestampOf(event: unknown): Instant | undefined {
  if (typeof event !== "object" || event === null || !Object.hasOwn(event, "timestamp")) return undefined;
  const { timestamp } = event as { readonly timestamp: unknown };
  return typeof timestamp === "string" ? tryParseInstant(timestamp) : undefined;
}
