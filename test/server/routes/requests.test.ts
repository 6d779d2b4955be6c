/**
 * Every request: what the document requires, bounds and names in bodies, queries and paths is required, bounded and
 * named by the server. The figures of the reference are compared with the document in test/contract, and those beyond
 * it here.
 */
import { beforeAll, expect, test } from "vitest";

import { createOpenApiDocument } from "../../../src/server/docs/openapi.ts";
import { ENDPOINTS } from "../../../src/server/routes/routes.ts";
import type { Json } from "../../contract/api.ts";
import { createBody, formatFieldPath, listPlaces, type Place, valueOfSize } from "../../contract/bounds.ts";
import { startApi, type TestApi } from "../support.ts";

const document: Json = JSON.parse(JSON.stringify(createOpenApiDocument(ENDPOINTS)));
const places = listPlaces(document);

/** Events are read by the ledger, rules by the compiler, and choices by their mode; each has its own messages. */
const isReadElsewhere = ({ line, fieldPath }: Place): boolean =>
  / \/(?:ingest|ingestBatch|entitled)$/.test(line) ||
  fieldPath.includes("matcher") ||
  fieldPath.includes("computation") ||
  /enrichments\.fields\[0\]\.value$|^\w+Config(?:\.mode)?$/.test(formatFieldPath(fieldPath));

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});

/** A request with a fault, and the message that it must get. */
interface FaultyRequest {
  readonly line: string;
  readonly body?: unknown;
  readonly message: string;
}

const valuesOf = ({ enum: values, const: only }: Json): readonly string[] =>
  values ?? (only === undefined ? [] : [only]);

/** `"A", "B" or "C"` */
const formatValues = (values: readonly string[]): string =>
  values
    .map((value) => `"${value}"`)
    .join(", ")
    .replace(/, ("[^"]*")$/, " or $1");

/** What messages call a type. */
const TYPE_NAMES: Readonly<Record<string, string>> = { array: "a list", object: "an object", boolean: "true or false" };

/** The wrong values of a field, each with the message about it after its path. */
function* wrongValues({
  schema,
  isRequired,
  isNullable,
}: Place): Generator<readonly [value: unknown, message: string]> {
  if (isRequired) yield [undefined, ": missing: expected "];
  if (!isNullable) yield [null, ": "];
  const isList = schema.type === "array" || schema.type === "object";
  // An amount may also be an object, with one for each currency.
  yield [isList ? "text" : [{ a: "list" }], `: expected ${TYPE_NAMES[schema.type] ?? ""}`];
  const [most, least] = [schema.maxLength ?? schema.maxItems, schema.minLength ?? schema.minItems];
  const unit = schema.type === "array" ? "items" : "characters";
  if (most !== undefined)
    yield [valueOfSize(document, schema, most + 1), `: expected at most ${most} ${unit}, got ${most + 1}`];
  if (least !== undefined) yield [valueOfSize(document, schema, least - 1), ": expected "];
  const values = valuesOf(schema);
  if (values.length > 0) yield ["NO_SUCH_VALUE", `: expected ${formatValues(values)}, got "NO_SUCH_VALUE"`];
  if (schema.pattern !== undefined) yield ["not.one", ": "];
  const numbers = [schema.minimum - 1, schema.maximum + 1].filter((each) => !Number.isNaN(each));
  for (const outside of numbers) yield [outside, ": expected "];
  if (schema.type === "integer") yield [1.5, ": expected a whole number"];
  if (schema.properties !== undefined) yield [{ unheard: 1 }, ".unheard: unknown field"];
}

const faultyBodies = places
  .filter((place) => !isReadElsewhere(place))
  .flatMap((place) =>
    [...wrongValues(place)].map(([value, message]): FaultyRequest => {
      const path = formatFieldPath(place.fieldPath);
      return { line: place.line, body: createBody(document, place, value), message: `${path}${message}` };
    }),
  );

const unknownFields = [...new Set(places.map(({ line }) => line))].map((line): FaultyRequest => ({
  line,
  body: createBody(document, { line, fieldPath: ["unheard"] }, 1),
  message: "unheard: unknown field",
}));

/** The operations of the document: their lines and parameters. */
const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => {
    const line = `${method.toUpperCase()} ${path}`;
    const body = operation.requestBody && createBody(document, { line, fieldPath: ["unheard"] }, undefined);
    return { line, body, parameters: (operation.parameters ?? []) as readonly Json[] };
  }),
);

