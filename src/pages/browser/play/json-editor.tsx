/** A text editor for the book, with completion, descriptions and marked problem lines. */
import type { JSX, RefObject, TargetedKeyboardEvent } from "preact";
import { useRef, useState } from "preact/hooks";

import {
  type CaretContext,
  type Completion,
  type CompletionSchema,
  findCaretContext,
  findCompletions,
  findDescription,
} from "../../play/json-completions.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import type { PlayProps } from "./play.ts";

/** The JSON Schema of a book, inserted by the build. */
declare const BOOK_SCHEMA: CompletionSchema;

interface CompletionList {
  readonly context: CaretContext;
  readonly completions: readonly Completion[];
  readonly selectedIndex: number;
}

/** The editor. It never changes the typed text, even if it is invalid. */
export function JsonEditor({ play }: PlayProps): JSX.Element {
  const { session, problems, textAreaRef, changeState } = play;
  const text = session.state.book;
  const gutter = useRef<HTMLDivElement>(null);
  const [completionList, setCompletionList] = useState<CompletionList | undefined>();
  const [caret, setCaret] = useState<number | undefined>();
  const showCompletions = (from: HTMLTextAreaElement): void => {
    const context = findCaretContext(from.value, from.selectionStart);
    const completions = context === undefined ? [] : findCompletions(BOOK_SCHEMA, context);
    setCompletionList(
      context === undefined || completions.length === 0 ? undefined : { context, completions, selectedIndex: 0 },
    );
  };
  const trackCaret = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }): void =>
    setCaret(currentTarget.selectionStart);
  const insertCompletion = (completion: Completion): void => {
    const field = textAreaRef.current;
    if (field === null || completionList === undefined) return;
    const { kind, start, end } = completionList.context;
    const hasColon = /^\s*:/.test(field.value.slice(end));
    field.setRangeText(kind === "key" && !hasColon ? `${completion.text}: ` : completion.text, start, end, "end");
    field.focus();
    setCompletionList(undefined);
    changeState({ book: field.value });
  };
  const handleKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.ctrlKey && event.key === " ") showCompletions(event.currentTarget);
    else if (completionList === undefined) return;
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : completionList.completions.length - 1;
      setCompletionList({
        ...completionList,
        selectedIndex: (completionList.selectedIndex + step) % completionList.completions.length,
      });
    } else if (event.key === "Enter")
      insertCompletion(completionList.completions[completionList.selectedIndex] as Completion);
    else if (event.key === "Escape") setCompletionList(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="editor">
        <Gutter elementRef={gutter} play={play} />
        <textarea
          ref={textAreaRef}
          class="code"
          aria-label="The book as JSON"
          aria-autocomplete="list"
          aria-controls="completions"
          aria-activedescendant={
            completionList === undefined ? undefined : `completion-${completionList.selectedIndex}`
          }
          aria-describedby="caret-help"
          spellcheck={false}
          rows={24}
          value={text}
          onInput={({ currentTarget }) => {
            changeState({ book: currentTarget.value });
            showCompletions(currentTarget);
          }}
          onKeyDown={handleKey}
          onKeyUp={trackCaret}
          onClick={trackCaret}
          onFocus={trackCaret}
          onBlur={() => setCompletionList(undefined)}
          onScroll={({ currentTarget }) => {
            if (gutter.current !== null) gutter.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
      <p class="caret-help soft" id="caret-help">
        {describeCaret(text, caret, problems)}
      </p>
      <div id="completions" role="listbox" aria-label="Suggestions" hidden={completionList === undefined}>
        {completionList?.completions.map((each, index) => (
          <div
            key={each.label}
            id={`completion-${index}`}
            role="option"
            aria-selected={index === completionList.selectedIndex}
            // Keeps the focus in the text field, which would lose it before the click.
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => insertCompletion(each)}
          >
            <code>{each.label}</code> <span class="soft">{each.description}</span>
          </div>
        ))}
      </div>
    </>
  );
}

/** The problem in the caret's line, or the description of what is at the caret. */
function describeCaret(text: string, caret: number | undefined, problems: readonly PlayProblem[]): string {
  const hint = "Ctrl and space show what may be written.";
  if (caret === undefined) return hint;
  const line = text.slice(0, caret).split("\n").length;
  const lineProblems = problems.filter((problem) => problem.line === line).map(({ message }) => `${message}.`);
  const context = findCaretContext(text, caret);
  const token = context === undefined ? "" : text.slice(context.start, context.end).replaceAll('"', "");
  const path = context?.kind === "key" ? [...context.path, token] : (context?.path ?? []);
  return [...lineProblems, findDescription(BOOK_SCHEMA, path)].join(" ").trim() || hint;
}

/** Longer texts have no line numbers, because laying them out takes seconds. */
const NUMBERED_LINES_MAX = 50_000;

/** Line numbers, with problem lines marked. */
function Gutter({
  elementRef,
  play: { session, problems },
}: PlayProps & { readonly elementRef: RefObject<HTMLDivElement | null> }): JSX.Element | null {
  const lines = session.state.book.split("\n").length;
  if (lines > NUMBERED_LINES_MAX) return null;
  const problemLines = [...new Set(problems.flatMap(({ line }) => (line === undefined ? [] : [line])))].toSorted(
    (a, b) => a - b,
  );
  const formatLineNumbers = (from: number, until: number): string =>
    Array.from({ length: Math.max(0, until - from) }, (_, index) => `${from + index}\n`).join("");
  return (
    <div class="gutter" ref={elementRef} aria-hidden="true">
      {problemLines.map((line, index) => (
        <span key={line}>
          {formatLineNumbers((problemLines[index - 1] ?? 0) + 1, line)}
          <mark>{line}</mark>
          {"\n"}
        </span>
      ))}
      {formatLineNumbers((problemLines.at(-1) ?? 0) + 1, lines + 1)}
    </div>
  );
}
