/** The line shapes seen so far in a file. They are few, because few programs write one file. */
import type { EventSlots } from "../../metering/event-slots.ts";
import { learnShape } from "./learn-shape.ts";
import { matchShape } from "./line-shape.ts";
import { bindShape, type ShapeFiller } from "./shape-filler.ts";

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** The maximum number of shapes to try before a line is parsed. */
const SHAPES_MAX = 16;
/** The number of failures after which no more shapes are learned. */
const FAILURES_MAX = 1000;
/** The maximum bytes of a line to learn from. */
const LEARNABLE_BYTES_MAX = 1 << 16;
/** The capacity for the spans of the largest shape. */
const SPANS_LENGTH = 1024;

/** The shapes of one file, most recently matched first. */
export interface KnownShapes {
  /** The start and end (exclusive) of each slot in the last matched line. */
  readonly spans: Int32Array;
  /** The offset after the end of the last matched line. */
  readonly after: number;
  /** The shape of the whole line at `start`; undefined if none matches. */
  match(bytes: Buffer, start: number): ShapeFiller | undefined;
  /** Learns from a line that is valid JSON. */
  learn(line: Buffer): void;
}

/** @param findSlots returns the slots of a schema; undefined if its lines must be parsed */
export function createKnownShapes(findSlots: (schemaName: string) => EventSlots | undefined): KnownShapes {
  const spans = new Int32Array(SPANS_LENGTH);
  const fillers: ShapeFiller[] = [];
  let viewedBytes: Buffer | undefined;
  let view: DataView = new DataView(new ArrayBuffer(0));
  let after = 0;
  let failures = 0;

  return {
    spans,
    get after() {
      return after;
    },
    match(bytes, start) {
      if (bytes !== viewedBytes) {
        viewedBytes = bytes;
        view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
      for (let index = 0; index < fillers.length; index++) {
        const filler = fillers[index];
        if (filler === undefined) continue;
        after = afterLineEnd(bytes, matchShape(filler.shape, bytes, view, start, spans));
        if (after < 0) continue;
        if (index > 0) {
          fillers.copyWithin(1, 0, index);
          fillers[0] = filler;
        }
        return filler;
      }
      return undefined;
    },
    learn(line) {
      if (fillers.length >= SHAPES_MAX || failures >= FAILURES_MAX || line.length > LEARNABLE_BYTES_MAX) return;
      const shape = learnShape(line.toString("latin1"));
      const slots = shape === undefined ? undefined : findSlots(shape.schemaName);
      const filler = shape === undefined || slots === undefined ? undefined : bindShape(shape, slots);
      if (filler === undefined) failures++;
      else fillers.push(filler);
    },
  };
}

/** The offset after the line end at `at`; −1 if there is none. */
function afterLineEnd(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  if (bytes[at] === LINE_END) return at + 1;
  return bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_END ? at + 2 : -1;
}