const faultyQueries = operations.flatMap(({ line, body, parameters }): readonly FaultyRequest[] => {
  const query = parameters.filter((parameter) => parameter.in === "query");
  const required = query.filter((parameter) => parameter.required).map(({ name }) => `${name}=none&`);
  const values = query.flatMap(({ name, schema }): readonly (readonly [string, unknown, string])[] => [
    ...(schema.enum === undefined ? [] : [[name, "NO_SUCH_VALUE", `${name}: expected `] as const]),
    ...(schema.maxLength === undefined ? [] : [[name, "x".repeat(schema.maxLength + 1), `${name}: `] as const]),
    ...(schema.maximum === undefined
      ? []
      : [0, schema.maximum + 1, 1.5].map((size) => {
          const expected = `expected a whole number from 1 to ${schema.maximum}, got "${size}"`;
          return [name, size, `${name}: ${expected}`] as const;
        })),
  ]);
  return [["unheard", "x", "unheard: unknown field"] as const, ...values].map(([name, value, message]) => ({
    line: `${line}?${required.join("")}${name}=${String(value)}`,
    body,
    message,
  }));
});

const faultyPaths = operations.flatMap(({ line, body, parameters }): readonly FaultyRequest[] =>
  parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name, schema: { maxLength } }) => ({
      line: line.replace(`{${name}}`, "x".repeat(maxLength + 1)),
      body,
      message: `${name}: expected at most ${maxLength} characters, got ${maxLength + 1}`,
    })),
);

/** Bounds beyond the reference: the least and the most of fields, query parameters and path ids. */
const FIGURES: readonly (readonly [place: string, least: number | undefined, most: number | undefined])[] = [
  ["POST /customers id", 1, 50],
  ["POST /customers settings", undefined, 10],
  ["POST /customers account.settings", undefined, 10],
  ["POST /accounts netTermDays", 0, 36_500],
  ["POST /accounts/{account_id}/add_aliases aliases", 1, 100],
  ["POST /accounts/{account_id}/remove_aliases aliases", 1, 100],
  ["POST /aliases aliases", 1, 100],
  ["POST /aliases aliases[0].value", 3, 50],
  ["GET /aliases/{alias} alias", 1, 50],
  ["POST /invoice_groups name", 1, 255],
  ["POST /invoice_groups accountIds", 1, 100],
  ["POST /invoice_groups gracePeriod", 0, 36_500],
  ["POST /invoice_groups/{invoice_group_id}/remove_accounts accountIds", 1, 100],
  ["POST /invoice_groups/{invoice_group_id}/remove_accounts invoice_group_id", 1, 512],
  ["GET /event_schema/{event_schema_name} version", 1, 999_999_999],
  ["POST /price_plans pricePlanDetails.supportedCurrencies", undefined, 200],
  ["POST /price_plans/{price_plan_id}/versions price_plan_id", 1, 255],
  ["GET /price_plans/{price_plan_id} version", 1, 999_999_999],
  ["GET /accounts customer_id", 1, 50],
  ["GET /events schema_name", undefined, 50],
  ["GET /events pageSize", 1, 50],
  ["POST /ingestBatch events", 1, 1000],
  ["POST /accounts/{account_id}/features/{feature_id}/entries idempotencyKey", 1, 255],
  ["POST /credits creditRequests", 1, 100],
  ["POST /credits creditRequests[0].purpose", 1, 255],
  ["POST /credits creditRequests[0].idempotencyKey", 1, 255],
  ["POST /credits/{credit_id}/void credit_id", 1, 512],
  ["GET /credits pageSize", 1, 50],
  ["POST /license_updates idempotencyKey", 1, 255],
  ["POST /metrics metricQueries", 1, 5],
  ["POST /price_plans description", undefined, 255],
  ["PATCH /price_plans/{price_plan_id} description", undefined, 255],
  ["POST /price_plans/{price_plan_id}/versions description", undefined, 255],
  ["POST /features description", undefined, 255],
  ["PATCH /features/{feature_id} description", undefined, 255],
  ["POST /settings name", undefined, 255],
  ["PATCH /settings/{setting_id_str} name", undefined, 255],
  ["POST /revenue_calculator cycleConfig.cycleNumber", 1, 1000],
  ["GET /license_updates pageSize", 1, 50],
  ["GET /invoices/{invoice_id} invoice_id", 1, 512],
];

