/**
 * A file of events, priced by a worker while the page goes on.
 *
 * @module
 */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { Sample } from "../../../records/columns.ts";
import { InputError } from "../../../records/problems.ts";
import { isMapText, missingParts, proposedMap } from "../../play/column-map.ts";
import { valueIn } from "../../play/plan-edit.ts";
import type { PlayState } from "../../play/play-state.ts";
import { counted } from "../look/figures.ts";
import { ColumnForm } from "./column-form.tsx";
import { type MappedFile, sampleOf } from "./file-events.ts";
import type { FileAsked, FileSaid } from "./file-worker.ts";
import { InvoiceTables } from "./invoices.tsx";

/** A map is a small file, in bytes: others are not looked into. */
const MAP_BYTES_MAX = 1 << 16;

/** A file, and the beginning of one that needs a map. */
interface Chosen extends MappedFile {
  readonly sample: Sample | undefined;
}

/** Where a file is dropped or chosen, and what came of it. */
export function EventFile({ state, source }: { readonly state: PlayState; readonly source: string }): JSX.Element {
  const [said, setSaid] = useState<FileSaid | undefined>();
  const [chosen, setChosen] = useState<Chosen | undefined>();
  const running = useRef<Worker | undefined>(undefined);
  const turn = useRef(0);
  const book = valueIn(state.book);
  const price = ({ file, map }: MappedFile): void => {
    running.current?.terminate();
    setSaid({ kind: "progress", read: 0, events: 0 });
    running.current = startWorker(source, { book: state.book, seats: state.seats, file, map }, setSaid);
  };
  const choose = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    running.current?.terminate();
    const mine = ++turn.current;
    setChosen(undefined);
    setSaid({ kind: "progress", read: 0, events: 0 });
    const found = await chosenOf(files, book).catch((error: unknown) => (error as Error).message);
    if (mine !== turn.current) return;
    if (typeof found === "string") return setSaid({ kind: "failed", message: found });
    setChosen(found);
    setSaid(undefined);
    if (found.map === undefined || missingParts(valueIn(found.map), book).length === 0) price(found);
  };
  return (
    <section aria-labelledby="file">
      <h2 id="file">A file of events</h2>
      <label
        class="drop panel"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void choose([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        Drop a file of events here, one JSON object a line or CSV, with its map beside it if it has one, or choose it:{" "}
        <input
          type="file"
          multiple
          accept=".ndjson,.jsonl,.json,.csv,.tsv,.txt,.gz"
          onChange={({ currentTarget }) => void choose([...(currentTarget.files ?? [])])}
        />
      </label>
      {chosen?.map !== undefined && chosen.sample !== undefined && (
        <ColumnForm
          map={chosen.map}
          book={book}
          sample={chosen.sample}
          onMap={(map) => setChosen({ ...chosen, map })}
          onPrice={() => price(chosen)}
        />
      )}
      <div aria-live="polite">{said !== undefined && <Said said={said} />}</div>
    </section>
  );
}

/** The file of events among some, with its map: one that is among them, or what can be guessed. @throws {InputError} */
async function chosenOf(files: readonly File[], book: unknown): Promise<Chosen> {
  const read = await Promise.all(
    files.map(async (file) => {
      const text = file.size <= MAP_BYTES_MAX && files.length > 1 ? await file.text() : "";
      return { file, text, isMap: isMapText(text) };
    }),
  );
  const maps = read.filter(({ isMap }) => isMap);
  const [only, ...more] = read.filter(({ isMap }) => !isMap);
  if (only === undefined || more.length > 0 || maps.length > 1) {
    throw new InputError(`expected one file of events, with a map beside it or without: these are ${files.length}`);
  }
  const { file } = only;
  const sample = await sampleOf(file);
  const map = maps[0]?.text ?? (sample === undefined ? undefined : proposedMap(sample, book));
  return { file, sample, map };
}

/** A worker that prices a file and tells what it finds; none where the browser has none. */
function startWorker(source: string, asked: FileAsked, tell: (said: FileSaid) => void): Worker | undefined {
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.addEventListener("message", ({ data }: MessageEvent<FileSaid>) => tell(data));
    worker.addEventListener("error", () => tell({ kind: "failed", message: "the file could not be priced here" }));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(asked);
    return worker;
  } catch {
    tell({
      kind: "failed",
      message: "this browser has no workers: ratebook preview prices files on the command line",
    });
    return undefined;
  }
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
          {said.problemCount > 0 && (
            <p class="bad">
              {`${counted(said.problemCount, "line")} not counted${said.problemCount > said.problems.length ? "; the first are:" : ":"}`}
            </p>
          )}
          <ul class="problems bad">
            {said.problems.map((problem) => (
              <li key={problem}>
                <bdi>{problem}</bdi>
              </li>
            ))}
          </ul>
          <InvoiceTables invoices={said.invoices} />
        </>
      );
  }
}
