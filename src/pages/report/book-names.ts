/** The names of a book's plans, and the units of its meters. */
import type { Book } from "../../book/resources/book.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { toPrintable } from "../printable.ts";

/** Names for the ids on invoices. */
export interface BookNames {
  /** The name of a plan, with the version from the second on. */
  readonly describePlan: (planId: string, version: number) => string;
  /** The unit of the attribute that a meter measures, if its schema names one. */
  readonly findUnit: (meterId: string) => string | undefined;
}

/** Reads the names of a book once. */
export function createBookNames({ pricePlans, usageMeters, eventSchemas }: Book): BookNames {
  const planNames = new Map(pricePlans.map(({ id, name }) => [id, name]));
  const unitsByField = new Map<string, string | null | undefined>(
    eventSchemas.flatMap(({ name: schema, attributes }) =>
      attributes.map(({ name, defaultUnit }) => [`${schema} attribute.${name}`, defaultUnit] as const),
    ),
  );
  const unitsByMeter = new Map(
    usageMeters.map(({ id, eventSchemaName, computations }) => {
      const units = computations.map(({ computation }) => {
        const field = isJsonObject(computation) ? computation["var"] : undefined;
        return typeof field === "string" ? unitsByField.get(`${eventSchemaName} ${field}`) : undefined;
      });
      return [id, units.every((unit) => unit === units[0]) ? units[0] : undefined];
    }),
  );
  return {
    describePlan: (planId, version) =>
      toPrintable(`${planNames.get(planId) ?? planId}${version === 1 ? "" : ` version ${version}`}`),
    findUnit(meterId) {
      const unit = unitsByMeter.get(meterId);
      return unit === undefined || unit === null ? undefined : toPrintable(unit);
    },
  };
}
