/**
 * The whole playground: a plan, what is used, and what it costs.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { billOf } from "../../play/play-bill.ts";
import type { PlayExample, PlayState } from "../../play/play-state.ts";
import { Costs } from "./costs.tsx";
import { Cycles } from "./cycles.tsx";
import { EventFile } from "./event-file.tsx";
import { Invoices } from "./invoices.tsx";
import { linkOf } from "./link.ts";
import { PlanPanel } from "./plan-panel.tsx";
import { UsagePanel } from "./usage-panel.tsx";

/** The recipes, inserted by the build. */
declare const EXAMPLES: readonly PlayExample[];

/** The data that the page was made with. */
export interface PlayData {
  /** The state to begin with, in place of the first example. */
  readonly state?: PlayState;
}

/** How long a person may go on typing before all is priced again, in milliseconds. */
const PAUSE_MS = 120;

/** The page. @param source the text of the page's script, of which a worker is made */
export function Playground({
  source,
  data,
  link,
}: {
  readonly source: string;
  readonly data: PlayData;
  readonly link: PlayState | "broken" | undefined;
}): JSX.Element {
  const first = typeof link === "object" ? link : (data.state ?? EXAMPLES[2]?.state);
  const [state, setState] = useState(first as PlayState);
  const priced = usePaused(state);
  const bill = useMemo(() => billOf(priced), [priced]);
  const [isLinked, setLinked] = useState(true);
  useEffect(() => {
    let isShown = true;
    const keep = async (): Promise<void> => {
      const hash = await linkOf(priced);
      // A link that was put into the address meanwhile stays there.
      if (!isShown) return;
      setLinked(hash !== undefined);
      // Browsers take no more than 200 addresses of a page in ten seconds.
      if ((hash ?? "") !== location.hash) history.replaceState(null, "", hash ?? "#");
    };
    void keep();
    return () => {
      isShown = false;
    };
  }, [priced]);
  const change = (part: Partial<PlayState>): void => setState((before) => ({ ...before, ...part }));
  return (
    <>
      <header class="page-head">
        <h1>Playground</h1>
        <p class="soft">
          Change a plan or what is used, and read the invoice. Nothing leaves this page
          {isLinked ? "; its address holds all of it." : ". It is too much for an address: keep the book as a file."}
        </p>
        {link === "broken" && (
          <p class="panel bad" role="alert">
            The link was cut, or is not one of this page: it begins with an example.
          </p>
        )}
        <label class="example">
          Begin from{" "}
          <select
            onChange={({ currentTarget }) => {
              const chosen = EXAMPLES[Number(currentTarget.value)];
              if (chosen !== undefined) setState(chosen.state);
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
          <PlanPanel state={state} problems={bill.problems} change={change} />
          <UsagePanel state={state} change={change} />
          <Invoices bill={bill} />
        </div>
        <Costs charts={bill.charts} />
        <Cycles cycles={bill.cycles} />
        <EventFile state={priced} source={source} />
      </main>
    </>
  );
}

/** A value once it has not changed for a moment. */
function usePaused<T>(value: T): T {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}
