/**
 * Usage meters across a book: their event schema, their steps and the rules in them (S3.6, S5).
 *
 * @module
 */
import type { Book } from "../model/book.ts";
import type { EventSchema, UsageMeter } from "../model/metering.ts";
import type { Path, Report } from "../problems.ts";
import { currentSchemas } from "../resources/event-schema.ts";
import { checkRuleAt } from "../resources/rule-fields.ts";
import { shown } from "../sentences.ts";
import { unique } from "./check-names.ts";

/** Reports what is wrong with the usage meters. */
export function checkMeters(book: Book, report: Report): void {
  const schemas = currentSchemas(book.eventSchemas);
  book.usageMeters.forEach((meter, at) => {
    const path: Path = ["usageMeters", at];
    const schema = schemas.get(meter.eventSchemaName);
    if (meter.status === "ACTIVE" && schema !== undefined && schema.status !== "ACTIVE") {
      report(
        [...path, "eventSchemaName"],
        `expected an ACTIVE event schema, as the usage meter is ACTIVE: ${shown(schema.name)} is ${schema.status}`,
      );
    }
    unique(meter.computations, { path: [...path, "computations"], field: "order" }, report, ({ order }) => order);
    checkSteps(meter, schema, path, report);
  });
}

function checkSteps(meter: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  meter.computations.forEach((step, at) => {
    const place: Path = [...path, "computations", at];
    if (step.matcher !== undefined) checkRuleAt(step.matcher, schema, [...place, "matcher"], report);
    if (step.computation !== undefined) checkRuleAt(step.computation, schema, [...place, "computation"], report);
    else if (meter.aggregation === "SUM") {
      report([...place, "computation"], "missing: expected a rule, as the usage meter is a SUM");
    }
  });
}
