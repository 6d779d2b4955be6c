/**
 * The playground in a browser: a plan beside its usage, and the resulting invoice. The same script runs as the worker that prices files, in which there is no document.
 */
import "../common/common.css";
import "./play.css";
import { render, type JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { PlayExample, PlayState } from "../../play-state.ts";
import { readEditableValue } from "../../play/book-edits.ts";
import { computeBill, type PlayBill, type PlayProblem, withEvenUsage } from "../../play/play-bill.ts";
import { type PlayPeriod, findNextCycle, emptyPeriod, isDay } from "../../play/play-periods.ts";
import type { Days } from "../../play/typed-usage.ts";
import { Bar } from "./bar.tsx";
import { Curve } from "./curve.tsx";
import { type WorkerRequest, priceFile } from "./file-events.ts";
import { FilePanel, type FileResult, useFilePrices } from "./file-panel.tsx";
import { describeChange, formatTotal, InvoiceView } from "./invoice-view.tsx";
import { findProblemStart, PlanPanel } from "./plan-panel.tsx";
import { createLink, readStateFromLink, type Session, useDebounced, useHistory, usePeriodsBefore } from "./session.ts";

/** The recipes, inserted by the build. */
declare const EXAMPLES: readonly PlayExample[];

/** The title of the example to start with. */
const FIRST_EXAMPLE = "Fee, seats and calls";

/** The data embedded in the page. */
interface PlayData {
  /** The initial state. Default: an example. */
  readonly state?: PlayState;
}

/** Milliseconds without typing after which everything is priced again. */
const PAUSE_MS = 120;
/** Milliseconds without a change after which screen readers hear the total. */
const ANNOUNCEMENT_MS = 1000;

/** What the session costs, and what its last step changed. */
interface Prices {
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
}

function usePrices(session: Session, source: string): Prices {
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
  const before = periodsBefore?.find((each) => each.from === period.from);
  const problems = isFile ? bill.problems.filter(({ line }) => line !== undefined) : bill.problems;
  return { bill, problems, fileResult, periods, period, before, isLinkable, isBusy: settled !== session };
}

/** The page. @param source the page's script, which the worker runs too */
function Playground({
  source,
  initialState,
  isBroken,
}: {
  readonly source: string;
  readonly initialState: PlayState;
  readonly isBroken: boolean;
}): JSX.Element {
  const { session, change, undo } = useHistory(initialState);
  const { state, file } = session;
  const prices = usePrices(session, source);
  const { bill, problems, fileResult, period } = prices;
  const [isJson, setJson] = useState(false);
  const [selectedCurve, setSelectedCurve] = useState<string | undefined>();
  const textAreaRef = useRef<HTMLTextAreaElement>(null);
  const curve = bill.curves.has(selectedCurve ?? "") ? selectedCurve : [...bill.curves.keys()][0];
  const changeState = (part: Partial<PlayState>): void => change({ state: part });
  const showProblem = (problem: PlayProblem): void => {
    setJson(true);
    // The text area exists after the next rendering.
    setTimeout(() => {
      const start = findProblemStart(state.book, problem);
      textAreaRef.current?.focus();
      textAreaRef.current?.setSelectionRange(start, start + 1);
    });
  };
  useUndoKey(undo);
  return (
    <>
      <Bar
        examples={EXAMPLES}
        session={session}
        bill={bill}
        isJson={isJson}
        isLinkable={prices.isLinkable}
        onJson={setJson}
        onExample={(example) => change({ state: prepareState(example), file: null, isNew: true })}
        undo={undo}
      />
      {isBroken && (
        <p class="alert" role="alert">
          Broken link; showing an example.
        </p>
      )}
      <main>
        <PlanPanel
          state={state}
          problems={problems}
          cycles={bill.cycles}
          isJson={isJson}
          textAreaRef={textAreaRef}
          onChange={changeState}
          onProblem={showProblem}
          context={{
            state,
            book: bill.book,
            period,
            file: file?.file.name,
            problems,
            findUpTo: (key) => bill.curves.get(key)?.upTo,
            selected: curve,
            onSelect: setSelectedCurve,
            onUsage: (rows) => changeState({ usage: rows }),
          }}
        >
          <FilePanel
            chosen={file}
            book={readEditableValue(state.book)}
            message={fileResult.message}
            onFile={(chosen) => change({ file: chosen, isStep: true })}
          />
        </PlanPanel>
        <Side prices={prices} session={session} curve={curve} onChange={changeState} />
      </main>
    </>
  );
}

interface SideProps {
  readonly prices: Prices;
  readonly session: Session;
  /** The key of the shown curve. */
  readonly curve: string | undefined;
  readonly onChange: (part: Partial<PlayState>) => void;
}

/** The invoices and the curve of the selected item; on phones, a bar with the total that opens them. */
function Side({ prices, session: { state, file }, curve, onChange }: SideProps): JSX.Element {
  const { bill, problems, fileResult, periods, period, before, isBusy } = prices;
  const [isOpen, setOpen] = useState(false);
  const announcement = useDebounced(`${period.label}: ${formatTotal(period)}`, ANNOUNCEMENT_MS);
  const costs = bill.curves.get(curve ?? "");
  const change = describeChange(period, before);
  const isFile = file !== undefined;
  const goTo = (direction: "earlier" | "later"): (() => void) | undefined => {
    const next = findNextPeriod(prices, isFile, direction);
    if (next === undefined) return undefined;
    const [from, until] = [
      next.from < state.from ? next.from : state.from,
      next.until > state.until ? next.until : state.until,
    ];
    return () => onChange({ shown: next.from, from, until });
  };
  return (
    <>
      <aside class={`side${isOpen ? " open" : ""}`} aria-label="Invoice" id="side" aria-busy={isBusy}>
        <InvoiceView
          periods={periods}
          period={period}
          before={before}
          emptyText={describeEmpty(problems.length > 0, isFile, fileResult.message?.kind)}
          onPeriod={(shown) => onChange({ shown })}
          onEarlier={goTo("earlier")}
          onLater={goTo("later")}
        />
        {costs !== undefined && <Curve key={curve} costs={costs} quantity={period.items[costs.key]?.quantity} />}
      </aside>
      <section class="dock" aria-label="Total">
        <strong class="number">{formatTotal(period)}</strong>
        {change !== undefined && <span class="delta">{change}</span>}
        <button type="button" class="link" aria-expanded={isOpen} aria-controls="side" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Back to the plan" : "Show invoice"}
        </button>
      </section>
      <p class="hidden-text" role="status">
        {announcement}
      </p>
    </>
  );
}

function describeEmpty(hasProblem: boolean, isFile: boolean, message: string | undefined): string {
  if (isFile && message === "progress") return "The file is being priced.";
  if (isFile && message !== "done") return "The file is not priced yet: complete its columns, or remove it.";
  if (hasProblem) return "There is a problem with the plan or the usage.";
  return "No invoice in this period. Add usage, set a quantity, or choose another period.";
}

/** The period whose invoices are shown; an empty one if it has none. */
function findShownPeriod(
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

/** The days of the period before or after the shown one; undefined if there is none. */
function findNextPeriod(
  { periods, period, bill: { book } }: Prices,
  isFile: boolean,
  direction: "earlier" | "later",
): Days | undefined {
  if (book !== undefined && !isFile) return findNextCycle(book, period, direction);
  if (direction === "later") return periods.find(({ from }) => from > period.from);
  return periods.findLast(({ from }) => from < period.from);
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

/** A state that has usage, so that its invoice is not empty. */
function prepareState(state: PlayState): PlayState {
  const bill = computeBill(state);
  return withEvenUsage(state, bill, findShownPeriod(bill.periods, state, bill, false));
}

async function startPlayground(source: string): Promise<void> {
  const page = document.getElementById("page");
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as PlayData | null;
  const example = EXAMPLES.find(({ title }) => title === FIRST_EXAMPLE) ?? EXAMPLES[0];
  const startState = prepareState((data?.state ?? example?.state) as PlayState);
  // A link pasted into the URL of an open page replaces its state. Of several, the last one wins.
  let latestStart = 0;
  const renderLink = async (hash: string): Promise<void> => {
    const currentStart = ++latestStart;
    const link = await readStateFromLink(hash);
    if (page === null || currentStart !== latestStart) return;
    const initialState = typeof link === "object" ? link : startState;
    render(
      <Playground key={currentStart} source={source} initialState={initialState} isBroken={link === "broken"} />,
      page,
    );
  };
  // Uses the event's URL: by now the page may have replaced the current one with its previous state.
  addEventListener("hashchange", ({ newURL }) => void renderLink(new URL(newURL).hash));
  await renderLink(location.hash);
}

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
    void priceFile(data, (message) => postMessage(message));
  });
} else void startPlayground(document.currentScript?.textContent ?? "");
