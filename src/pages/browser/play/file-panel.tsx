/** The file of events that is priced, with a form that maps its columns. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { valueAt } from "../../../book/short/fields.ts";
import { TIME_FORMS } from "../../../event-files/cell-texts.ts";
import { InputError } from "../../../event-files/input-error.ts";
import type { Sample } from "../../../event-files/sample-columns.ts";
import { readEditableValue, replaceValue, tryParseJson, textAt } from "../../play/book-edits.ts";
import {
  createFieldOrigin,
  createTimeOrigin,
  findMissingParts,
  isMapText,
  listAccountIds,
  listMapParts,
  listSchemaNames,
  proposeMap,
  readMapSchema,
} from "../../play/column-map.ts";
import { formatCount } from "../common/format.ts";
import { bind, type FormProps, LinkButton, SelectField, TextField } from "./field.tsx";
import { type ChosenFile, readSample, type WorkerMessage } from "./file-events.ts";
import type { PlayProps } from "./play.ts";

/** The maximum size of a map in bytes; larger files are not read as maps. */
const MAP_BYTES_MAX = 1 << 16;

/** The drop area for a file, its columns, and what was read. */
export function FilePanel({ play }: PlayProps): JSX.Element {
  const { session, fileResult, change } = play;
  const { file: chosen } = session;
  const { message } = fileResult;
  const book = readEditableValue(session.state.book);
  const onFile = (file: ChosenFile | null): void => change({ file, isStep: true });
  const latestChoice = useRef(0);
  const inputRef = useRef<HTMLInputElement>(null);
  const chooseFiles = async (files: readonly File[]): Promise<void> => {
    const [first] = files;
    if (first === undefined) return;
    const thisChoice = ++latestChoice.current;
    const result = await findEventFile(files, book).catch((error: unknown): ChosenFile => ({
      file: first,
      sample: undefined,
      isReady: false,
      failure: (error as Error).message,
    }));
    if (inputRef.current !== null) inputRef.current.value = "";
    if (thisChoice === latestChoice.current) onFile(result);
  };
  return (
    <section class="file-panel" aria-labelledby="file">
      <h2 id="file" class="hidden-text">
        Event file
      </h2>
      <div
        class="drop-area"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void chooseFiles([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <label class="file-button">
          {chosen === undefined ? "Price a file of events" : "Choose another file"}
          <input
            ref={inputRef}
            type="file"
            multiple
            accept=".ndjson,.jsonl,.json,.csv,.tsv,.txt,.gz"
            onChange={({ currentTarget }) => void chooseFiles([...(currentTarget.files ?? [])])}
          />
        </label>
        {chosen === undefined ? (
          <span class="soft">
            NDJSON or CSV, with its map if it has one; or drop it here. It stays in this browser.
          </span>
        ) : (
          <>
            <strong>
              <bdi>{chosen.file.name}</bdi>
            </strong>
            <LinkButton onClick={() => onFile(null)}>Remove the file</LinkButton>
          </>
        )}
      </div>
      {chosen?.map !== undefined && chosen.sample !== undefined && (
        <details open={!chosen.isReady || message?.kind === "failed"}>
          <summary>Columns of this file</summary>
          <ColumnForm
            map={chosen.map}
            book={book}
            sample={chosen.sample}
            onMap={(map) => onFile({ ...chosen, map, isReady: false })}
            onPrice={() => onFile({ ...chosen, isReady: true })}
          />
        </details>
      )}
      <div aria-live="polite">{message !== undefined && <FileMessage message={message} />}</div>
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
  return { file, sample, map, isReady: map === undefined || findMissingParts(tryParseJson(map), book).length === 0 };
}

function FileMessage({ message }: { readonly message: WorkerMessage }): JSX.Element {
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
    case "done": {
      const { events, leftOutCount, periods, problemCount, problems, notBilled } = message;
      const invoiceCount = periods.reduce((count, { invoices }) => count + invoices.length, 0);
      return (
        <>
          <p>{`${formatCount(events, "event")}, ${formatCount(invoiceCount, "invoice")}`}</p>
          {leftOutCount > 0 && (
            <p>{`${formatCount(leftOutCount, "row")} with an empty cell left out, as the map says`}</p>
          )}
          {notBilled.map((sentence) => (
            <p key={sentence} class="bad">
              <bdi>{sentence}</bdi>
            </p>
          ))}
          {problemCount > 0 && (
            <details class="bad" open={problemCount <= 5}>
              <summary>
                {`${formatCount(problemCount, "line")} not counted${problemCount > problems.length ? "; the first are:" : ":"}`}
              </summary>
              <ul class="problems">
                {problems.map((problem) => (
                  <li key={problem}>
                    <bdi>{problem}</bdi>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      );
    }
  }
}

interface ColumnFormProps {
  readonly map: string;
  /** The parsed book. */
  readonly book: unknown;
  readonly sample: Sample;
  readonly onMap: (map: string) => void;
  readonly onPrice: () => void;
}

function ColumnForm({ map, book, sample, onMap, onPrice }: ColumnFormProps): JSX.Element {
  const value = tryParseJson(map);
  const schema = readMapSchema(value);
  const missingParts = findMissingParts(value, book);
  const form = { value, text: map, onText: onMap };
  return (
    <form
      class="column-form"
      onSubmit={(event) => {
        event.preventDefault();
        onPrice();
      }}
    >
      <p role="status" class={missingParts.length === 0 ? "soft" : "bad"}>
        {missingParts.length === 0
          ? "All event fields have a column."
          : `Choose a column for: ${missingParts.join(", ")}.`}
      </p>
      <SelectField
        caption="event schema"
        value={schema}
        options={[...new Set([schema, ...listSchemaNames(book)])].map((name) => [name, name || "choose…"])}
        onValue={(name) => onMap(proposeMap(sample, book, name))}
      />
      {listMapParts(book, schema).map(({ path, label }) => (
        <OriginField key={label} {...form} path={path} name={label} sample={sample} />
      ))}
      <datalist id="accounts">
        {listAccountIds(book).map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <details>
        <summary>The map as JSON, for --map</summary>
        <textarea
          class="code"
          aria-label="The map as JSON"
          spellcheck={false}
          rows={12}
          value={map}
          onInput={({ currentTarget }) => onMap(currentTarget.value)}
        />
      </details>
      <button type="submit" disabled={missingParts.length > 0}>
        Price the file
      </button>
    </form>
  );
}

/** The origin of a part that is the same in all rows. */
const CONSTANT = "value";
/** The origin of a part that combines several columns, or has the row number. */
const TEMPLATE = "template";

/** Where a part of an event comes from. */
function OriginField({ sample, ...form }: FormProps & { readonly sample: Sample }): JSX.Element {
  const { path, name, value, text, onText } = form;
  const list = String(path[0]);
  const kind = ["column", CONSTANT, TEMPLATE].find((key) => valueAt(value, [...path, key]) !== undefined) ?? "";
  const column = textAt(value, [...path, "column"]);
  const columns = [...new Set([...(kind === "column" ? [column] : []), ...sample.header])].filter(
    (each) => each !== "",
  );
  const createOrigin = (option: string): object | undefined => {
    if (option === "") return undefined;
    if (option === CONSTANT) return { value: "" };
    if (option === TEMPLATE) return { template: "row-{row}" };
    const chosen = option.slice(1);
    return list === "timestamp" ? createTimeOrigin(sample, chosen) : createFieldOrigin(sample, chosen, list);
  };
  const options: readonly (readonly [string, string])[] = [
    ["", "choose…"],
    ...columns.map((each) => [`:${each}`, `column ${each}`] as const),
    ...(list === "timestamp" || list === "id" ? [] : [[CONSTANT, "same value in all rows"] as const]),
    ...(list === "id" || kind === TEMPLATE ? [[TEMPLATE, "combined from columns"] as const] : []),
  ];
  return (
    <div class="row">
      <SelectField
        caption={name}
        value={kind === "column" ? `:${column}` : kind}
        options={options}
        onValue={(option) => onText(replaceValue(text, path, createOrigin(option)))}
      />
      {kind === CONSTANT && (
        <TextField
          label={`${name}, same value in all rows`}
          list={list === "accountId" ? "accounts" : undefined}
          {...bind(form, [...path, CONSTANT])}
        />
      )}
      {kind === TEMPLATE && (
        <TextField label={`${name}, combined from columns`} {...bind(form, [...path, TEMPLATE], [...path, TEMPLATE])} />
      )}
      {kind === "column" && list === "attributes" && (
        <SelectField
          label={`${name}: decimal mark`}
          {...bind(form, [...path, "decimal"], [...path, "decimal"])}
          options={[
            ["", "plain numbers such as 1234.5"],
            [",", "decimal comma, as in 1.234,5"],
            [".", "decimal point, as in 1,234.5"],
          ]}
        />
      )}
      {kind === "column" && list === "timestamp" && (
        <>
          <SelectField
            label="form of times"
            {...bind(form, [...path, "form"], [...path, "form"])}
            options={[["", "as in 2026-01-31T12:00:00Z"], ...TIME_OPTIONS]}
          />
          <TextField
            class="figure"
            caption="zone, where they name none"
            placeholder="UTC"
            {...bind(form, [...path, "zone"], [...path, "zone"])}
          />
        </>
      )}
    </div>
  );
}

const TIME_OPTIONS = [...TIME_FORMS.keys()].map(
  (form) => [form, form.endsWith("seconds") ? `${form} since 1970` : form] as const,
);
