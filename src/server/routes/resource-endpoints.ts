/** The endpoints that most resources have: create, list, get, update, remove, and actions on one item. */
import * as z from "zod";

import type { WithSkipped } from "../../engine/all-accounts.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Page } from "../../engine/pages.ts";
import { answerPage, createListShape, openPageFields, readBoundedPage, toPageFields } from "../http/answers.ts";
import { defineEndpoint, type Endpoint, type EndpointRequest, type EndpointSpec, SUCCESS } from "../http/endpoint.ts";
import { pathId, success, withoutAbsent } from "../http/fields.ts";
import { listQuery, type PagedRequest, type PageFields, PAGE_SIZES, type PageSizes } from "../http/pagination.ts";

/** What the endpoints of a resource have in common. */
export interface ResourceSpec<Item, Params extends z.ZodObject> extends Pick<
  EndpointSpec,
  "access" | "unknownIdStatus"
> {
  readonly tag: string;
  /** The path of the list: `/features`. The path of an item adds its id. */
  readonly path: `/${string}`;
  /** The ids in the path of the list. */
  readonly params?: Params;
  /** The name of the id in an item's path: `feature_id`. */
  readonly idName?: string;
  /** The schema of the id. Default: up to 50 characters. */
  readonly idSchema?: z.ZodType<string, string>;
  /** The methods of the engine that endpoints without `run` call. */
  readonly methods?: (engine: Engine) => Partial<ResourceMethods<Item>>;
  readonly shape: z.ZodType;
  readonly toJson: (item: Item, engine: Engine) => unknown;
}

/** The methods of the engine. They validate their input, which has the types of requests. */
interface ResourceMethods<Item> {
  /** Creates an item, or several. */
  create(input: never): Promise<unknown>;
  list(options: never): Promise<Page<Item> & WithSkipped>;
  get(id: string): Promise<Item>;
  update(id: string, patch: never): Promise<Item>;
  archive(id: string): Promise<unknown>;
  activate(id: string): Promise<Item>;
  deactivate(id: string): Promise<Item>;
  void(id: string): Promise<Item>;
}

/** Operation id, summary and description in OpenAPI, and the names of fields. */
type EndpointDocs = Pick<Endpoint, "id" | "summary" | "description" | "wireNames">;

/** A validated request about an item: `id` is the id in its path. */
interface ItemRequest<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends EndpointRequest<Params, Query, Body> {
  readonly id: string;
}

/** An endpoint that creates, answers or changes an item. */
interface ItemEntry<Item, Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>
  extends EndpointDocs, Pick<EndpointSpec<Params, Query, Body>, "query" | "body" | "bodyRequired"> {
  /** The status of the answer. Default 200. */
  readonly status?: 200 | 201;
  readonly run?: (request: ItemRequest<Params, Query, Body>) => Promise<Item>;
}

interface ListEntry<Item, Params extends z.ZodObject, Filters extends z.ZodRawShape> extends EndpointDocs {
  /** The name of the list in cursors. Default: its path. */
  readonly list?: string | ((params: z.output<Params>) => string);
  /** The engine has the filters in camel case. */
  readonly filters?: Filters;
  /** Changes the query, whose filters cursors then contain. */
  readonly normalize?: (query: z.output<z.ZodObject<Filters>>) => z.output<z.ZodObject<Filters>>;
  /** If the last page has no `nextToken` instead of null: the further fields of the list. */
  readonly open?: z.ZodRawShape;
  readonly sizes?: PageSizes;
  /** The name of the answer in the OpenAPI document. */
  readonly answerId: string;
  readonly run?: (
    engine: Engine,
    filters: z.output<z.ZodObject<Filters>>,
    page: PagedRequest<unknown>["page"],
    params: z.output<Params>,
  ) => Promise<Page<Item> & WithSkipped>;
}

/** An answer of `{success}`. */
export const SUCCESS_ANSWER = { shape: success, toJson: (): unknown => SUCCESS.body };

/** Defines the endpoints of a resource. Without `run`, an endpoint calls the engine's method of its name. */
export class ResourceEndpoints<Item, Params extends z.ZodObject = z.ZodObject> {
  readonly #resource: ResourceSpec<Item, Params>;

  constructor(resource: ResourceSpec<Item, Params>) {
    this.#resource = resource;
  }

  /** The same resource with other answers, or another path. */
  with<Other, OtherParams extends z.ZodObject = Params>(
    changes: Pick<ResourceSpec<Other, OtherParams>, "shape" | "toJson"> & Partial<ResourceSpec<Other, OtherParams>>,
  ): ResourceEndpoints<Other, OtherParams> {
    const resource = this.#resource as ResourceSpec<unknown, z.ZodObject> as ResourceSpec<Other, OtherParams>;
    return new ResourceEndpoints({ ...resource, ...changes });
  }

