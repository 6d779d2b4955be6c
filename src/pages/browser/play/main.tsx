/**
 * The playground in a browser: a plan, usage, and the resulting costs. The same script runs as the worker that prices files, in which there is no document.
 */
import "../common/common.css";
import "./play.css";
import { render, type JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { computeBill } from "../../play/play-bill.ts";
import type { PlayExample, PlayState } from "../../play/play-state.ts";
import { EventFile } from "./event-file.tsx";
import { type WorkerRequest, priceFile } from "./file-worker.ts";
import { readStateFromLink, createLink } from "./link.ts";
import { PlanPanel } from "./plan-panel.tsx";
import { Costs, Invoices, Cycles } from "./results.tsx";
import { UsagePanel } from "./usage-panel.tsx";

/** The recipes, inserted by the build. */
declare const EXAMPLES: readonly PlayExample[];

/** The data embedded in the page. */
interface PlayData {
  /** The initial state. Default: the first example. */
  readonly state?: PlayState;
}

/** Milliseconds without typing after which everything is priced again. */
const PAUSE_MS = 120;

/** The page. @param source the page's script, which the worker runs too */
function Playground({
  source,
  data,
  link,
}: {
  readonly source: string;
  readonly data: PlayData;
  readonly link: PlayState | "broken" | undefined;
}): JSX.Element {
  const initialState = typeof link === "object" ? link : (data.state ?? EXAMPLES[2]?.state);
  const [state, setState] = useState(initialState as PlayState);
  const debouncedState = useDebounced(state);
  const bill = useMemo(() => computeBill(debouncedState), [debouncedState]);
  const [isLinkable, setLinkable] = useState(true);
  useEffect(() => {
    let isMounted = true;
    const updateAddress = async (): Promise<void> => {
      const hash = await createLink(debouncedState);
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
  }, [debouncedState]);
  const changeState = (part: Partial<PlayState>): void => setState((before) => ({ ...before, ...part }));
  return (
    <>
      <header class="page-head">
        <h1>Playground</h1>
        <p class="soft">
          Change the plan or the usage to see the invoice. Your data stays in this browser
          {isLinkable
            ? "; the address of this page contains it, so you can share it."
            : ". The book is too large for the address of this page: save it as a file."}
        </p>
        {link === "broken" && (
          <p class="panel bad" role="alert">
            Broken link; showing an example.
          </p>
        )}
        <label class="example">
          Start with{" "}
          <select
            onChange={({ currentTarget }) => {
              const example = EXAMPLES[Number(currentTarget.value)];
              if (example !== undefined) setState(example.state);
            }}
          >
            <option value="">choose an example…</option>
            {EXAMPLES.map(({ title }, index) => (
              <option key={title} value={index}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </header>
      <main>
        <div class="columns">
          <PlanPanel state={state} problems={bill.problems} onChange={changeState} />
          <UsagePanel state={state} onChange={changeState} />
          <Invoices bill={bill} />
        </div>
        <Costs charts={bill.charts} />
        <Cycles cycles={bill.cycles} />
        <EventFile state={debouncedState} source={source} />
      </main>
    </>
  );
}

/** A value, delayed until it stops changing. */
function useDebounced<T>(value: T): T {
  const [debouncedValue, setDebouncedValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebouncedValue(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debouncedValue;
}

async function startPlayground(source: string): Promise<void> {
  const page = document.getElementById("page");
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as PlayData | null;
  // A link pasted into the URL of an open page replaces its state. Of several, the last one wins.
  let latestStart = 0;
  const renderLink = async (hash: string): Promise<void> => {
    const currentStart = ++latestStart;
    const link = await readStateFromLink(hash);
    if (page === null || currentStart !== latestStart) return;
    render(<Playground key={currentStart} source={source} data={data ?? {}} link={link} />, page);
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
