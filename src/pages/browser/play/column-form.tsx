/** A form that maps the columns of a file to the parts of an event, by editing the map's text. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import type { Sample } from "../../../event-files/sample-columns.ts";
import { TIME_FORMS } from "../../../event-files/time-forms.ts";
import { replaceValue, tryParseJson } from "../../play/book-edits.ts";
import {
  listAccountIds,
  createFieldOrigin,
  type MapPart,
  findMissingParts,
  listMapParts,
  proposeMap,
  listSchemaNames,
  readMapSchema,
  createTimeOrigin,
} from "../../play/column-map.ts";
import { textAt } from "./field.tsx";

export function ColumnForm({
  map,
  book,
  sample,
  onMap,
  onPrice,
}: {
  readonly map: string;
  /** The parsed book. */
  readonly book: unknown;
  readonly sample: Sample;
  readonly onMap: (map: string) => void;
  readonly onPrice: () => void;
}): JSX.Element {
  const value = tryParseJson(map);
  const schema = readMapSchema(value);
  const missingParts = findMissingParts(value, book);
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
      <label>
        <bdi>event schema</bdi>{" "}
        <select
          aria-label="event schema"
          value={schema}
          onChange={({ currentTarget }) => onMap(proposeMap(sample, book, currentTarget.value))}
        >
          {[...new Set([schema, ...listSchemaNames(book)])].map((name) => (
            <option key={name} value={name}>
              {name === "" ? "choose…" : name}
            </option>
          ))}
        </select>
      </label>
      {listMapParts(book, schema).map((part) => (
        <OriginField key={part.label} part={part} map={map} value={value} sample={sample} onMap={onMap} />
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

const SAME_IN_ALL_ROWS = "same in all rows";
/** Combines several columns, or uses the row number. */
const TEMPLATE = "template";

function OriginField({
  part: { path, label },
  map,
  value,
  sample,
  onMap,
}: {
  readonly part: MapPart;
  readonly map: string;
  readonly value: unknown;
  readonly sample: Sample;
  readonly onMap: (map: string) => void;
}): JSX.Element {
  const [list = ""] = path;
  const kind = ["column", "value", "template"].find((key) => valueAt(value, [...path, key]) !== undefined) ?? "";
  const column = textAt(value, [...path, "column"]);
  const columns = [...new Set([...(kind === "column" ? [column] : []), ...sample.header])].filter(
    (name) => name !== "",
  );
  const createOrigin = (option: string): object | undefined => {
    if (option === "") return undefined;
    if (option === SAME_IN_ALL_ROWS) return { value: "" };
    if (option === TEMPLATE) return { template: "row-{row}" };
    const name = option.slice(1);
    return list === "timestamp" ? createTimeOrigin(sample, name) : createFieldOrigin(sample, name, String(list));
  };
  const setPart = (key: string) => (text: string) =>
    onMap(replaceValue(map, [...path, key], text === "" ? undefined : text));
  return (
    <div class="row">
      <label>
        <bdi>{label}</bdi>{" "}
        <select
          aria-label={label}
          value={kind === "column" ? `:${column}` : kind === "value" ? SAME_IN_ALL_ROWS : kind}
          onChange={({ currentTarget }) => onMap(replaceValue(map, path, createOrigin(currentTarget.value)))}
        >
          <option value="">choose…</option>
          {columns.map((name) => (
            <option key={name} value={`:${name}`}>{`column ${name}`}</option>
          ))}
          {list !== "timestamp" && list !== "id" && <option value={SAME_IN_ALL_ROWS}>same value in all rows</option>}
          {(list === "id" || kind === "template") && <option value={TEMPLATE}>combined from columns</option>}
        </select>
      </label>
      {kind === "value" && (
        <input
          type="text"
          aria-label={`${label}, same value in all rows`}
          list={list === "accountId" ? "accounts" : undefined}
          value={textAt(value, [...path, "value"])}
          onInput={({ currentTarget }) => onMap(replaceValue(map, [...path, "value"], currentTarget.value))}
        />
      )}
      {kind === "template" && (
        <input
          type="text"
          aria-label={`${label}, combined from columns`}
          value={textAt(value, [...path, "template"])}
          onInput={({ currentTarget }) => setPart("template")(currentTarget.value)}
        />
      )}
      {kind === "column" && (
        <FormField list={String(list)} label={label} part={valueAt(value, path)} setPart={setPart} />
      )}
    </div>
  );
}

/** How numbers or times of a column are written. */
function FormField({
  list,
  label,
  part,
  setPart,
}: {
  readonly list: string;
  readonly label: string;
  readonly part: unknown;
  readonly setPart: (key: string) => (text: string) => void;
}): JSX.Element | null {
  if (list === "attributes") {
    return (
      <select
        aria-label={`${label}: decimal mark`}
        value={textAt(part, ["decimal"])}
        onChange={({ currentTarget }) => setPart("decimal")(currentTarget.value)}
      >
        <option value="">plain numbers such as 1234.5</option>
        <option value=",">decimal comma, as in 1.234,5</option>
        <option value=".">decimal point, as in 1,234.5</option>
      </select>
    );
  }
  if (list !== "timestamp") return null;
  return (
    <>
      <select
        aria-label="form of times"
        value={textAt(part, ["form"])}
        onChange={({ currentTarget }) => setPart("form")(currentTarget.value)}
      >
        <option value="">as in 2026-01-31T12:00:00Z</option>
        {[...TIME_FORMS.keys()].map((form) => (
          <option key={form} value={form}>
            {form.endsWith("seconds") ? `${form} since 1970` : form}
          </option>
        ))}
      </select>
      <label>
        zone, where they name none{" "}
        <input
          type="text"
          class="figure"
          value={textAt(part, ["zone"])}
          placeholder="UTC"
          onInput={({ currentTarget }) => setPart("zone")(currentTarget.value)}
        />
      </label>
    </>
  );
}
