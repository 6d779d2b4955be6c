/** Prices a file of events in a worker, while the page stays responsive. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { Sample } from "../../../event-files/guess-columns.ts";
import { InputError } from "../../../event-files/input-error.ts";
import { readEditableValue, tryParseJson } from "../../play/book-edits.ts";
import { isMapText, findMissingParts, proposeMap } from "../../play/column-map.ts";
import type { PlayState } from "../../play/play-state.ts";
import { formatCount } from "../common/format.ts";
import { ColumnForm } from "./column-form.tsx";
import { type MappedFile, readSample } from "./file-events.ts";
import type { WorkerRequest, WorkerMessage } from "./file-worker.ts";
import { InvoiceTables } from "./results.tsx";

/** The maximum size of a map in bytes; larger files are not read as maps. */
const MAP_BYTES_MAX = 1 << 16;

/** A file, with a sample if it needs a map. */
interface ChosenFile extends MappedFile {
  readonly sample: Sample | undefined;
}

/** The drop area for a file, and its result. */
export function EventFile({ state, source }: { readonly state: PlayState; readonly source: string }): JSX.Element {
  const [message, setMessage] = useState<WorkerMessage | undefined>();
  const [chosenFile, setChosenFile] = useState<ChosenFile | undefined>();
  const workerRef = useRef<Worker | undefined>(undefined);
  const latestChoice = useRef(0);
  const book = readEditableValue(state.book);
  const startPricing = ({ file, map }: MappedFile): void => {
    workerRef.current?.terminate();
    setMessage({ kind: "progress", read: 0, events: 0 });
    workerRef.current = startWorker(source, { book: state.book, seats: state.seats, file, map }, setMessage);
  };
  const chooseFiles = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    workerRef.current?.terminate();
    const thisChoice = ++latestChoice.current;
    setChosenFile(undefined);
    setMessage({ kind: "progress", read: 0, events: 0 });
    const result = await findEventFile(files, book).catch((error: unknown) => (error as Error).message);
    if (thisChoice !== latestChoice.current) return;
    if (typeof result === "string") return setMessage({ kind: "failed", message: result });
    setChosenFile(result);
    setMessage(undefined);
    if (result.map === undefined || findMissingParts(tryParseJson(result.map), book).length === 0) startPricing(result);
  };
  return (
    <section aria-labelledby="file">
      <h2 id="file">Event file</h2>
      <label
        class="drop-area panel"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void chooseFiles([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        Drop an event file here (NDJSON or CSV), with its map if it has one, or choose it:{" "}
        <input
          type="file"
          multiple
          accept=".ndjson,.jsonl,.json,.csv,.tsv,.txt,.gz"
          onChange={({ currentTarget }) => void chooseFiles([...(currentTarget.files ?? [])])}
        />
      </label>
      {chosenFile?.map !== undefined && chosenFile.sample !== undefined && (
        <ColumnForm
          map={chosenFile.map}
          book={book}
          sample={chosenFile.sample}
          onMap={(map) => setChosenFile({ ...chosenFile, map })}
          onPrice={() => startPricing(chosenFile)}
        />
      )}
      <div aria-live="polite">{message !== undefined && <FileResult message={message} />}</div>
    </section>
  );
}

/** Finds the file of events and its map, which is another of the files or guessed. @throws {InputError} */
async function findEventFile(files: readonly File[], book: unknown): Promise<ChosenFile> {
  const candidates = await Promise.all(
    files.map(async (file) => {
      const text = file.size <= MAP_BYTES_MAX && files.length > 1 ? await file.text() : "";
      return { file, text, isMap: isMapText(text) };
    }),
  );
  const maps = candidates.filter(({ isMap }) => isMap);
  const [only, ...more] = candidates.filter(({ isMap }) => !isMap);
  if (only === undefined || more.length > 0 || maps.length > 1) {
    throw new InputError(`choose one event file, with or without its map; got ${files.length} files`);
  }
  const { file } = only;
  const sample = await readSample(file);
  const map = maps[0]?.text ?? (sample === undefined ? undefined : proposeMap(sample, book));
  return { file, sample, map };
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

function FileResult({ message }: { readonly message: WorkerMessage }): JSX.Element {
  switch (message.kind) {
    case "progress":
      return (
        <p>
          <progress aria-label="Progress" value={message.read} max={1} /> {formatCount(message.events, "event")}
        </p>
      );
    case "failed":
      return (
        <p class="bad">
          <bdi>{message.message}</bdi>
        </p>
      );
    case "done":
      return (
        <>
          <p>{`${formatCount(message.events, "event")}, ${formatCount(message.invoices.length, "invoice")}`}</p>
          {message.problemCount > 0 && (
            <p class="bad">
              {`${formatCount(message.problemCount, "line")} not counted${message.problemCount > message.problems.length ? "; the first are:" : ":"}`}
            </p>
          )}
          <ul class="problems bad">
            {message.problems.map((problem) => (
              <li key={problem}>
                <bdi>{problem}</bdi>
              </li>
            ))}
          </ul>
          <InvoiceTables invoices={message.invoices} />
        </>
      );
  }
}
