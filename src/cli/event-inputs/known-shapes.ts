/**
 * The shapes that a file's lines have had so far: few, because few programs write one file.
 *
 * @module
 */
import type { EventSlots } from "../../metering/event-slots.ts";
import { learnShape } from "./learn-shape.ts";
import { matchShape } from "./line-shape.ts";
import { bindShape, createTextCaches, type ShapeFiller } from "./shape-filler.ts";

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** So many shapes are tried on a line before it is read in full. */
const SHAPES_MAX = 16;
/** After so many lines in vain, no more is learned: such a file has no shapes. */
const FAILURES_MAX = 1000;
/** A longer line is not learned from. */
const LEARNABLE_BYTES_MAX = 1 << 16;
/** Room for the spans of the largest shape. */
const SPANS_LENGTH = 1024;

/** Shapes of one file, the last one matched first. */
export interface KnownShapes {
  /** First byte and byte after the last of each slot of the line that was matched last. */
  readonly spans: Int32Array;
  /** The byte after the line end of the line that was matched last. */
  readonly after: number;
  /** The shape of the whole line that begins at `start`; undefined when none fits. */
  match(bytes: Buffer, start: number): ShapeFiller | undefined;
  /** Learns from a line that is JSON. */
  learn(line: Buffer): void;
}

/** @param findSlots the slots of a schema; undefined when its lines are to be read in full */
export function createKnownShapes(findSlots: (schemaName: string) => EventSlots | undefined): KnownShapes {
  const spans = new Int32Array(SPANS_LENGTH);
  const caches = createTextCaches();
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
      const filler = shape === undefined || slots === undefined ? undefined : bindShape(shape, slots, caches);
      if (filler === undefined) failures++;
      else fillers.push(filler);
    },
  };
}

/** The byte after the line end at `at`; −1 when there is none there. */
function afterLineEnd(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  if (bytes[at] === LINE_END) return at + 1;
  return bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_END ? at + 2 : -1;
}
