/**
 * The playground in a browser: a plan beside its usage, and the resulting invoice. The same script runs as the worker that prices files, in which there is no document.
 */
import "../common/common.css";
import "./play.css";
import { render, type JSX } from "preact";
import { useState } from "preact/hooks";

import type { PlayExample, PlayState } from "../../play-state.ts";
import { computeBill, withEvenUsage } from "../../play/play-bill.ts";
import { Bar } from "./bar.tsx";
import { Curve } from "./curve.tsx";
import { type WorkerRequest, priceFile } from "./file-events.ts";
import { FilePanel } from "./file-panel.tsx";
import { InvoiceView } from "./invoice-view.tsx";
import { PlanPanel } from "./plan-panel.tsx";
import { describeChange, findShownPeriod, formatTotal, type PlayProps, usePlay } from "./play.ts";
import { readStateFromLink, useDebounced } from "./session.ts";

/** The recipes, inserted by the build. */
declare const EXAMPLES: readonly PlayExample[];

/** The title of the example to start with. */
const FIRST_EXAMPLE = "Fee, seats and calls";

/** The data embedded in the page. */
interface PlayData {
  /** The initial state. Default: an example. */
  readonly state?: PlayState;
}

/** Milliseconds without a change after which screen readers hear the total. */
const ANNOUNCEMENT_MS = 1000;

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
  const play = usePlay(initialState, source);
  return (
    <>
      <Bar
        play={play}
        examples={EXAMPLES}
        onExample={(example) => play.change({ state: prepareState(example), file: null, isNew: true })}
      />
      {isBroken && (
        <p class="alert" role="alert">
          Broken link; showing an example.
        </p>
      )}
      <main>
        <PlanPanel play={play}>
          <FilePanel play={play} />
        </PlanPanel>
        <Side play={play} />
      </main>
    </>
  );
}

/** The invoices and the curve of the selected item; on phones, a bar with the total that opens them. */
function Side({ play }: PlayProps): JSX.Element {
  const { bill, period, before, curve, isBusy } = play;
  const [isOpen, setOpen] = useState(false);
  const announcement = useDebounced(`${period.label}: ${formatTotal(period)}`, ANNOUNCEMENT_MS);
  const costs = bill.curves.get(curve ?? "");
  const change = describeChange(period, before);
  return (
    <>
      <aside class={`side${isOpen ? " open" : ""}`} aria-label="Invoice" id="side" aria-busy={isBusy}>
        <InvoiceView play={play} />
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
