/**
 * Checks usage meters: their event schema, their steps and the rules in them (S3.6, S5).
 *
 * @module
 */
import type { Steps } from "../../numbers/steps.ts";
import type { Path, Report } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import type { Book } from "../resources/book.ts";
import type { EventSchema } from "../resources/event-schema.ts";
import { findCurrentSchemas } from "../resources/event-schema.ts";
import { checkRuleForSchema } from "../resources/rule-fields.ts";
import type { UsageMeter } from "../resources/usage-meter.ts";
import { checkUnique } from "./check-names.ts";

/** Reports problems of the usage meters, one per step. */
export function* checkMeters(book: Book, cache: BookCache, report: Report): Steps {
  const schemas = findCurrentSchemas(book.eventSchemas);
  for (const [index, meter] of book.usageMeters.entries()) {
    if (meter === undefined) continue;
    const schema = schemas.get(meter.eventSchemaName);
    const checkThisMeter = (itemReport: Report): void => checkMeter(meter, schema, ["usageMeters", index], itemReport);
    cache.runOrReuse({ work: "check", item: meter, dependsOn: [schema], report, run: checkThisMeter });
    yield;
  }
}

function checkMeter(meter: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  if (meter.status === "ACTIVE" && schema !== undefined && schema.status !== "ACTIVE") {
    const params = { resource: "event schema", id: schema.name, status: schema.status };
    report([...path, "eventSchemaName"], "NOT_ACTIVE", { ...params, reason: "usage meter is active" });
  }
  checkUnique(meter.computations, { path: [...path, "computations"], field: "order" }, report, ({ order }) => order);
  checkSteps(meter, schema, path, report);
}

function checkSteps(meter: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  meter.computations.forEach((step, index) => {
    const place: Path = [...path, "computations", index];
    if (step.matcher !== undefined) checkRuleForSchema(step.matcher, schema, [...place, "matcher"], report);
    if (step.computation !== undefined) checkRuleForSchema(step.computation, schema, [...place, "computation"], report);
    else if (meter.aggregation === "SUM") {
      report([...place, "computation"], "MISSING", { expected: "a rule", reason: "because the aggregation is SUM" });
    }
  });
}
