/** What the selected item costs as its quantity grows. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { type CardCosts, type CostPoint, CURVE_SIZE } from "../../play/cost-curve.ts";
import { Table } from "../common/data-table.tsx";
import { NumberField } from "./field.tsx";

const { width: WIDTH, height: HEIGHT, left: LEFT, right: RIGHT, bottom: BOTTOM } = CURVE_SIZE;

const COST_COLUMNS = [
  { label: "Units", class: "number", cell: ({ quantity }: CostPoint) => quantity },
  { label: "Price", class: "number", cell: ({ amount }: CostPoint) => amount },
  { label: "Average", class: "number", cell: ({ average = "–" }: CostPoint) => average },
  { label: "Next unit", class: "number", cell: ({ next }: CostPoint) => next },
  { label: "Whole period", class: "number", cell: ({ total = "–" }: CostPoint) => total },
];

/** @param quantity in the shown billing period; by default the typed one, or half of the curve's range */
export function Curve({
  costs,
  quantity: invoicedQuantity,
}: {
  readonly costs: CardCosts;
  readonly quantity: string | undefined;
}): JSX.Element {
  const { name, description, edges } = costs;
  const [typedQuantity, setTypedQuantity] = useState<string | undefined>();
  const quantity = typedQuantity ?? invoicedQuantity ?? costs.quantity;
  const { cost, picture } = costs.at(quantity);
  const { path, amounts, quantities, point } = picture;
  const isRight = point !== undefined && point.x > WIDTH / 2;
  return (
    <section class="curve" aria-label="Cost by quantity">
      <h2>
        <bdi>{name}</bdi>: cost as usage grows
      </h2>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`What ${name} costs. ${description}.`}>
        {amounts.map(({ at, label }) => (
          <g key={label}>
            <path class="grid-line" d={`M${LEFT} ${at}H${WIDTH - RIGHT}`} />
            <text x={LEFT - 6} y={at + 4} class="end">
              {label}
            </text>
          </g>
        ))}
        {quantities.map(({ at, label }, index) => (
          <text key={label} x={at} y={HEIGHT - 6} class={index === 0 ? "" : at > WIDTH - 40 ? "end" : "middle"}>
            {label}
          </text>
        ))}
        <path class="cost-line" d={path} />
        {point !== undefined && cost !== undefined && (
          <>
            <path class="drop-line" d={`M${point.x} ${point.y}V${HEIGHT - BOTTOM}`} />
            <circle cx={point.x} cy={point.y} r={4} />
            <text
              class={`value${isRight ? " end" : ""}`}
              x={point.x + (isRight ? -10 : 10)}
              y={Math.max(12, point.y - 8)}
            >
              {cost.amount}
            </text>
          </>
        )}
      </svg>
      <div class="cost-at">
        <label>
          At <NumberField label={`${name}: cost at`} value={quantity} onValue={setTypedQuantity} />
        </label>
        {cost === undefined ? (
          <span class="bad">{`${quantity.slice(0, 60)} is not a valid quantity.`}</span>
        ) : (
          <span class="soft">{`${cost.amount}${cost.average === undefined ? "" : ` · ${cost.average} a unit`} · next ${cost.next}`}</span>
        )}
      </div>
      <details>
        <summary>Costs at the tier boundaries</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={`${name}: cost`}>
          <Table
            columns={COST_COLUMNS}
            rows={[...(cost === undefined ? [] : [cost]), ...edges]}
            rowClass={(edge) => (edge === cost ? "current" : "")}
          />
        </div>
      </details>
    </section>
  );
}
