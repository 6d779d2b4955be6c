/** The endpoints that most resources have: create, list, get, update, remove, and actions on one item. */
import * as z from "zod";

import type { WithSkipped } from "../../engine/all-accounts.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Page } from "../../engine/pages.ts";
import { answerPage, createListShape, openPageFields, readBoundedPage, toPageFields } from "../http/answers.ts";
import {
  answerCreated,
  answerOk,
  defineEndpoint,
  type Endpoint,
  type EndpointRequest,
  type EndpointSpec,
  SUCCESS,
} from "../http/endpoint.ts";
import { pathId, success, withoutAbsent } from "../http/fields.ts";
import { listQuery, type PagedRequest, type PageFields, PAGE_SIZES, type PageSizes } from "../http/pagination.ts";

/** A resource: what its endpoints have in common. */
export interface ResourceSpec<Item> {
  readonly tag: string;
  /** The path of the list: `/features`. The path of an item adds its id. */
  readonly path: `/${string}`;
  readonly shape: z.ZodType;
  readonly toJson: (item: Item, engine: Engine) => unknown;
}

/** A resource whose items have a path. */
export interface ItemSpec<Item> extends ResourceSpec<Item> {
  /** The name of the id in an item's path: `feature_id`. */
  readonly idName: string;
  /** The schema of the id. Default: up to 50 characters. */
  readonly idSchema?: z.ZodType<string, string>;
}

/** Operation id, summary and description in OpenAPI. */
type EndpointDocs = Pick<Endpoint, "id" | "summary" | "description">;

interface CreateSpec<Item, Body extends z.ZodType> extends EndpointDocs {
  readonly body: Body;
  /** Gets the body as sent; the engine converts decimals and dates. */
  readonly run: (engine: Engine, body: z.input<Body>) => Promise<Item>;
  /** The status of the answer. */
  readonly status: 200 | 201;
}

interface ListSpec<Item, Filters extends z.ZodRawShape, Params extends z.ZodObject>
  extends EndpointDocs, Pick<Endpoint, "unknownIdStatus" | "wireNames"> {
  /** The ids in the path. */
  readonly params?: Params;
  /** The name of the list in cursors. Default: its path. */
  readonly list?: string | ((params: z.output<Params>) => string);
  readonly filters?: Filters;
  /** If the last page has no `nextToken` instead of null: the further fields of the list. */
  readonly open?: z.ZodRawShape;
  readonly sizes?: PageSizes;
  /** The name of the answer in the OpenAPI document. */
  readonly answerId: string;
  readonly run: (
    engine: Engine,
    filters: z.output<z.ZodObject<Filters>>,
    page: PagedRequest<unknown>["page"],
    params: z.output<Params>,
  ) => Promise<Page<Item> & WithSkipped>;
}

interface GetSpec<Item, Query extends z.ZodObject> extends EndpointDocs {
  readonly query?: Query;
  readonly run: (engine: Engine, id: string, query: z.output<Query>) => Promise<Item>;
}

interface UpdateOrActionSpec<Item, Body extends z.ZodType> extends EndpointDocs {
  readonly body?: Body;
  readonly bodyRequired?: boolean;
  /** Gets the body as sent; the engine converts decimals and dates. */
  readonly run: (engine: Engine, id: string, body: z.input<Body>) => Promise<Item>;
}

interface RemoveSpec extends EndpointDocs {
  readonly run: (engine: Engine, id: string) => Promise<unknown>;
}

/** `POST` to the list, answered with the new item. */
export function defineCreateEndpoint<Item, Body extends z.ZodType>(
  { tag, path, shape, toJson }: ResourceSpec<Item>,
  { run, status, ...spec }: CreateSpec<Item, Body>,
): Endpoint {
  return defineEndpoint({
    ...spec,
    method: "POST",
    path,
    tag,
    answers: { [status]: shape },
    handle: async ({ engine, body }) => {
      const json = await toJson(await run(engine, body), engine);
      return status === 201 ? answerCreated(json) : answerOk(json);
    },
  });
}

