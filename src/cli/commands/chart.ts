/** `ratebook chart`: the cost of a plan by usage, as SVG. */
import { type PlanCurves, planCurves } from "../../analysis/plan-curves.ts";
import { parseValue } from "../../numbers/decimal.ts";
import { drawPlanChart } from "../../pages/chart/plan-chart.ts";
import { quoteText } from "../../problem-table.ts";
import { type Arguments, checkOption, type Command, requireFilePath } from "../arguments.ts";
import { type PlanFile, findPlanInFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { fileOption } from "../reading/event-options.ts";

export const chartCommand: Command = {
  usage: "PLAN|BOOK [options]",
  options: {
    plan: { kind: "one", value: "ID", help: "the plan, if the book has several" },
    currency: { kind: "one", value: "CODE", help: "currency of the prices; default: the first that the plan supports" },
    "up-to": { kind: "one", value: "QUANTITY", help: "the largest quantity; default: enough to show every tier" },
    at: { kind: "many", value: "ID=QUANTITY", help: "fixed quantity of another card; default 0" },
    ...fileOption,
  },
  run: runChart,
};

async function runChart(args: Arguments, io: Io): Promise<"done"> {
  const file = await findPlanInFile(requireFilePath(args, "PLAN or BOOK"), args.value("plan"), io);
  const svg = drawPlanChart(file.plan.name, computeCurves(file, args));
  await withOutput(args, io, ({ stdout }) => write(stdout, svg));
  return "done";
}

function computeCurves({ plan: { pricePlanDetails }, names }: PlanFile, args: Arguments): PlanCurves {
  const [currency, upTo] = [args.value("currency"), args.value("up-to")];
  const currencies = pricePlanDetails.supportedCurrencies ?? [];
  if (currency !== undefined && !currencies.includes(currency)) {
    throw new UsageError(
      `--currency: the plan supports ${currencies.join(", ") || "none"}, not ${quoteText(currency)}`,
    );
  }
  if (upTo !== undefined) checkOption("up-to", () => parseValue(upTo));
  const fixedQuantities = args.values("at").map(parseFixedQuantity);
  const quantities = Object.fromEntries(fixedQuantities);
  const repeatedId = fixedQuantities.map(([id]) => id).find((id, at, ids) => ids.indexOf(id) !== at);
  if (repeatedId !== undefined) throw new UsageError(`--at: ${quoteText(repeatedId)} has several quantities; give one`);
  const options = { currency, upTo, quantities, names };
  const curves = checkOption("up-to", () => planCurves(pricePlanDetails, options));
  const cardIds = curves.cards.map(({ id }) => id);
  const unknownId = Object.keys(quantities).find((id) => !cardIds.includes(id));
  if (unknownId === undefined) return curves;
  throw new UsageError(
    `--at: the plan has no card ${quoteText(unknownId)} with a quantity; its cards: ${cardIds.map(quoteText).join(", ") || "none"}`,
  );
}

function parseFixedQuantity(text: string): readonly [string, string] {
  const end = text.lastIndexOf("=");
  if (end < 1) throw new UsageError(`--at: expected ID=QUANTITY, got ${quoteText(text)}`);
  const quantity = text.slice(end + 1);
  checkOption("at", () => parseValue(quantity));
  return [text.slice(0, end), quantity];
}
