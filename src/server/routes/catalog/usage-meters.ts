/**
 * Usage meters over HTTP (S5.4).
 *
 * @module
 */
import * as z from "zod";

import { usageMeter } from "../../../book/resources/usage-meter.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { pathId, success, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";
import { toMeterJson, usageMeterShape } from "../../shapes/usage-meter.ts";

const TAG = "Usage meters";
const { name, billableName, description, aggregation, eventSchemaName, computations } = usageMeter.shape;
const { type } = usageMeterShape.shape;
const params = z.strictObject({ usage_meter_id: pathId() });
const answers = { 200: usageMeterShape };

/** One aggregation, or several separated by commas. */
const aggregations = z
  .string()
  .refine((text) => text.split(",").every((part) => aggregation.safeParse(part).success), {
    error: 'expected "COUNT", "SUM" or "COUNT,SUM"',
  })
  .meta({ pattern: "^(COUNT|SUM)(,(COUNT|SUM))*$" })
  .optional();

export const USAGE_METER_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/usage_meters",
    id: "createUsageMeter",
    tag: TAG,
    summary: "Create a usage meter",
    description: "The usage meter starts as a DRAFT and counts events that arrive while it is ACTIVE.",
    access: "write",
    body: z.strictObject({ name, billableName, description, type, aggregation, computations, eventSchemaName }),
    answers: { 201: usageMeterShape },
    handle: async ({ engine, body }) =>
      answerCreated(toMeterJson(await engine.usageMeters.create(withoutAbsent(body)))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/usage_meters",
    id: "listUsageMeters",
    tag: TAG,
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
  defineEndpoint({
    method: "GET",
    path: "/usage_meters/{usage_meter_id}",
    id: "getUsageMeter",
    tag: TAG,
    summary: "Get a usage meter",
    access: "read",
    params,
    answers,
    handle: async ({ engine, params: { usage_meter_id: id } }) =>
      answerOk(toMeterJson(await engine.usageMeters.get(id))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/usage_meters/{usage_meter_id}",
    id: "updateUsageMeter",
    tag: TAG,
    summary: "Change a usage meter",
    description:
      "Of one that is not a DRAFT only name, billableName and description change; the other fields may be given as they are.",
    access: "write",
    params,
    body: z.strictObject({
      name: name.optional(),
      billableName,
      description,
      type: type.optional(),
      aggregation: aggregation.optional(),
      computations: computations.optional(),
    }),
    answers,
    handle: async ({ engine, params: { usage_meter_id: id }, body }) =>
      answerOk(toMeterJson(await engine.usageMeters.update(id, body))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/usage_meters/{usage_meter_id}/activate",
    id: "activateUsageMeter",
    tag: TAG,
    summary: "Activate a usage meter",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { usage_meter_id: id } }) =>
      answerOk(toMeterJson(await engine.usageMeters.activate(id))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/usage_meters/{usage_meter_id}/deactivate",
    id: "deactivateUsageMeter",
    tag: TAG,
    summary: "Deactivate a usage meter",
    description: "Rejected while an account has, or will have, a price plan with the meter.",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { usage_meter_id: id } }) =>
      answerOk(toMeterJson(await engine.usageMeters.deactivate(id))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/usage_meters/{usage_meter_id}",
    id: "archiveUsageMeter",
    tag: TAG,
    summary: "Archive a usage meter that is a DRAFT or INACTIVE",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { usage_meter_id: id } }) => {
      await engine.usageMeters.archive(id);
      return SUCCESS;
    },
  }),
];
