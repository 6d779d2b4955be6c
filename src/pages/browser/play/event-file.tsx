/**
 * A file of events, priced by a worker while the page goes on.
 *
 * @module
 */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { PlayState } from "../../play/play-state.ts";
import { counted } from "../look/figures.ts";
import type { FileAsked, FileSaid } from "./file-worker.ts";
import { InvoiceTable } from "./invoices.tsx";

/** So many invoices of a file are shown. */
const SHOWN_MAX = 50;

/** Where a file is dropped or chosen, and what came of it. */
export function EventFile({ state, source }: { readonly state: PlayState; readonly source: string }): JSX.Element {
  const [said, setSaid] = useState<FileSaid | undefined>();
  const running = useRef<Worker | undefined>(undefined);
  const start = (file: File | undefined): void => {
    if (file === undefined) return;
    running.current?.terminate();
    setSaid({ kind: "progress", read: 0, events: 0 });
    try {
      const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const worker = new Worker(address);
      running.current = worker;
      worker.addEventListener("message", ({ data }: MessageEvent<FileSaid>) => setSaid(data));
      worker.addEventListener("error", () => setSaid({ kind: "failed", message: "the file could not be priced here" }));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
      worker.postMessage({ book: state.book, seats: state.seats, file } satisfies FileAsked);
    } catch {
      setSaid({
        kind: "failed",
        message: "this browser has no workers: ratebook preview prices files on the command line",
      });
    }
  };
  return (
    <section aria-labelledby="file">
      <h2 id="file">A file of events</h2>
      <label
        class="drop panel"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          start(event.dataTransfer?.files[0]);
        }}
      >
        Drop a file of events here, one JSON object a line, or choose one:{" "}
        <input
          type="file"
          accept=".ndjson,.jsonl,.json"
          onChange={({ currentTarget }) => start(currentTarget.files?.[0])}
        />
      </label>
      <div aria-live="polite">{said !== undefined && <Said said={said} />}</div>
    </section>
  );
}

function Said({ said }: { readonly said: FileSaid }): JSX.Element {
  switch (said.kind) {
    case "progress":
      return (
        <p>
          <progress aria-label="How much of the file is read" value={said.read} max={1} />{" "}
          {counted(said.events, "event")}
        </p>
      );
    case "failed":
      return (
        <p class="bad">
          <bdi>{said.message}</bdi>
        </p>
      );
    case "done":
      return (
        <>
          <p>{`${counted(said.events, "event")}, ${counted(said.invoices.length, "invoice")}`}</p>
          <ul class="problems bad">
            {said.problems.map((problem) => (
              <li key={problem}>
                <bdi>{problem}</bdi>
              </li>
            ))}
          </ul>
          {said.invoices.slice(0, SHOWN_MAX).map((invoice, index) => (
            <InvoiceTable key={index} invoice={invoice} />
          ))}
        </>
      );
  }
}
