/**
 * Usage meters over HTTP (S5.4).
 *
 * @module
 */
import * as z from "zod";

import { type UsageMeter, usageMeter } from "../../../book/resources/usage-meter.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { answerPage, createListShape, readBoundedPage } from "../../shapes/list.ts";
import { toMeterJson, usageMeterShape } from "../../shapes/usage-meter.ts";
import {
  defineActionEndpoint,
  defineCreateEndpoint,
  defineGetEndpoint,
  defineRemoveEndpoint,
  defineUpdateEndpoint,
  type ResourceSpec,
} from "../resource-endpoints.ts";

const { name, billableName, description, aggregation, eventSchemaName, computations } = usageMeter.shape;
const { type } = usageMeterShape.shape;
const USAGE_METERS: ResourceSpec<StoredResource<UsageMeter>> = {
  tag: "Usage meters",
  path: "/usage_meters",
  idName: "usage_meter_id",
  shape: usageMeterShape,
  toJson: toMeterJson,
};

/** One aggregation, or several separated by commas. */
const aggregations = z
  .string()
  .refine((text) => text.split(",").every((part) => aggregation.safeParse(part).success), {
    error: 'expected "COUNT", "SUM" or "COUNT,SUM"',
  })
  .meta({ pattern: "^(COUNT|SUM)(,(COUNT|SUM))*$" })
  .optional();

export const USAGE_METER_ENDPOINTS: readonly Endpoint[] = [
  defineCreateEndpoint(USAGE_METERS, {
    id: "createUsageMeter",
    summary: "Create a usage meter",
    description: "The usage meter starts as a DRAFT and counts events that arrive while it is ACTIVE.",
    body: z.strictObject({ name, billableName, description, type, aggregation, computations, eventSchemaName }),
    status: 201,
    run: (engine, body) => engine.usageMeters.create(withoutAbsent(body)),
  }),
  defineEndpoint({
    method: "GET",
    path: "/usage_meters",
    id: "listUsageMeters",
    tag: USAGE_METERS.tag,
    summary: "List usage meters, newest first",
    access: "read",
    query: listQuery({ status: usageMeterShape.shape.status.optional(), aggregation: aggregations, aggregations }),
    answers: { 200: createListShape(usageMeterShape, "UsageMeterList") },
    handle: async ({ engine, paging, query: { aggregation: singleFilter, aggregations: listFilter, ...query } }) => {
      if (singleFilter !== undefined && listFilter !== undefined) {
        throw new Refusal(400, "aggregations: use either aggregations or aggregation");
      }
      const request = paging.readRequest({
        list: "usage_meters",
        query: { ...query, aggregation: singleFilter ?? listFilter },
      });
      const aggregationSet = new Set(request.filters.aggregation?.split(","));
      const onlyAggregation =
        aggregationSet.size === 1 ? aggregation.options.find((each) => aggregationSet.has(each)) : undefined;
      const filter = { status: request.filters.status, aggregation: onlyAggregation };
      const listMeters = (page: PageOptions): ReturnType<typeof engine.usageMeters.list> =>
        engine.usageMeters.list({ filter, page });
      return answerPage(request, await readBoundedPage(request, listMeters, toMeterJson));
    },
  }),
  defineGetEndpoint(USAGE_METERS, {
    id: "getUsageMeter",
    summary: "Get a usage meter",
    run: (engine, id) => engine.usageMeters.get(id),
  }),
  defineUpdateEndpoint(USAGE_METERS, {
    id: "updateUsageMeter",
    summary: "Change a usage meter",
    description:
      "Unless the meter is a DRAFT, only name, billableName and description can change; the other fields can be sent unchanged.",
    body: z.strictObject({
      name: name.optional(),
      billableName,
      description,
      type: type.optional(),
      aggregation: aggregation.optional(),
      computations: computations.optional(),
    }),
    run: (engine, id, body) => engine.usageMeters.update(id, body),
  }),
  defineActionEndpoint(USAGE_METERS, "activate", {
    id: "activateUsageMeter",
    summary: "Activate a usage meter",
    run: (engine, id) => engine.usageMeters.activate(id),
  }),
  defineActionEndpoint(USAGE_METERS, "deactivate", {
    id: "deactivateUsageMeter",
    summary: "Deactivate a usage meter",
    description: "Rejected while an account has, or will have, a price plan with the meter.",
    run: (engine, id) => engine.usageMeters.deactivate(id),
  }),
  defineRemoveEndpoint(USAGE_METERS, {
    id: "archiveUsageMeter",
    summary: "Archive a usage meter that is a DRAFT or INACTIVE",
    run: (engine, id) => engine.usageMeters.archive(id),
  }),
];
