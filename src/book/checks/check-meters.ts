/**
 * Usage meters across a book: their event schema, their steps and the rules in them (S3.6, S5).
 *
 * @module
 */
import type { Book } from "../model/book.ts";
import type { EventSchema, UsageMeter } from "../model/metering.ts";
import type { Path, Report } from "../problems.ts";
import type { BookMemory } from "../reading/memory.ts";
import { currentSchemas } from "../resources/event-schema.ts";
import { checkRuleAt } from "../resources/rule-fields.ts";
import { shown } from "../sentences.ts";
import type { Steps } from "../steps.ts";
import { unique } from "./check-names.ts";

/** Reports what is wrong with the usage meters, one in a step. */
export function* checkMeters(book: Book, memory: BookMemory, report: Report): Steps {
  const schemas = currentSchemas(book.eventSchemas);
  for (const [at, meter] of book.usageMeters.entries()) {
    if (meter === undefined) continue;
    const schema = schemas.get(meter.eventSchemaName);
    const run = (own: Report): void => checkMeter(meter, schema, ["usageMeters", at], own);
    memory.recall({ work: "check", item: meter, context: [schema], report, run });
    yield;
  }
}

function checkMeter(meter: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  if (meter.status === "ACTIVE" && schema !== undefined && schema.status !== "ACTIVE") {
    report(
      [...path, "eventSchemaName"],
      `expected an ACTIVE event schema, as the usage meter is ACTIVE: ${shown(schema.name)} is ${schema.status}`,
    );
  }
  unique(meter.computations, { path: [...path, "computations"], field: "order" }, report, ({ order }) => order);
  checkSteps(meter, schema, path, report);
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
