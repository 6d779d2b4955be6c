/** The plan panel: forms for plans and accounts, and the whole book as JSON with its problems. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { listAt, replaceValue, readEditableValue } from "../../play/book-edits.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import type { PlayState } from "../../play/play-state.ts";
import { formatCount } from "../common/format.ts";
import { type FormProps, textAt } from "./field.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { PlanForm } from "./plan-form.tsx";

/** The maximum number of plans with a form. */
const PLANS_MAX = 10;
/** The maximum number of accounts with a form; usage belongs to the first account. */
const ACCOUNTS_MAX = 3;

export function PlanPanel({
  state: { book },
  problems,
  onChange,
}: {
  readonly state: PlayState;
  readonly problems: readonly PlayProblem[];
  readonly onChange: (part: Partial<PlayState>) => void;
}): JSX.Element {
  const detailsRef = useRef<HTMLDetailsElement>(null);
  const textAreaRef = useRef<HTMLTextAreaElement>(null);
  const value = readEditableValue(book);
  const plans = listAt(value, ["pricePlans"]);
  const setBook = (next: string): void => onChange({ book: next });
  const form = { value, book, onBook: setBook };
  const showProblem = ({ line = 1, column = 1 }: PlayProblem): void => {
    const [text, detailsElement] = [textAreaRef.current, detailsRef.current];
    if (text === null || detailsElement === null) return;
    detailsElement.open = true;
    const before = book.split("\n").slice(0, line - 1);
    const start = before.reduce((length, row) => length + row.length + 1, 0) + column - 1;
    text.focus();
    text.setSelectionRange(start, start + 1);
  };
  return (
    <section class="panel" aria-labelledby="plan">
      <h2 id="plan">Plan</h2>
      {problems.length > 0 && (
        <div class="bad" role="alert">
          <ul class="problems">
            {problems.map((problem, index) => (
              <li key={index}>
                {problem.line === undefined ? (
                  <bdi>{problem.message}</bdi>
                ) : (
                  <button type="button" class="link" onClick={() => showProblem(problem)}>
                    {`line ${problem.line}: `}
                    <bdi>{problem.message}</bdi>
                  </button>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {plans.length > PLANS_MAX && (
        <p class="soft">{`The first ${PLANS_MAX} of ${formatCount(plans.length, "plan")} have a form: the others are in the JSON below.`}</p>
      )}
      {plans.slice(0, PLANS_MAX).map((plan, index) => (
        <PlanForm
          key={index}
          {...form}
          path={["pricePlans", index]}
          name={textAt(plan, ["name"])}
          problems={problems}
        />
      ))}
      {listAt(value, ["accounts"])
        .slice(0, ACCOUNTS_MAX)
        .map((account, index) => (
          <AccountForm
            key={index}
            {...form}
            path={["accounts", index]}
            name={textAt(account, ["name"]) || textAt(account, ["id"])}
          />
        ))}
      <details ref={detailsRef}>
        <summary>The book as JSON</summary>
        <JsonEditor textAreaRef={textAreaRef} text={book} problems={problems} onText={setBook} />
      </details>
    </section>
  );
}

function AccountForm({ value, path, name, book, onBook }: FormProps): JSX.Element {
  const plans = listAt(value, ["pricePlans"]).map((plan) => [textAt(plan, ["id"]), textAt(plan, ["name"])] as const);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      {listAt(value, [...path, "pricePlans"]).map((_, index) => {
        const planPath = [...path, "pricePlans", index];
        const rowLabel = `${name}, plan ${index + 1}`;
        const plan = textAt(value, [...planPath, "pricePlanId"]);
        return (
          <div class="term" key={index}>
            <select
              aria-label={`${rowLabel}: which`}
              value={plan}
              onChange={({ currentTarget }) =>
                onBook(replaceValue(book, [...planPath, "pricePlanId"], currentTarget.value))
              }
            >
              {plans.every(([id]) => id !== plan) && <option value={plan}>{plan}</option>}
              {plans.map(([id, planName]) => (
                <option key={id} value={id}>
                  {planName}
                </option>
              ))}
            </select>
            {(["effectiveFrom", "effectiveUntil"] as const).map((end) => (
              <label key={end}>
                {end === "effectiveFrom" ? "from" : "until"}{" "}
                <input
                  type="date"
                  aria-label={`${rowLabel}: ${end === "effectiveFrom" ? "from" : "until, exclusive"}`}
                  value={textAt(value, [...planPath, end]).slice(0, 10)}
                  onChange={({ currentTarget: { value: day } }) =>
                    onBook(replaceValue(book, [...planPath, end], day === "" ? undefined : day))
                  }
                />
              </label>
            ))}
          </div>
        );
      })}
    </fieldset>
  );
}
