/**
 * What a plan costs as usage grows: its curves, and the price of a card at a quantity.
 *
 * @module
 */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { CardCosts, CostPoint } from "../../play/card-costs.ts";
import type { PlayChart } from "../../play/play-bill.ts";
import { TableHead } from "../common/data-table.tsx";
import { useWidth } from "../common/plot.tsx";
import { Field } from "./field.tsx";

/** The maximum width of a chart in pixels. */
const CHART_WIDTH_MAX = 720;

/** Charts of the plans. Names can't inject markup, because a chart is an image. */
export function Costs({ charts }: { readonly charts: readonly PlayChart[] }): JSX.Element {
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">Cost by quantity</h2>
      {charts.map((chart, index) => (
        <div class="plan-costs" key={index}>
          <Chart chart={chart} />
          <div>
            {chart.cards.map((card, cardIndex) => (
              <CardCost key={cardIndex} card={card} />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

/** The curves at the available width. */
function Chart({ chart: { name, draw } }: { readonly chart: PlayChart }): JSX.Element {
  const [figure, width] = useWidth(CHART_WIDTH_MAX);
  const { svg, description } = useMemo(() => draw(Math.min(width, CHART_WIDTH_MAX)), [draw, width]);
  return (
    <figure ref={figure}>
      <img
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
        alt={`What ${name} costs. ${description}.`}
      />
    </figure>
  );
}

/** A card's price at a chosen quantity, and at its slab edges. */
function CardCost({ card }: { readonly card: CardCosts }): JSX.Element {
  const { name, currency, upTo, edges } = card;
  const [typedQuantity, setTypedQuantity] = useState<string | undefined>();
  const quantity = typedQuantity ?? card.quantity;
  const currentPoint = card.costAt(quantity);
  const maxQuantity = Number(upTo);
  return (
    <div class="panel card-cost">
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <div class="row">
        <label>
          At <Field label={`${name}: cost at`} value={quantity} onValue={setTypedQuantity} />
        </label>
        {Number.isFinite(maxQuantity) && (
          <input
            type="range"
            aria-label={`${name}: cost at, slider`}
            min={0}
            max={maxQuantity}
            step={maxQuantity > 200 ? Math.round(maxQuantity / 200) : "any"}
            value={Math.min(maxQuantity, Number(quantity) || 0)}
            onInput={({ currentTarget }) => setTypedQuantity(currentTarget.value)}
          />
        )}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${name}: cost`}>
        <table>
          <TableHead
            columns={["Units", currency, "Each on average", "The next one", "Whole cycle"].map((label) => ({
              label,
              class: "number",
            }))}
          />
          <tbody>
            {currentPoint === undefined ? (
              <tr class="current">
                <td colSpan={5}>{`${quantity.slice(0, 60)} is not a valid quantity.`}</td>
              </tr>
            ) : (
              <CostRow point={currentPoint} isCurrent />
            )}
            {edges.map((point) => (
              <CostRow key={point.quantity} point={point} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function CostRow({
  point,
  isCurrent = false,
}: {
  readonly point: CostPoint;
  readonly isCurrent?: boolean;
}): JSX.Element {
  const { quantity, amount, average = "–", next, total = "–" } = point;
  return (
    <tr class={isCurrent ? "current" : ""}>
      {[quantity, amount, average, next, total].map((text, index) => (
        <td class="number" key={index}>
          {text}
        </td>
      ))}
    </tr>
  );
}
