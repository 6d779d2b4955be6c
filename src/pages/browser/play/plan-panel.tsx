/** The left pane: the plans as forms, or the whole book as JSON, with its problems; then customers, events and the file. */
import type { ComponentChildren, JSX } from "preact";

import { type FormPath, listAt, readEditableValue, textAt } from "../../play/book-edits.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import { formatCount } from "../common/format.ts";
import { LinkButton, DayField } from "./field.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { AccountForm, Cycles, PlanForm } from "./plan-form.tsx";
import type { PlayProps } from "./play.ts";

/** The maximum number of plans with a form. */
const PLANS_MAX = 10;
/** The maximum number of accounts with a form; usage belongs to the first account. */
const ACCOUNTS_MAX = 3;

/** @param children the panel of the file */
export function PlanPanel({ play, children }: PlayProps & { readonly children: ComponentChildren }): JSX.Element {
  const { session, isJson, changeState } = play;
  const { state } = session;
  return (
    <section class="plan" aria-label="Plan">
      <Problems play={play} />
      {isJson ? <JsonEditor play={play} /> : <Forms play={play} />}
      {children}
      <details open={state.events !== "" && state.usage.length > 0}>
        <summary>Events, one JSON object per line</summary>
        <textarea
          class="code"
          aria-label="Events, one JSON object per line"
          spellcheck={false}
          rows={8}
          value={state.events}
          onInput={({ currentTarget }) => changeState({ events: currentTarget.value })}
        />
      </details>
    </section>
  );
}

function Problems({ play: { session, problems, setJson, textAreaRef } }: PlayProps): JSX.Element | null {
  if (problems.length === 0) return null;
  const showProblem = (problem: PlayProblem): void => {
    setJson(true);
    // The text area exists after the next rendering.
    setTimeout(() => {
      const start = findProblemStart(session.state.book, problem);
      textAreaRef.current?.focus();
      textAreaRef.current?.setSelectionRange(start, start + 1);
    });
  };
  return (
    <div class="alert" role="alert">
      <ul class="problems">
        {problems.map((problem, index) => (
          <li key={index}>
            {problem.line === undefined ? (
              <bdi>{problem.message}</bdi>
            ) : (
              <LinkButton onClick={() => showProblem(problem)}>
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

function Forms({ play }: PlayProps): JSX.Element {
  const { session, bill, changeState } = play;
  const { book, from, until } = session.state;
  const value = readEditableValue(book);
  const plans = listAt(value, ["pricePlans"]);
  const accounts = listAt(value, ["accounts"]);
  const form = { value, text: book, onText: (text: string) => changeState({ book: text }) };
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
        const planForm = <PlanForm {...form} path={["pricePlans", index]} name={name} since={since} play={play} />;
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
            <DayField
              caption="Invoices from"
              label="From"
              value={from}
              onValue={(next) => changeState({ from: next })}
            />
            <DayField caption="until" label="Until" value={until} onValue={(next) => changeState({ until: next })} />
          </div>
        </details>
      )}
      <Cycles cycles={bill.cycles} />
    </>
  );
}

/** Where a problem is in a text: the index of its first character. */
function findProblemStart(text: string, { line = 1, column = 1 }: PlayProblem): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((length, row) => length + row.length + 1, 0) + column - 1;
}
