/** Checks answers against an OpenAPI document. */
import addFormats from "ajv-formats";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { LightMyRequestResponse } from "fastify";

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: unknown;
}
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

/** The checked parts of an answer. */
export type AnswerToCheck = Pick<LightMyRequestResponse, "statusCode" | "headers" | "body">;

/** Throws for an answer that the document does not allow: another status, type or schema. */
export function createAnswerChecker(openApi: object): (method: string, url: string, response: AnswerToCheck) => void {
  const document = openApi as OpenApi;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "openapi.json", components: document.components });
  const validators = new Map<string, ValidateFunction>();
  const findValidator = (key: string, schema: object): ValidateFunction => {
    const cachedValidator = validators.get(key);
    if (cachedValidator !== undefined) return cachedValidator;
    const text = JSON.stringify(schema).replaceAll("#/components/", "openapi.json#/components/");
    const validator = ajv.compile(JSON.parse(text) as object);
    validators.set(key, validator);
    return validator;
  };
  return (method, url, response) => {
    const path = findPath(document, url);
    const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
    const isRefusal = response.statusCode === 404 || response.statusCode === 405;
    if (path === undefined || operation === undefined) {
      if (!isRefusal) throw new Error(`${method} ${url} answered ${response.statusCode}, and is not in the document`);
      return;
    }
    const type = String(response.headers["content-type"]).split(";")[0] ?? "";
    const content = operation.responses[String(response.statusCode)]?.content?.[type];
    if (content === undefined) {
      throw new Error(
        `${method} ${path} answered ${response.statusCode} ${type}, which the document lacks: ${response.body}`,
      );
    }
    if (type !== "application/json") return;
    const validate = findValidator(`${method} ${path} ${response.statusCode}`, content.schema);
    if (!validate(JSON.parse(response.body))) {
      throw new Error(`${method} ${url}: ${ajv.errorsText(validate.errors)} in ${response.body}`);
    }
  };
}

/** The path of the document for a URL; one without parameters takes precedence. */
function findPath(document: OpenApi, url: string): string | undefined {
  const steps = (url.split("?")[0] ?? "").split("/");
  const fits = Object.keys(document.paths).filter((path) => {
    const own = path.split("/");
    return own.length === steps.length && own.every((step, index) => step.startsWith("{") || step === steps[index]);
  });
  return fits.toSorted((a, b) => a.split("{").length - b.split("{").length)[0];
}
