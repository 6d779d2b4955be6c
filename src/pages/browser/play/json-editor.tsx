/**
 * The book as text, with what may be written at the caret, what it means, and the lines that have problems.
 *
 * @module
 */
import type { JSX, RefObject, TargetedKeyboardEvent } from "preact";
import { useRef, useState } from "preact/hooks";

import { descriptionAt, type Offer, type OfferSchema, offersAt } from "../../play/json-offers.ts";
import { type JsonPlace, placeIn } from "../../play/json-place.ts";
import type { PlayProblem } from "../../play/play-bill.ts";

/** The JSON Schema of a book, put in by the build. */
declare const BOOK_SCHEMA: OfferSchema;

/** The list of what may be written. */
interface Offered {
  readonly place: JsonPlace;
  readonly offers: readonly Offer[];
  readonly chosen: number;
}

/** The editor. The text stays as it was typed, whatever is wrong with it. */
export function JsonEditor({
  area,
  text,
  problems,
  onText,
}: {
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly problems: readonly PlayProblem[];
  readonly onText: (text: string) => void;
}): JSX.Element {
  const gutter = useRef<HTMLDivElement>(null);
  const [offered, setOffered] = useState<Offered | undefined>();
  const [caret, setCaret] = useState<number | undefined>();
  const offer = (from: HTMLTextAreaElement): void => {
    const place = placeIn(from.value, from.selectionStart);
    const offers = place === undefined ? [] : offersAt(BOOK_SCHEMA, place);
    setOffered(place === undefined || offers.length === 0 ? undefined : { place, offers, chosen: 0 });
  };
  const see = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void =>
    setCaret(currentTarget.selectionStart);
  const take = (chosen: Offer): void => {
    const field = area.current;
    if (field === null || offered === undefined) return;
    const { kind, start, end } = offered.place;
    const isNamed = /^\s*:/.test(field.value.slice(end));
    field.setRangeText(kind === "key" && !isNamed ? `${chosen.text}: ` : chosen.text, start, end, "end");
    field.focus();
    setOffered(undefined);
    onText(field.value);
  };
  const keys = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.ctrlKey && event.key === " ") offer(event.currentTarget);
    else if (offered === undefined) return;
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : offered.offers.length - 1;
      setOffered({ ...offered, chosen: (offered.chosen + step) % offered.offers.length });
    } else if (event.key === "Enter") take(offered.offers[offered.chosen] as Offer);
    else if (event.key === "Escape") setOffered(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="editor">
        <Gutter holder={gutter} text={text} problems={problems} />
        <textarea
          ref={area}
          class="code"
          aria-label="The book as JSON"
          aria-autocomplete="list"
          aria-controls="offers"
          aria-activedescendant={offered === undefined ? undefined : `offer-${offered.chosen}`}
          aria-describedby="here"
          spellcheck={false}
          rows={24}
          value={text}
          onInput={({ currentTarget }) => {
            onText(currentTarget.value);
            offer(currentTarget);
          }}
          onKeyDown={keys}
          onKeyUp={see}
          onClick={see}
          onFocus={see}
          onBlur={() => setOffered(undefined)}
          onScroll={({ currentTarget }) => {
            if (gutter.current !== null) gutter.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
      <p class="here soft" id="here">
        {wordsAt(text, caret, problems)}
      </p>
      <div id="offers" role="listbox" aria-label="What may be written here" hidden={offered === undefined}>
        {offered?.offers.map((each, index) => (
          <div
            key={each.label}
            id={`offer-${index}`}
            role="option"
            aria-selected={index === offered.chosen}
            // The field keeps the caret: a press would take it away before the click.
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(each)}
          >
            <code>{each.label}</code> <span class="soft">{each.description}</span>
          </div>
        ))}
      </div>
    </>
  );
}

/** What is wrong with the line of the caret, and what is written there means. */
function wordsAt(text: string, caret: number | undefined, problems: readonly PlayProblem[]): string {
  const how = "Ctrl and space show what may be written.";
  if (caret === undefined) return how;
  const line = text.slice(0, caret).split("\n").length;
  const wrong = problems.filter((problem) => problem.line === line).map(({ message }) => `${message}.`);
  const place = placeIn(text, caret);
  const own = place === undefined ? "" : text.slice(place.start, place.end).replaceAll('"', "");
  const path = place?.kind === "key" ? [...place.path, own] : (place?.path ?? []);
  return [...wrong, descriptionAt(BOOK_SCHEMA, path)].join(" ").trim() || how;
}

/** The lines of a longer text have no numbers: to lay these out takes seconds. */
const NUMBERED_MAX = 50_000;

/** The numbers of the lines; those with problems are marked. */
function Gutter({
  holder,
  text,
  problems,
}: {
  readonly holder: RefObject<HTMLDivElement | null>;
  readonly text: string;
  readonly problems: readonly PlayProblem[];
}): JSX.Element | null {
  const lines = text.split("\n").length;
  if (lines > NUMBERED_MAX) return null;
  const bad = [...new Set(problems.flatMap(({ line }) => (line === undefined ? [] : [line])))].toSorted(
    (a, b) => a - b,
  );
  const numbers = (from: number, until: number): string =>
    Array.from({ length: Math.max(0, until - from) }, (_, index) => `${from + index}\n`).join("");
  return (
    <div class="gutter" ref={holder} aria-hidden="true">
      {bad.map((line, index) => (
        <span key={line}>
          {numbers((bad[index - 1] ?? 0) + 1, line)}
          <mark>{`${line}\n`}</mark>
        </span>
      ))}
      {numbers((bad.at(-1) ?? 0) + 1, lines + 1)}
    </div>
  );
}