  /** `POST` to the list, answered with the new item. */
  create<Body extends z.ZodType>(entry: ItemEntry<Item, Params, z.ZodObject, Body>): Endpoint {
    const { path } = this.#resource;
    return this.#define({ method: "POST", path }, entry, (methods, { body }) =>
      methods.create(withoutAbsent(body as object) as never),
    );
  }

  /** `GET` of the list. A page ends before its JSON exceeds 1 MiB, and has at least one item. */
  list<Filters extends z.ZodRawShape = z.ZodRawShape>({
    run,
    filters,
    list,
    sizes = PAGE_SIZES,
    open,
    normalize = (query) => query,
    answerId,
    ...entry
  }: ListEntry<Item, Params, Filters>): Endpoint {
    const { path, shape, toJson } = this.#resource;
    const readList: typeof run = (engine, filter, page) =>
      this.#methods(engine).list({ ...(filters && { filter: toCamelCase(filter) }), page } as never);
    return defineEndpoint<Params, z.ZodObject<PageFields>, z.ZodType>({
      ...entry,
      method: "GET",
      path,
      ...this.#common(),
      query: listQuery(filters ?? {}, sizes),
      answers: {
        200:
          open === undefined
            ? createListShape(shape, answerId)
            : z.strictObject({ data: z.array(shape), ...openPageFields, ...open }).meta({ id: answerId }),
      },
      handle: async ({ engine, paging, query, params }) => {
        const name = typeof list === "function" ? list(params) : (list ?? path.slice(1));
        const request = await paging.readRequest({ list: name, sizes, query: normalize(query as never) });
        const page = await readBoundedPage(
          request,
          (each) => (run ?? readList)(engine, request.filters as z.output<z.ZodObject<Filters>>, each, params),
          (item) => toJson(item, engine),
        );
        if (open === undefined) return answerPage(request, page);
        const body = withoutAbsent({ data: page.items, ...toPageFields(request, page), skipped: page.skipped });
        return { status: 200, body };
      },
    });
  }

  /** `GET` of an item. */
  get<Query extends z.ZodObject>(entry: ItemEntry<Item, Params, Query, z.ZodType>): Endpoint {
    return this.#define(this.#item("GET"), entry, (methods, { id }) => methods.get(id));
  }

  /** `PATCH` of an item. */
  update<Body extends z.ZodType>(entry: ItemEntry<Item, Params, z.ZodObject, Body>): Endpoint {
    return this.#define(this.#item("PATCH"), entry, (methods, { id, body }) => methods.update(id, body as never));
  }

  /** `POST /features/{feature_id}/<action>`, answered with the item. */
  action<Body extends z.ZodType>(name: string, entry: ItemEntry<Item, Params, z.ZodObject, Body>): Endpoint {
    return this.#define(this.#item("POST", `/${name}`), entry, (methods, { id }) => methods[name as "activate"](id));
  }

  /** `DELETE` of an item, which archives it if the engine keeps it, answered with `{success}`. */
  remove(entry: ItemEntry<unknown, Params, z.ZodObject, z.ZodType>): Endpoint {
    const answered = this.with<unknown>(SUCCESS_ANSWER);
    return answered.#define(this.#item("DELETE"), entry, (methods, { id }) => methods.archive(id));
  }

  /** What all endpoints of the resource have in common. */
  #common(): Pick<EndpointSpec<Params>, "tag" | "access" | "params" | "unknownIdStatus"> {
    const { tag, access, params, unknownIdStatus } = this.#resource;
    return withoutAbsent({ tag, access, params, unknownIdStatus });
  }

  #methods(engine: Engine): ResourceMethods<Item> {
    return this.#resource.methods?.(engine) as ResourceMethods<Item>;
  }

  /** The target of an endpoint of one item. */
  #item(method: Endpoint["method"], pathSuffix = ""): Pick<EndpointSpec<Params>, "method" | "path" | "params"> {
    const { path, params, idName = "id", idSchema = pathId() } = this.#resource;
    const itemParams = z.strictObject({ ...params?.shape, [idName]: idSchema }) as z.ZodObject as Params;
    return { method, path: `${path}/{${idName}}${pathSuffix}`, params: itemParams };
  }

  /** Defines an endpoint that answers an item: the one from `run`, or else from the engine. */
  #define<Query extends z.ZodObject, Body extends z.ZodType>(
    target: Pick<EndpointSpec<Params>, "method" | "path" | "params">,
    { run, status = 200, ...entry }: ItemEntry<Item, Params, Query, Body>,
    callEngine: (methods: ResourceMethods<Item>, request: ItemRequest<Params, Query, Body>) => Promise<unknown>,
  ): Endpoint {
    const { idName = "id", shape, toJson } = this.#resource;
    return defineEndpoint<Params, Query, Body>({
      ...entry,
      ...this.#common(),
      ...target,
      answers: { [status]: shape },
      handle: async (endpointRequest) => {
        const { engine, params } = endpointRequest;
        const request = { ...endpointRequest, id: String(Reflect.get(params, idName)) };
        const item = run === undefined ? await callEngine(this.#methods(engine), request) : await run(request);
        return { status, body: await toJson(item as Item, engine) };
      },
    });
  }
}

/** The parameters of a query by their names in the engine: `accountId` for `account_id`. */
function toCamelCase(filters: object): object {
  const entries = Object.entries(filters);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
}
