/** The playground as its parts see it: the session, what it costs, what is shown, and the ways to change it. */
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { PlayState } from "../../play-state.ts";
import { computeBill, type PlayBill, type PlayProblem } from "../../play/play-bill.ts";
import { describeDifference, emptyPeriod, findNextCycle, isDay, type PlayPeriod } from "../../play/play-periods.ts";
import type { WorkerMessage, WorkerRequest } from "./file-events.ts";
import { createLink, type History, type Session, useDebounced, useHistory, usePeriodsBefore } from "./session.ts";

/** Milliseconds without typing after which everything is priced again. */
const PAUSE_MS = 120;

export interface Play extends History {
  readonly bill: PlayBill;
  /** Of the plan, also where a file is priced in place of the typed usage. */
  readonly problems: readonly PlayProblem[];
  readonly fileResult: FileResult;
  readonly periods: readonly PlayPeriod[];
  /** The shown period. */
  readonly period: PlayPeriod;
  /** The same period before the last step. */
  readonly before: PlayPeriod | undefined;
  readonly isLinkable: boolean;
  /** Whether a change is not priced yet. */
  readonly isBusy: boolean;
  /** The key of the shown curve. */
  readonly curve: string | undefined;
  readonly selectCurve: (key: string) => void;
  /** Whether the book is shown as JSON. */
  readonly isJson: boolean;
  readonly setJson: (isJson: boolean) => void;
  /** The text of the book as JSON. */
  readonly textAreaRef: RefObject<HTMLTextAreaElement | null>;
  readonly changeState: (part: Partial<PlayState>) => void;
}

/** Of parts that need all of it. */
export interface PlayProps {
  readonly play: Play;
}

/** @param source the script of the page, which the worker runs too */
export function usePlay(initialState: PlayState, source: string): Play {
  const history = useHistory(initialState);
  const { session, change, undo } = history;
  const settled = useDebounced(session, PAUSE_MS);
  const { book, usage, events, from, until } = settled.state;
  // The shown billing period changes no price.
  const bill = useMemo(() => computeBill(settled.state), [book, usage, events, from, until]);
  const isLinkable = useAddress(settled.state);
  const fileResult = useFilePrices(settled, source);
  const isFile = session.file !== undefined;
  const periods = isFile ? fileResult.periods : bill.periods;
  const step = isFile ? fileResult.step : settled.step;
  const periodsBefore = usePeriodsBefore(periods, { step, isNew: settled.isNew });
  const period = findShownPeriod(periods, session.state, bill, isFile);
  const [isJson, setJson] = useState(false);
  const [selectedCurve, selectCurve] = useState<string | undefined>();
  const textAreaRef = useRef<HTMLTextAreaElement>(null);
  useUndoKey(undo);
  return {
    ...history,
    bill,
    problems: isFile ? bill.problems.filter(({ line }) => line !== undefined) : bill.problems,
    fileResult,
    periods,
    period,
    before: periodsBefore?.find((each) => each.from === period.from),
    isLinkable,
    isBusy: settled !== session,
    curve: bill.curves.has(selectedCurve ?? "") ? selectedCurve : [...bill.curves.keys()][0],
    selectCurve,
    isJson,
    setJson,
    textAreaRef,
    changeState: (part) => change({ state: part }),
  };
}

/** The result of a file, and how far it is read. */
interface FileResult {
  /** The last message of the worker; absent for a file that is not priced yet. */
  readonly message: WorkerMessage | undefined;
  /** The last invoices of the file, also while it is priced again. */
  readonly periods: readonly PlayPeriod[];
  /** The step with the book that they are priced with. */
  readonly step: number;
}

const NO_RESULT: FileResult = { message: undefined, periods: [], step: -1 };

