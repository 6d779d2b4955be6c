/** The left pane: the plans as forms, or the whole book as JSON, with its problems; then customers, events and the file. */
import type { ComponentChildren, JSX, RefObject } from "preact";

import type { PlayState } from "../../play-state.ts";
import { type FormPath, listAt, readEditableValue, textAt } from "../../play/book-edits.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import type { PlayCycles } from "../../play/play-periods.ts";
import { formatCount } from "../common/format.ts";
import { LinkButton, DayField } from "./field.tsx";
import type { ItemContext } from "./item-card.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { AccountForm, Cycles, PlanForm } from "./plan-form.tsx";

/** The maximum number of plans with a form. */
const PLANS_MAX = 10;
/** The maximum number of accounts with a form; usage belongs to the first account. */
const ACCOUNTS_MAX = 3;

interface PlanPanelProps {
  readonly state: PlayState;
  readonly problems: readonly PlayProblem[];
  readonly cycles: PlayCycles | undefined;
  readonly context: ItemContext;
  readonly isJson: boolean;
  readonly textAreaRef: RefObject<HTMLTextAreaElement | null>;
  readonly onChange: (part: Partial<PlayState>) => void;
  readonly onProblem: (problem: PlayProblem) => void;
  /** The panel of the file. */
  readonly children: ComponentChildren;
}

export function PlanPanel(props: PlanPanelProps): JSX.Element {
  const { state, problems, isJson, textAreaRef, onChange, onProblem, children } = props;
  const { book } = state;
  return (
    <section class="plan" aria-label="Plan">
      <Problems problems={problems} onProblem={onProblem} />
      {isJson ? (
        <JsonEditor
          textAreaRef={textAreaRef}
          text={book}
          problems={problems}
          onText={(text) => onChange({ book: text })}
        />
      ) : (
        <Forms {...props} />
      )}
      {children}
      <details open={state.events !== "" && state.usage.length > 0}>
        <summary>Events, one JSON object per line</summary>
        <textarea
          class="code"
          aria-label="Events, one JSON object per line"
          spellcheck={false}
          rows={8}
          value={state.events}
          onInput={({ currentTarget }) => onChange({ events: currentTarget.value })}
        />
      </details>
    </section>
  );
}

function Problems({
  problems,
  onProblem,
}: {
  readonly problems: readonly PlayProblem[];
  readonly onProblem: (problem: PlayProblem) => void;
}): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <div class="alert" role="alert">
      <ul class="problems">
        {problems.map((problem, index) => (
          <li key={index}>
            {problem.line === undefined ? (
              <bdi>{problem.message}</bdi>
            ) : (
              <LinkButton onClick={() => onProblem(problem)}>
                {`line ${problem.line}: `}
                <bdi>{problem.message}</bdi>
              </LinkButton>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Forms({ state, cycles, context, onChange }: PlanPanelProps): JSX.Element {
  const { book } = state;
  const value = readEditableValue(book);
  const plans = listAt(value, ["pricePlans"]);
  const accounts = listAt(value, ["accounts"]);
  const form = { value, text: book, onText: (text: string) => onChange({ book: text }) };
  const terms = listAt(accounts[0], ["pricePlans"]);
  const findSince = (id: string): FormPath | undefined => {
    const index = terms.findIndex((term) => textAt(term, ["pricePlanId"]) === id);
    return index < 0 ? undefined : ["accounts", 0, "pricePlans", index, "effectiveFrom"];
  };
  if (value === undefined || plans.length === 0) {
    return (
      <p class="soft">
        {value === undefined
          ? "The book has a problem: open book.jsonc to correct it."
          : "The book has no plan: choose an example above, or write one in book.jsonc."}
      </p>
    );
  }
  return (
    <>
      {plans.length > PLANS_MAX && (
        <p class="soft">{`The first ${PLANS_MAX} of ${formatCount(plans.length, "plan")} have a form: the others are in book.jsonc.`}</p>
      )}
      {plans.slice(0, PLANS_MAX).map((plan, index) => {
        const name = textAt(plan, ["name"]);
        const since = findSince(textAt(plan, ["id"]));
        const planForm = (
          <PlanForm {...form} path={["pricePlans", index]} name={name} since={since} context={context} />
        );
        if (plans.length === 1) return planForm;
        return (
          <details key={index} class="other-plan" open={index === 0 || since !== undefined}>
            <summary>
              <bdi>{name}</bdi>
            </summary>
            {planForm}
          </details>
        );
      })}
      {accounts.length > 0 && (
        <details>
          <summary>Customers and their plans</summary>
          {accounts.slice(0, ACCOUNTS_MAX).map((account, index) => (
            <AccountForm
              key={index}
              {...form}
              path={["accounts", index]}
              name={textAt(account, ["name"]) || textAt(account, ["id"])}
            />
          ))}
          <div class="fields">
            <DayField caption="Invoices from" label="From" value={state.from} onValue={(from) => onChange({ from })} />
            <DayField caption="until" label="Until" value={state.until} onValue={(until) => onChange({ until })} />
          </div>
        </details>
      )}
      <Cycles cycles={cycles} />
    </>
  );
}

/** Where a problem is in a text: the index of its first character. */
export function findProblemStart(text: string, { line = 1, column = 1 }: PlayProblem): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((length, row) => length + row.length + 1, 0) + column - 1;
}
