/** The state of the page with every step that led to it, so that all of them can be undone, and the state in links. */
import { useEffect, useRef, useState } from "preact/hooks";

import { valueAt } from "../../../book/short/fields.ts";
import { parseState, type PlayState } from "../../play-state.ts";
import { listAt, replaceValue, tryParseJson } from "../../play/book-edits.ts";
import type { PlayPeriod } from "../../play/play-periods.ts";
import type { ChosenFile } from "./file-events.ts";

/** What a step of the history restores. */
export interface Session {
  readonly state: PlayState;
  /** The file that is priced instead of the typed usage. */
  readonly file?: ChosenFile | undefined;
  /** Different for each step. */
  readonly step: number;
  /** Whether the step replaced everything, so that its invoice has nothing in common with the one before. */
  readonly isNew: boolean;
}

export interface SessionChange {
  /** The parts that change; all parts if it is new. */
  readonly state?: Partial<PlayState>;
  /** Null removes the file. */
  readonly file?: ChosenFile | null;
  readonly isNew?: boolean;
  /** Whether it is a step of its own, also if it is made in the field of the last one. */
  readonly isStep?: boolean;
}

/** Milliseconds without a change after which typing in the same field is another step. */
const PAUSE_MS = 1000;
/** The maximum number of steps that can be undone. */
const STEPS_MAX = 200;

export interface History {
  readonly session: Session;
  readonly change: (change: SessionChange) => void;
  /** Absent if there is nothing to undo. */
  readonly undo: (() => void) | undefined;
}

export function useHistory(initialState: PlayState): History {
  const lastStep = useRef(0);
  const typing = useRef<{ readonly element: Element | null; readonly at: number }>({ element: null, at: 0 });
  const [{ past, session }, setHistory] = useState<{ readonly past: readonly Session[]; readonly session: Session }>({
    past: [],
    session: { state: initialState, step: 0, isNew: true },
  });
  const change = ({ state = {}, file, isNew = false, isStep = false }: SessionChange): void => {
    const element = document.activeElement;
    const isTyping = element?.matches("textarea, input:is([type=text], [type=range])") === true && !isNew && !isStep;
    const isSameStep =
      isTyping && typing.current.element === element && Date.now() - typing.current.at < PAUSE_MS && past.length > 0;
    typing.current = { element: isTyping ? element : null, at: Date.now() };
    if (!isSameStep) lastStep.current++;
    const step = lastStep.current;
    setHistory((before) => ({
      past: isSameStep ? before.past : [...before.past, before.session].slice(-STEPS_MAX),
      session: {
        // An example has no billing period yet; that of the plan before it may not be one of it.
        state: isNew ? (state as PlayState) : { ...before.session.state, ...state },
        file: file === undefined ? before.session.file : (file ?? undefined),
        step,
        isNew: isNew || (isSameStep && before.session.isNew),
      },
    }));
  };
  const undo = (): void => {
    typing.current = { element: null, at: 0 };
    setHistory((before) => {
      const last = before.past.at(-1);
      if (last === undefined) return before;
      return {
        past: before.past.slice(0, -1),
        session: { ...last, step: ++lastStep.current, isNew: before.session.isNew },
      };
    });
  };
  return { session, change, undo: past.length === 0 ? undefined : undo };
}

/** The invoices before the last step; undefined after a step that replaced everything. */
export function usePeriodsBefore(
  periods: readonly PlayPeriod[],
  { step, isNew }: Pick<Session, "step" | "isNew">,
): readonly PlayPeriod[] | undefined {
  const last = useRef<{ step: number; periods: readonly PlayPeriod[]; before: readonly PlayPeriod[] | undefined }>({
    step,
    periods,
    before: undefined,
  });
  if (last.current.periods !== periods) {
    const before = isNew ? undefined : last.current.step === step ? last.current.before : last.current.periods;
    last.current = { step, periods, before };
  }
  return last.current.before;
}

/** A value, delayed until it stops changing. */
export function useDebounced<T>(value: T, pause: number): T {
  const [debouncedValue, setDebouncedValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebouncedValue(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return debouncedValue;
}

const LINK_PREFIX = "#v1.";

/** The maximum URL length that every browser supports. */
const LINK_LENGTH_MAX = 1_000_000;

/** The maximum size of a decompressed state, because a short link can decompress to gigabytes. */
const STATE_BYTES_MAX = 1 << 24;

/** The URL fragment of a state; undefined if it is too long or the browser can't compress. */
export async function createLink(state: PlayState): Promise<string | undefined> {
  if (typeof CompressionStream === "undefined") return undefined;
  const compressedStream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(compressedStream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const link = `${LINK_PREFIX}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length > LINK_LENGTH_MAX ? undefined : link;
}

/** Reads the state from a URL fragment: undefined if it is empty, `"broken"` if it is truncated or invalid. */
export async function readStateFromLink(hash: string): Promise<PlayState | "broken" | undefined> {
  if (hash.length <= 1) return undefined;
  if (!hash.startsWith(LINK_PREFIX)) return "broken";
  try {
    const binary = atob(hash.slice(LINK_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stateStream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const text = await new Response(stateStream.pipeThrough(createByteLimit(STATE_BYTES_MAX))).text();
    const state = parseState(text);
    return state === undefined ? "broken" : { ...state, book: withSeats(state.book, text) };
  } catch {
    return "broken";
  }
}

/** The book of a state with the license quantities that older links have beside it. */
function withSeats(book: string, state: string): string {
  const seats = listAt(tryParseJson(state), ["seats"]);
  const licenseUpdates = seats.map((seat) => ({
    licenseId: valueAt(seat, ["of"]),
    quantity: valueAt(seat, ["quantity"]),
    effectiveFrom: valueAt(seat, ["date"]),
  }));
  return seats.length === 0 ? book : replaceValue(book, ["accounts", 0, "licenseUpdates"], licenseUpdates);
}

/** Passes on bytes, and fails for too many. */
function createByteLimit(bytesMax: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytesLeft = bytesMax;
  return new TransformStream({
    transform(part, controller) {
      bytesLeft -= part.byteLength;
      if (bytesLeft < 0) throw new RangeError("expected fewer bytes");
      controller.enqueue(part);
    },
  });
}