/** Prices the file of a session in a worker, again whenever the book changes. @param source the script of the worker */
function useFilePrices({ file: chosen, state: { book }, step }: Session, source: string): FileResult {
  const [{ file: pricedFile, ...result }, setResult] = useState<FileResult & { readonly file?: File }>(NO_RESULT);
  const { file, map, isReady = false, failure } = chosen ?? {};
  const readyMap = isReady ? map : undefined;
  useEffect(() => {
    if (file === undefined || !isReady) return undefined;
    const worker = startWorker(source, { book, file, map: readyMap }, (message) =>
      setResult((before) => {
        const periods = before.file === file ? before.periods : [];
        if (message.kind === "done") return { file, message, periods: message.periods, step };
        return { file, message, step: before.step, periods: message.kind === "failed" ? [] : periods };
      }),
    );
    return () => worker?.terminate();
    // A step that changes neither the file nor the book prices nothing.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [file, readyMap, isReady, book, source]);
  if (failure !== undefined) return { ...NO_RESULT, message: { kind: "failed", message: failure } };
  return isReady && pricedFile === file ? result : NO_RESULT;
}

/** Starts a worker that prices a file and reports progress; undefined if the browser has no workers. */
function startWorker(
  source: string,
  request: WorkerRequest,
  onMessage: (message: WorkerMessage) => void,
): Worker | undefined {
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => onMessage(data));
    worker.addEventListener("error", () => onMessage({ kind: "failed", message: "the file could not be priced here" }));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(request);
    return worker;
  } catch {
    onMessage({
      kind: "failed",
      message: "this browser does not support workers; use ratebook preview on the command line",
    });
    return undefined;
  }
}

/** The period whose invoices are shown; an empty one if it has none. */
export function findShownPeriod(
  periods: readonly PlayPeriod[],
  { shown: chosen, from, until }: PlayState,
  { book }: PlayBill,
  isFile: boolean,
): PlayPeriod {
  const shown = chosen !== undefined && isDay(chosen) ? chosen : undefined;
  const found = periods.find((period) => shown === undefined || (period.from <= shown && shown < period.until));
  if (found !== undefined) return found;
  const [first] = periods;
  if (first !== undefined && (isFile || shown === undefined)) return first;
  const cycle =
    book === undefined || shown === undefined ? undefined : findNextCycle(book, { from: shown, until: shown }, "later");
  return emptyPeriod(cycle ?? { from, until });
}

/** The sum of the invoices of a period. */
export function formatTotal({ totals }: PlayPeriod): string {
  return totals.map(({ text }) => text).join(" + ") || "–";
}

/** How the last step changed the total: `+ $9.00`. */
export function describeChange(period: PlayPeriod, before: PlayPeriod | undefined): string | undefined {
  const [[now], [old]] = [period.totals, before?.totals ?? []];
  if (now === undefined || old === undefined || now.currency !== old.currency) return undefined;
  return describeDifference(now, old);
}

/** Keeps the state in the address of the page. @returns whether it fits */
function useAddress(state: PlayState): boolean {
  const [isLinkable, setLinkable] = useState(true);
  useEffect(() => {
    let isMounted = true;
    const updateAddress = async (): Promise<void> => {
      const hash = await createLink(state);
      // Keeps a link that was pasted into the URL meanwhile.
      if (!isMounted) return;
      setLinkable(hash !== undefined);
      // Browsers limit URL changes to about 200 in ten seconds.
      if ((hash ?? "") !== location.hash) history.replaceState(null, "", hash ?? "#");
    };
    void updateAddress();
    return () => {
      isMounted = false;
    };
  }, [state]);
  return isLinkable;
}

/** Ctrl+Z outside of text fields, which have an undo of their own. */
function useUndoKey(undo: (() => void) | undefined): void {
  useEffect(() => {
    const handleKey = (event: KeyboardEvent): void => {
      const isField = document.activeElement?.matches("textarea, input[type=text]") === true;
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || isField) return;
      event.preventDefault();
      undo?.();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  }, [undo]);
}
