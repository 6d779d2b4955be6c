/** A form for a plan: the start of its cycles, its fees, and the slabs, rates and bounds of its cards. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import {
  readBillableNames,
  replaceValue,
  listAt,
  changeInterval,
  removeLastSlab,
  addSlab,
  moveSlabStart,
} from "../../play/book-edits.ts";
import type { PlayProblem } from "../../play/play-bill.ts";
import { formatCount } from "../common/format.ts";
import { BookField, Field, type FormProps, OptionalField, textAt } from "./field.tsx";
import { TableForm } from "./table-form.tsx";

const INTERVALS = ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"];
/** The maximum number of slabs with fields. */
const SLABS_MAX = 100;
const CARD_LISTS = [
  ["usageRateCards", "usageMeterId"],
  ["licenseRateCards", "id"],
  ["entitlementOverageRateCards", "featureId"],
  ["billingEntitlementRateCards", "featureId"],
] as const;

export function PlanForm({
  problems,
  ...form
}: FormProps & { readonly problems: readonly PlayProblem[] }): JSX.Element {
  const { value, path, name } = form;
  const details = [...path, "pricePlanDetails"];
  const names = readBillableNames(value);
  return (
    <fieldset>
      <legend>
        <bdi>{name}</bdi>
      </legend>
      <CycleForm {...form} path={[...details, "pricingCycleConfig"]} />
      {listAt(value, [...details, "fixedFeeRateCards"]).map((card, index) => (
        <FeeForm
          key={index}
          {...form}
          path={[...details, "fixedFeeRateCards", index]}
          name={findCardName(card, "id", names)}
        />
      ))}
      {CARD_LISTS.flatMap(([list, id]) =>
        listAt(value, [...details, list]).map((card, index) => {
          const cardForm = { ...form, path: [...details, list, index], name: findCardName(card, id, names) };
          const key = `${list} ${index}`;
          if (valueAt(card, ["rateTable"]) === undefined) return <SlabForm key={key} {...cardForm} />;
          return <TableForm key={key} {...cardForm} problems={problems} />;
        }),
      )}
      {valueAt(value, [...details, "minimumCommitment"]) !== undefined && (
        <FeeForm {...form} path={[...details, "minimumCommitment"]} name="Minimum commitment" />
      )}
    </fieldset>
  );
}

function CycleForm({ value, path, name, book, onBook }: FormProps): JSX.Element {
  const [anniversaryPath, offsetPath] = [
    [...path, "anniversaryCycle"],
    [...path, "startOffset"],
  ];
  const isAnniversary = valueAt(value, anniversaryPath) === true;
  const interval = textAt(value, [...path, "interval"]);
  const months = interval === "WEEKLY" || interval === "MONTHLY" ? [] : (["monthOffset"] as const);
  return (
    <>
      <label class="row">
        Billing period
        <select
          aria-label={`${name}: billing period`}
          value={interval}
          onChange={({ currentTarget }) => onBook(changeInterval(book, path, currentTarget.value))}
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
            label={`${name}: billing periods begin ${part === "dayOffset" ? "on day" : "in month"}`}
            value={isAnniversary ? "" : textAt(value, [...offsetPath, part])}
            disabled={isAnniversary}
            onValue={(text) => onBook(replaceValue(book, [...offsetPath, part], text))}
          />
        </label>
      ))}
      <label>
        <input
          type="checkbox"
          checked={isAnniversary}
          onChange={({ currentTarget }) => onBook(replaceValue(book, anniversaryPath, currentTarget.checked))}
        />{" "}
        Starts on the signup date
      </label>
    </>
  );
}

function FeeForm(form: FormProps): JSX.Element {
  const { value, path, name } = form;
  const ratePath = [...path, "rateValues", 0, "rate"];
  const currency = textAt(value, [...path, "rateValues", 0, "currency"]);
  return (
    <div class="card">
      <label class="row">
        <bdi>{`${name}, ${currency}`}</bdi>
        <BookField {...form} path={ratePath} label={`${name}: amount`} />
      </label>
      {path.includes("fixedFeeRateCards") && <ProrationField {...form} />}
    </div>
  );
}

