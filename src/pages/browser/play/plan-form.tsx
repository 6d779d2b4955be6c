/**
 * A plan as a form: when its cycles begin, its fees, and the slabs, rates and bounds of its cards.
 *
 * @module
 */
import type { JSX } from "preact";

import {
  billableNames,
  edited,
  listAt,
  valueAt,
  withInterval,
  withoutSlab,
  withSlab,
  withSlabStart,
} from "../../play/plan-edit.ts";
import { counted } from "../look/figures.ts";
import { Field, type FormOf, textAt } from "./field.tsx";

const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"];
/** So many slabs of a card have fields. */
const SLABS_MAX = 100;
const LISTS = [
  ["usageRateCards", "usageMeterId"],
  ["licenseRateCards", "id"],
  ["entitlementOverageRateCards", "featureId"],
  ["billingEntitlementRateCards", "featureId"],
] as const;

/** The plan. */
export function PlanForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const details = [...path, "pricePlanDetails"];
  const names = billableNames(value);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      <CycleForm value={value} path={[...details, "pricingCycleConfig"]} name={name} book={book} put={put} />
      {listAt(value, [...details, "fixedFeeRateCards"]).map((card, index) => (
        <FeeForm
          key={index}
          value={value}
          path={[...details, "fixedFeeRateCards", index]}
          name={nameOf(card, "id", names)}
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
            name={nameOf(card, id, names)}
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

function CycleForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const [anniversary, offset] = [
    [...path, "anniversaryCycle"],
    [...path, "startOffset"],
  ];
  const isAnniversary = valueAt(value, anniversary) === true;
  const interval = textAt(value, [...path, "interval"]);
  const months = interval === "WEEKLY" || interval === "MONTHLY" ? [] : (["monthOffset"] as const);
  return (
    <>
      <label class="row">
        Cycle
        <select
          aria-label={`${name}: cycle`}
          value={interval}
          onChange={({ currentTarget }) => put(withInterval(book, path, currentTarget.value))}
        >
          {INTERVALS.map((each) => (
            <option key={each} value={each}>
              {each.toLowerCase().replace("_", "-")}
            </option>
          ))}
        </select>
      </label>
      {(["dayOffset", ...months] as const).map((part) => (
        <label key={part} class="row">
          {part === "dayOffset" ? "begins on day" : "of month"}
          <Field
            label={`${name}: cycles begin ${part === "dayOffset" ? "on day" : "in month"}`}
            value={isAnniversary ? "" : textAt(value, [...offset, part])}
            disabled={isAnniversary}
            onValue={(text) => put(edited(book, [...offset, part], text))}
          />
        </label>
      ))}
      <label>
        <input
          type="checkbox"
          checked={isAnniversary}
          onChange={({ currentTarget }) => put(edited(book, anniversary, currentTarget.checked))}
        />{" "}
        begins on the day on which an account takes the plan
      </label>
    </>
  );
}

function FeeForm({ value, path, name, book, put }: FormOf): JSX.Element {
  const rate = [...path, "rateValues", 0, "rate"];
  const currency = textAt(value, [...path, "rateValues", 0, "currency"]);
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
      {path.includes("fixedFeeRateCards") && <Proration value={value} path={path} name={name} book={book} put={put} />}
    </div>
  );
}

/** Whether a cut cycle is charged by its days. */
function Proration({ value, path, name, book, put }: FormOf): JSX.Element {
  const prorated = [...path, "enableProration"];
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`${name}: by days where a cycle is cut`}
        checked={valueAt(value, prorated) === true}
        onChange={({ currentTarget }) => put(edited(book, prorated, currentTarget.checked))}
      />{" "}
      by days where a cycle is cut
    </label>
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
          {slabs.slice(0, SLABS_MAX).map((_, index) => (
            <SlabRow key={index} value={value} path={path} name={name} book={book} put={put} index={index} />
          ))}
        </tbody>
      </table>
      {slabs.length > SLABS_MAX && (
        <p class="soft">{`The first ${SLABS_MAX} of ${counted(slabs.length, "slab")}: the others are in the JSON below.`}</p>
      )}
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
      {path.includes("licenseRateCards") && <Proration value={value} path={path} name={name} book={book} put={put} />}
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

/** The name of a card: its own, or that of what it prices. */
function nameOf(card: unknown, id: string, names: ReadonlyMap<string, string>): string {
  const billable = textAt(card, [id]);
  return textAt(card, ["displayName"]) || names.get(billable) || billable;
}