/** `GET` of the list. A page ends before its JSON exceeds 1 MiB, and has at least one item. */
export function defineListEndpoint<
  Item,
  Filters extends z.ZodRawShape = z.ZodRawShape,
  Params extends z.ZodObject = z.ZodObject,
>(
  { tag, path, shape, toJson }: ResourceSpec<Item>,
  { run, filters, list = path.slice(1), sizes = PAGE_SIZES, open, answerId, ...spec }: ListSpec<Item, Filters, Params>,
): Endpoint {
  return defineEndpoint<Params, z.ZodObject<PageFields>, z.ZodType>({
    ...spec,
    method: "GET",
    path,
    tag,
    query: listQuery(filters ?? {}, sizes),
    answers: {
      200:
        open === undefined
          ? createListShape(shape, answerId)
          : z.strictObject({ data: z.array(shape), ...openPageFields, ...open }).meta({ id: answerId }),
    },
    handle: async ({ engine, paging, query, params }) => {
      const request = paging.readRequest({ list: typeof list === "string" ? list : list(params), sizes, query });
      const page = await readBoundedPage(
        request,
        (each) => run(engine, request.filters as z.output<z.ZodObject<Filters>>, each, params),
        (item) => toJson(item, engine),
      );
      if (open === undefined) return answerPage(request, page);
      return answerOk(withoutAbsent({ data: page.items, ...toPageFields(request, page), skipped: page.skipped }));
    },
  });
}

/** `GET` of an item. */
export function defineGetEndpoint<Item, Query extends z.ZodObject>(
  resource: ItemSpec<Item>,
  { run, ...spec }: GetSpec<Item, Query>,
): Endpoint {
  return defineItemEndpoint(resource, "GET", "", spec, async ({ engine, query }, id) => run(engine, id, query));
}

/** `PATCH` of an item. */
export function defineUpdateEndpoint<Item, Body extends z.ZodType>(
  resource: ItemSpec<Item>,
  { run, ...spec }: UpdateOrActionSpec<Item, Body>,
): Endpoint {
  return defineItemEndpoint(resource, "PATCH", "", spec, async ({ engine, body }, id) => run(engine, id, body));
}

/** `POST /features/{feature_id}/<action>`, answered with the item. */
export function defineActionEndpoint<Item, Body extends z.ZodType>(
  resource: ItemSpec<Item>,
  action: string,
  { run, ...spec }: UpdateOrActionSpec<Item, Body>,
): Endpoint {
  return defineItemEndpoint(resource, "POST", `/${action}`, spec, async ({ engine, body }, id) =>
    run(engine, id, body),
  );
}

/** `DELETE` of an item, answered with `{success}`. */
export function defineRemoveEndpoint<Item>(resource: ItemSpec<Item>, { run, ...texts }: RemoveSpec): Endpoint {
  return defineItemEndpoint(withoutAnswer(resource), "DELETE", "", texts, async ({ engine }, id) => run(engine, id));
}

/** A resource whose endpoints answer `{success}`. */
export function withoutAnswer(resource: ItemSpec<never>): ItemSpec<unknown> {
  return { ...resource, shape: success, toJson: () => SUCCESS.body };
}

/** Defines an endpoint of one item, which is answered. */
function defineItemEndpoint<Item, Query extends z.ZodObject, Body extends z.ZodType>(
  { tag, path, idName, idSchema = pathId(), shape, toJson }: ItemSpec<Item>,
  method: Endpoint["method"],
  pathSuffix: string,
  spec: EndpointDocs & Pick<EndpointSpec<z.ZodObject, Query, Body>, "query" | "body" | "bodyRequired">,
  run: (request: EndpointRequest<z.ZodObject, Query, Body>, id: string) => Promise<Item>,
): Endpoint {
  return defineEndpoint<z.ZodObject, Query, Body>({
    ...spec,
    method,
    path: `${path}/{${idName}}${pathSuffix}`,
    tag,
    params: z.strictObject({ [idName]: idSchema }),
    answers: { 200: shape },
    handle: async (request) =>
      answerOk(await toJson(await run(request, String(request.params[idName])), request.engine)),
  });
}