/** The fields of request bodies and of the objects in their lists: `!` marks required ones, `?` those that may be null. */
const FIELDS: Readonly<Record<string, string>> = {
  "POST /customers": "id! name! primaryEmail! address? settings? account?",
  "POST /customers settings[0]": "id! namespace! name! dataType! value!",
  "PATCH /customers/{customer_id}": "name primaryEmail address?",
  "POST /accounts":
    "id! name! customerId! invoiceCurrency? address? primaryEmail? netTermDays? metadata? tags? aliases? settings?",
  "POST /accounts settings[0]": "id! namespace! name! dataType! value!",
  "PATCH /accounts/{account_id}": "name address? primaryEmail? netTermDays? metadata? tags?",
  "POST /accounts/{account_id}/add_aliases": "aliases!",
  "POST /accounts/{account_id}/remove_aliases": "aliases!",
  "POST /accounts/{account_id}/price_plans":
    "mode? pricePlanId? pricePlanVersion? effectiveFrom! effectiveUntil? pricePlanDetailsOverride? retainStartOffsets?",
  "POST /aliases": "aliases!",
  "POST /aliases aliases[0]": "value! accountId?",
  "POST /invoice_groups": "netTermDays? gracePeriod? address? name! email! dailyInvoiceConsolidation! accountIds!",
  "POST /invoice_groups/{invoice_group_id}/add_accounts": "accountIds!",
  "POST /invoice_groups/{invoice_group_id}/remove_accounts": "accountIds!",
  "POST /event_schema": "name! description? attributes! dimensions! enrichments? eventLevelRevenue? allowUnmetered?",
  "POST /event_schema attributes[0]": "name! displayName? defaultUnit?",
  "POST /event_schema dimensions[0]": "name! displayName? defaultUnit?",
  "PATCH /event_schema/{event_schema_name}": "description? allowUnmetered? status attributes dimensions enrichments?",
  "PATCH /event_schema/{event_schema_name} attributes[0]": "name! displayName? defaultUnit?",
  "PATCH /event_schema/{event_schema_name} dimensions[0]": "name! displayName? defaultUnit?",
  "POST /usage_meters":
    "name! billableName? description? type! aggregation! computations! eventSchemaName! groupBy? daily? carryOver? mode?",
  "POST /usage_meters computations[0]": "id? order!",
  "PATCH /usage_meters/{usage_meter_id}":
    "name billableName? description? type aggregation actualAggregation computations groupBy? daily? carryOver? mode?",
  "PATCH /usage_meters/{usage_meter_id} computations[0]": "id? order!",
  "POST /features": "name! billableName? description? schemaAssocitions? schemaAssociations?",
  "PATCH /features/{feature_id}": "name billableName? description? schemaAssocitions? schemaAssociations?",
  "POST /addons": "name! type! billableName?",
  "PATCH /addons/{addon_id}": "name billableName?",
  "POST /price_plans": "name! type? pricePlanDetails! description?",
  "PATCH /price_plans/{price_plan_id}": "description? pricePlanDetails? mode? migrationMode? versionsToMigrate?",
  "POST /price_plans/{price_plan_id}/activate": "currencies?",
  "POST /price_plans/{price_plan_id}/versions": "pricePlanDetails? description?",
  "POST /price_plans/{price_plan_id}/rate_rows": "usageMeterId! rows! version?",
  "POST /price_plans/{price_plan_id}/rate_rows rows[0]": "when? from? rate? tiers? volumeTiers? slabsOver?",
  "POST /settings": "id! value! entityType? entityId? namespace! name! dataType!",
  "PATCH /settings/{setting_id_str}": "value name dataType",
  "POST /migrations/price_plan":
    "sourceId! sourceVersion! targetId! targetVersion! retainStartOffsets? migrationMode! pricePlanDetailsOverride?",
  "POST /accounts/{account_id}/features/{feature_id}/entries":
    "granted! effectiveFrom! effectiveUntil! idempotencyKey?",
  "PATCH /accounts/{account_id}/features/{feature_id}/entries/{entry_id}": "granted effectiveUntil",
  "POST /license_updates": "licenseId! updateType! quantity! effectiveFrom? idempotencyKey? accountId!",
  "POST /credits": "creditRequests!",
  "POST /credits creditRequests[0]":
    "purpose! creditAmount! priority! effectiveFrom! effectiveUntil? applicableEntityIds? accountId! idempotencyKey?",
  "POST /invoices/bill_runs": "as_of?",
  "POST /revenue_calculator": "explain?",
  "POST /metrics": "startTime! endTime! metricQueries!",
  "POST /metrics metricQueries[0]": "id! name! aggregationPeriod! groupBy? filters?",
};