/** Whether partial cycles are prorated. */
function ProrationField({ value, path, name, book, onBook }: FormProps): JSX.Element {
  const prorationPath = [...path, "enableProration"];
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`${name}: prorate partial periods`}
        checked={valueAt(value, prorationPath) === true}
        onChange={({ currentTarget }) => onBook(replaceValue(book, prorationPath, currentTarget.checked))}
      />{" "}
      Prorate partial periods
    </label>
  );
}

function SlabForm(form: FormProps): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const modelPath = [...path, "ratePlan", "pricingModel"];
  const boundsPath = [...path, "rateValues", 0, "rateConfig"];
  const slabs = listAt(value, [...path, "ratePlan", "slabs"]);
  return (
    <div class="card">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <label class="row">
        Pricing
        <select
          value={textAt(value, modelPath)}
          onChange={({ currentTarget }) => onBook(replaceValue(book, modelPath, currentTarget.value))}
        >
          <option value="TIERED">graduated</option>
          <option value="VOLUME">volume</option>
        </select>
      </label>
      <table>
        <thead>
          <tr>
            <th scope="col">Above</th>
            <th scope="col">Price</th>
            <th scope="col">{textAt(value, [...path, "rateValues", 0, "currency"])}</th>
          </tr>
        </thead>
        <tbody>
          {slabs.slice(0, SLABS_MAX).map((_, index) => (
            <SlabRow key={index} {...form} index={index} />
          ))}
        </tbody>
      </table>
      {slabs.length > SLABS_MAX && (
        <p class="soft">{`The first ${SLABS_MAX} of ${formatCount(slabs.length, "tier")}: the others are in the JSON below.`}</p>
      )}
      <p>
        <button type="button" onClick={() => onBook(addSlab(book, path))}>
          Add tier
        </button>{" "}
        <button type="button" disabled={slabs.length < 2} onClick={() => onBook(removeLastSlab(book, path))}>
          Remove last tier
        </button>
      </p>
      <div class="row">
        <OptionalField {...form} caption="Minimum" path={[...boundsPath, "minimumRate"]} />
        <OptionalField {...form} caption="Maximum" path={[...boundsPath, "maximumRate"]} />
      </div>
      {path.includes("licenseRateCards") && <ProrationField {...form} />}
    </div>
  );
}

function SlabRow({ index, ...form }: FormProps & { readonly index: number }): JSX.Element {
  const { value, path, name, book, onBook } = form;
  const slabPath = [...path, "ratePlan", "slabs", index];
  const ratePath = [...path, "rateValues", 0, "slabRates", index, "rate"];
  const sizePath = [...slabPath, "slabConfig", "packageSize"];
  const type = textAt(value, [...slabPath, "priceType"]);
  const rowLabel = `${name}, tier ${index + 1}`;
  return (
    <tr>
      <td>
        <Field
          label={`${rowLabel}: above`}
          value={textAt(value, [...slabPath, "startAfter"])}
          disabled={index === 0}
          onValue={(text) => onBook(moveSlabStart(book, path, index, text))}
        />
      </td>
      <td>
        <select
          aria-label={`${rowLabel}: price`}
          value={type}
          onChange={({ currentTarget: { value: chosenType } }) => {
            const next = replaceValue(book, [...slabPath, "priceType"], chosenType);
            const isNew = chosenType === "PACKAGE" && valueAt(value, sizePath) === undefined;
            onBook(isNew ? replaceValue(next, sizePath, "100") : next);
          }}
        >
          <option value="PER_UNIT">per unit</option>
          <option value="PACKAGE">per package</option>
          <option value="FLAT">flat</option>
        </select>
        {type === "PACKAGE" && <BookField {...form} path={sizePath} label={`${rowLabel}: package size`} />}
      </td>
      <td>
        <BookField {...form} path={ratePath} label={`${rowLabel}: rate`} />
      </td>
    </tr>
  );
}

/** The card's name, or that of what it prices. */
function findCardName(card: unknown, id: string, names: ReadonlyMap<string, string>): string {
  const billable = textAt(card, [id]);
  return textAt(card, ["displayName"]) || names.get(billable) || billable;
}
