/**
 * Aliases over HTTP: alternative account names in events (S16.6).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/requests/requests.ts";
import type { AliasSnapshot } from "../../../engine/accounts/aliases.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { pathId, formatTime, success, timestamp, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { withWireNames } from "../../http/wire-names.ts";
import { createListShape, answerPage } from "../../shapes/list.ts";

const aliasShape = z
  .strictObject({
    value: z.string(),
    accountId: z.string().optional().meta({ description: "Absent: the alias resolves to nothing." }),
    createAt: timestamp,
    createdAt: timestamp.meta({ description: "The same instant under its usual name." }),
  })
  .meta({ id: "Alias" });

const params = z.strictObject({ alias: pathId() });

export const ALIAS_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/aliases",
    id: "createAliases",
    tag: "Aliases",
    summary: "Make aliases, of accounts or of nothing yet; all or none",
    access: "write",
    body: z.strictObject({ aliases: REQUESTS.aliasCreate }),
    answers: { 201: z.strictObject({ data: z.array(aliasShape) }).meta({ id: "AliasesMade" }) },
    handle: async ({ engine, body: { aliases } }) => {
      const newAliases = await withWireNames({ "": "aliases" }, engine.aliases.create(aliases));
      return answerCreated({ data: newAliases.map(toAliasJson) });
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/aliases",
    id: "listAliases",
    tag: "Aliases",
    summary: "List all aliases, those of accounts among them, newest first",
    access: "read",
    query: listQuery({}),
    answers: { 200: createListShape(aliasShape, "AliasList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "aliases", query });
      return answerPage(request, await engine.aliases.list({ page: request.page }), toAliasJson);
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/aliases/{alias}",
    id: "getAlias",
    tag: "Aliases",
    summary: "Get an alias",
    access: "read",
    params,
    answers: { 200: aliasShape },
    handle: async ({ engine, params: { alias } }) => answerOk(toAliasJson(await engine.aliases.get(alias))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/aliases/{alias}",
    id: "removeAlias",
    tag: "Aliases",
    summary: "End an alias, whosever it is",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { alias } }) => {
      await engine.aliases.remove(alias);
      return SUCCESS;
    },
  }),
];

function toAliasJson({ value, accountId, createdAt }: AliasSnapshot): z.input<typeof aliasShape> {
  const at = formatTime(createdAt);
  return withoutAbsent({ value, accountId, createAt: at, createdAt: at });
}