test("the fields of requests are these", () => {
  const fields: Record<string, string> = {};
  for (const place of places) {
    const { line, fieldPath, isRequired, isNullable } = place;
    const isOfList = fieldPath.length === 3 && fieldPath[1] === 0;
    if (isReadElsewhere(place) || (fieldPath.length > 1 && !isOfList)) continue;
    const object = `${line} ${formatFieldPath(fieldPath.slice(0, -1))}`.trimEnd();
    fields[object] =
      `${fields[object] ?? ""} ${fieldPath.at(-1)}${isRequired ? "!" : ""}${isNullable ? "?" : ""}`.trimStart();
  }
  expect(fields).toEqual(FIELDS);
});

test("the bounds beyond the reference are these", () => {
  const boundsOf = ({ minLength, minItems, minimum, maxLength, maxItems, maximum }: Json): readonly unknown[] => [
    minLength ?? minItems ?? minimum,
    maxLength ?? maxItems ?? maximum,
  ];
  const bounds = new Map<string, readonly unknown[]>([
    ...places.map(
      ({ line, fieldPath, schema }) => [`${line} ${formatFieldPath(fieldPath)}`, boundsOf(schema)] as const,
    ),
    ...operations.flatMap(({ line, parameters }) =>
      parameters.map(({ name, schema }) => [`${line} ${name}`, boundsOf(schema)] as const),
    ),
  ]);
  expect(FIGURES.map(([place]) => [place, ...(bounds.get(place) ?? [])])).toEqual(FIGURES);
});

test.each([
  ["wrong value of any field of a body", faultyBodies, 3000],
  ["field of a body that no endpoint has", unknownFields, 30],
  ["wrong or unknown query parameter", faultyQueries, 100],
  ["path id that is too long", faultyPaths, 50],
] as const)("a %s is a 400 that names it", async (_, requests, least) => {
  const faults: string[] = [];
  for (const { line, body, message } of requests) {
    const filledLine = line.replaceAll(/\{\w+\}/g, "none") as `POST /${string}`;
    const { status, json } = await api.call(filledLine, body === undefined ? {} : { body });
    if (status !== 400 || !json.message.startsWith(message))
      faults.push(`${line}: expected "${message}", got ${status} ${json.message}`);
  }
  expect(faults).toEqual([]);
  expect(requests.length).toBeGreaterThan(least);
});

test.each([
  ["GET /license_updates?accountId=x", undefined, "accountId: unknown field"],
  ["GET /invoices?from=2024-01-01", undefined, "from: unknown field"],
  ["POST /invoices/bill_runs", { asOf: "2024-01-01" }, "asOf: unknown field"],
])("a name that only the engine knows is unknown by that name: %s", async (line, body, message) => {
  await api.expectRefused(line, body, message);
});

/** What the first path id of an endpoint names. */
const NOUNS: Readonly<Record<string, string>> = {
  customer_id: "customer",
  account_id: "account",
  alias: "alias",
  invoice_group_id: "invoice group",
  event_schema_name: "event schema",
  usage_meter_id: "usage meter",
  feature_id: "feature",
  addon_id: "add-on",
  price_plan_id: "price plan",
  setting_id_str: "setting",
  credit_id: "credit",
  invoice_id: "invoice",
  event_id: "event",
};

/** Fields without which a valid request is rejected before its path is looked up. */
const ONE_OF: Readonly<Record<string, object>> = {
  "POST /accounts/{account_id}/price_plans": { pricePlanId: "none" },
  "PATCH /accounts/{account_id}/features/{feature_id}/entries/{entry_id}": { granted: 1 },
};

test("an unknown id in a path, as long as it may be, is a 404 that names it, and a 422 for the owner of feature credits", async () => {
  const faults: string[] = [];
  for (const { line, body, parameters } of operations.filter((operation) => operation.line.includes("{"))) {
    const filledLine = line.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      "x".repeat(parameters.find((parameter) => parameter.name === name)?.schema.maxLength),
    ) as "POST /";
    const { status, json } = await api.call(
      filledLine,
      body === undefined ? {} : { body: { ...body, ...ONE_OF[line] } },
    );
    const parameter = /\{(\w+)\}/.exec(line)?.[1] ?? "";
    const field = parameter === "event_schema_name" ? "name" : "id";
    const isOwner = line.includes("/features/{feature_id}") && line.includes("/accounts/");
    const isNamed = String(json.message).startsWith(`no ${NOUNS[parameter]} has the ${field} "xxxxxxxxxx`);
    if (status !== (isOwner ? 422 : 404) || !isNamed) faults.push(`${line}: got ${status} ${json.message}`);
  }
  expect(faults).toEqual([]);
});
