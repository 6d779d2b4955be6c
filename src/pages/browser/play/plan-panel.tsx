/**
 * The plan: a form for cycles, slabs and bounds, and the whole book as JSON with problems in place.
 *
 * @module
 */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";

import { isDecimalObject } from "../../../numbers/decimal.ts";
import {
  edited,
  type FormPath,
  listAt,
  valueAt,
  valueIn,
  withoutSlab,
  withSlab,
  withSlabStart,
} from "../../play/plan-edit.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import type { PlayState } from "../../play/play-state.ts";

const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"];
const LISTS = [
  ["usageRateCards", "usageMeterId"],
  ["licenseRateCards", "id"],
  ["entitlementOverageRateCards", "featureId"],
  ["billingEntitlementRateCards", "featureId"],
] as const;

/** The panel. */
export function PlanPanel({
  state: { book },
  problems,
  change,
}: {
  readonly state: PlayState;
  readonly problems: readonly PlayProblem[];
  readonly change: (part: Partial<PlayState>) => void;
}): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const value = valueIn(book);
  const put = (next: string): void => change({ book: next });
  const show = ({ line = 1, column = 1 }: PlayProblem): void => {
    const text = area.current;
    if (text === null) return;
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
                  <button type="button" class="link" onClick={() => show(problem)}>
                    {`line ${problem.line}: `}
                    <bdi>{problem.message}</bdi>
                  </button>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {listAt(value, ["pricePlans"]).map((plan, index) => (
        <PlanForm
          key={index}
          value={value}
          path={["pricePlans", index]}
          name={textAt(plan, ["name"])}
          book={book}
          put={put}
        />
      ))}
      <details>
        <summary>The book as JSON</summary>
        <textarea
          ref={area}
          class="code"
          aria-label="The book as JSON"
          spellcheck={false}
          rows={24}
          value={book}
          onInput={({ currentTarget }) => put(currentTarget.value)}
        />
      </details>
    </section>
  );
}

interface FormOf {
  readonly value: unknown;
  readonly path: FormPath;
  readonly name: string;
  readonly book: string;
  readonly put: (book: string) => void;
}

function PlanForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const details = [...path, "pricePlanDetails"];
  const interval = [...details, "pricingCycleConfig", "interval"];
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      <label class="row">
        Cycle
        <select
          value={textAt(value, interval)}
          onChange={({ currentTarget }) => put(edited(book, interval, currentTarget.value))}
        >
          {INTERVALS.map((each) => (
            <option key={each} value={each}>
              {each.toLowerCase().replace("_", "-")}
            </option>
          ))}
        </select>
      </label>
      {listAt(value, [...details, "fixedFeeRateCards"]).map((card, index) => (
        <FeeForm
          key={index}
          value={value}
          path={[...details, "fixedFeeRateCards", index]}
          name={textAt(card, ["displayName"]) || textAt(card, ["id"])}
          book={book}
          put={put}
        />
      ))}
      {LISTS.flatMap(([list, id]) =>
        listAt(value, [...details, list]).map((card, index) => (
          <SlabForm
            key={`${list} ${index}`}
            value={value}
            path={[...details, list, index]}
            name={textAt(card, ["displayName"]) || textAt(card, [id])}
            book={book}
            put={put}
          />
        )),
      )}
      {valueAt(value, [...details, "minimumCommitment"]) !== undefined && (
        <FeeForm
          value={value}
          path={[...details, "minimumCommitment"]}
          name="Minimum commitment"
          book={book}
          put={put}
        />
      )}
    </fieldset>
  );
}

function FeeForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const rate = [...path, "rateValues", 0, "rate"];
  const currency = textAt(value, [...path, "rateValues", 0, "currency"]);
  const prorated = [...path, "enableProration"];
  return (
    <div class="card">
      <label class="row">
        <bdi>{`${name}, ${currency}`}</bdi>
        <Field
          label={`${name}: amount`}
          value={textAt(value, rate)}
          onValue={(text) => put(edited(book, rate, text))}
        />
      </label>
      {path.includes("fixedFeeRateCards") && (
        <label>
          <input
            type="checkbox"
            checked={valueAt(value, prorated) === true}
            onChange={({ currentTarget }) => put(edited(book, prorated, currentTarget.checked))}
          />{" "}
          by days where a cycle is cut
        </label>
      )}
    </div>
  );
}

function SlabForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const model = [...path, "ratePlan", "pricingModel"];
  const bounds = [...path, "rateValues", 0, "rateConfig"];
  const slabs = listAt(value, [...path, "ratePlan", "slabs"]);
  return (
    <div class="card">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <label class="row">
        Priced
        <select
          value={textAt(value, model)}
          onChange={({ currentTarget }) => put(edited(book, model, currentTarget.value))}
        >
          <option value="TIERED">each slab by itself</option>
          <option value="VOLUME">all at one slab</option>
        </select>
      </label>
      <table>
        <thead>
          <tr>
            <th scope="col">Above</th>
            <th scope="col">Price of</th>
            <th scope="col">{textAt(value, [...path, "rateValues", 0, "currency"])}</th>
          </tr>
        </thead>
        <tbody>
          {slabs.map((_, index) => (
            <SlabRow key={index} value={value} path={path} name={name} book={book} put={put} index={index} />
          ))}
        </tbody>
      </table>
      <p>
        <button type="button" onClick={() => put(withSlab(book, path))}>
          Add a slab
        </button>{" "}
        <button type="button" disabled={slabs.length < 2} onClick={() => put(withoutSlab(book, path))}>
          Remove the last
        </button>
      </p>
      <div class="row">
        {(["minimumRate", "maximumRate"] as const).map((bound) => (
          <label key={bound}>
            {bound === "minimumRate" ? "At least " : "At most "}
            <Field
              label={`${name}: ${bound === "minimumRate" ? "least" : "most"}`}
              value={textAt(value, [...bounds, bound])}
              onValue={(text) => put(edited(book, [...bounds, bound], text === "" ? undefined : text))}
            />
          </label>
        ))}
      </div>
    </div>
  );
}

function SlabRow({ value, path, name, book, put, index }: FormOf & { readonly index: number }): JSX.Element {
  const slab = [...path, "ratePlan", "slabs", index];
  const rate = [...path, "rateValues", 0, "slabRates", index, "rate"];
  const size = [...slab, "slabConfig", "packageSize"];
  const type = textAt(value, [...slab, "priceType"]);
  const of = `${name}, slab ${index + 1}`;
  return (
    <tr>
      <td>
        <Field
          label={`${of}: above`}
          value={textAt(value, [...slab, "startAfter"])}
          disabled={index === 0}
          onValue={(text) => put(withSlabStart(book, path, index, text))}
        />
      </td>
      <td>
        <select
          aria-label={`${of}: price of`}
          value={type}
          onChange={({ currentTarget: { value: chosen } }) => {
            const next = edited(book, [...slab, "priceType"], chosen);
            const isNew = chosen === "PACKAGE" && valueAt(value, size) === undefined;
            put(isNew ? edited(next, size, "100") : next);
          }}
        >
          <option value="PER_UNIT">each unit</option>
          <option value="PACKAGE">a package</option>
          <option value="FLAT">the slab</option>
        </select>
        {type === "PACKAGE" && (
          <Field
            label={`${of}: units of a package`}
            value={textAt(value, size)}
            onValue={(text) => put(edited(book, size, text))}
          />
        )}
      </td>
      <td>
        <Field label={`${of}: rate`} value={textAt(value, rate)} onValue={(text) => put(edited(book, rate, text))} />
      </td>
    </tr>
  );
}

function Field({
  label,
  value,
  disabled = false,
  onValue,
}: {
  readonly label: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly onValue: (text: string) => void;
}): JSX.Element {
  return (
    <input
      type="text"
      inputMode="decimal"
      class="figure"
      aria-label={label}
      value={value}
      disabled={disabled}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}

function textAt(value: unknown, path: FormPath): string {
  const found = valueAt(value, path);
  if (typeof found === "string") return found;
  return typeof found === "number" || isDecimalObject(found) ? String(found) : "";
}
