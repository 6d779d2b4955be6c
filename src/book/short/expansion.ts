/** The expansion of one document: where each part of the long form was written, and problems at the paths as written. */
import type * as z from "zod";

import { isJsonObject } from "../../numbers/decimal.ts";
import type { ProblemCode, ProblemParams } from "../../problem-table.ts";
import { formatPath, parsePath, type Path, type Problems, type Report } from "../problems.ts";
import { reportShape } from "../reading/read-document.ts";
import { type FieldRule, type FieldRules, SHORT_NAMES, hasValue, type JsonObject, valueAt } from "./fields.ts";

/** A document in long form. */
export interface ExpandedDocument {
  readonly document: unknown;
  /** The path in the document as written. */
  toWritten(path: Path): Path;
  /** The problems, with the paths as written; further problems of an item with a wrong short form are left out. */
  readonly problems: Problems;
}

/** A value and the path at which it was written. */
export interface Written {
  readonly value: unknown;
  readonly path: Path;
}

/** An object in short form as it was written. */
export class WrittenObject {
  readonly value: JsonObject;
  readonly path: Path;
  /** The paths of fields that it has from elsewhere. */
  private readonly paths: ReadonlyMap<string, Path> | undefined;
  private readonly reportAt: Report;

  constructor(value: JsonObject, path: Path, report: Report, paths?: ReadonlyMap<string, Path>) {
    this.value = value;
    this.path = path;
    this.reportAt = report;
    this.paths = paths;
  }

  /** Whether a field is present and not null. */
  has(field: string): boolean {
    return hasValue(this.value, field);
  }

  /** A field; undefined if it is absent or null. */
  field(field: string): Written | undefined {
    return this.has(field) ? { value: this.value[field], path: this.pathOf(field) } : undefined;
  }

  pathOf(field: string): Path {
    return this.paths?.get(field) ?? [...this.path, field];
  }

  /** The same object with fields that it has from elsewhere, or in place of its own. */
  with(fields: Readonly<Record<string, Written | undefined>>): WrittenObject {
    const value: Record<string, unknown> = { ...this.value };
    const paths = new Map(this.paths);
    for (const [field, written] of Object.entries(fields)) {
      value[field] = written?.value;
      if (written !== undefined) paths.set(field, written.path);
    }
    return new WrittenObject(value, this.path, this.reportAt, paths);
  }

  /** The object in a field, or below it; empty if there is none. */
  inner(field: string, ...below: Path): WrittenObject {
    const value = valueAt(this.value, [field, ...below]);
    return new WrittenObject(isJsonObject(value) ? value : {}, [...this.pathOf(field), ...below], this.reportAt);
  }

  /** The objects of a list. */
  list(field: string): readonly WrittenObject[] {
    const list: unknown = this.value[field];
    if (!Array.isArray(list)) return [];
    return list.flatMap((item: unknown, index) => (isJsonObject(item) ? [this.inner(field, index)] : []));
  }

  /** Reports a problem of a field. */
  report<Code extends ProblemCode>(field: string, code: Code, params: ProblemParams<Code>): void {
    this.reportAt(this.pathOf(field), code, params);
  }

  /** Reports fields of two groups, of which only one may be written. @returns whether there are fields of both */
  rejectBoth(fields: readonly string[], others: readonly string[]): boolean {
    const present = [fields, others].flatMap((group) => group.find((field) => this.has(field)) ?? []);
    if (present.length < 2) return false;
    const paths = present.map((field) => formatPath(this.pathOf(field)));
    this.report(present[0] ?? "", "CONFLICTING_FIELDS", { fields: paths });
    return true;
  }
}

/** Where a part of the long form was written. */
interface WrittenPart {
  readonly path: Path;
  /** Whether the part was written as it is, so that the parts below it have the same paths. */
  readonly isSame: boolean;
}

/** The objects of the long form that are made, by their values. */
type LongObjects = Map<unknown, LongObject>;

/** An object of the long form, which remembers where its parts were written. */
export class LongObject {
  readonly value: Record<string, unknown> = {};
  private readonly objects: LongObjects;
  private readonly path: Path;
  private readonly parts = new Map<string, WrittenPart>();

  constructor(objects: LongObjects, writtenAt: Path) {
    this.objects = objects;
    this.path = writtenAt;
    objects.set(this.value, this);
  }

  /** Where a part was written, or else the nearest part above it. */
  toWritten(to: Path): Path {
    for (let length = to.length; length > 0; length--) {
      const part = this.parts.get(toKey(to.slice(0, length)));
      if (part !== undefined) return part.isSame ? [...part.path, ...to.slice(length)] : part.path;
    }
    return this.path;
  }

  /** Sets a part to a value that was written as it is. @param to its path; a number is the position in a list */
  copy(to: Path, { value, path }: Written): void {
    this.assign(to, value, { path, isSame: true });
  }

  /** Copies the fields of an object. @param omitted fields that are expanded otherwise */
  copyFields(written: WrittenObject, rules: FieldRules = {}, omitted: readonly string[] = []): void {
    const fields = Object.keys(written.value).filter((field) => !omitted.includes(field));
    for (const field of fields) this.copyField(written.field(field), rules[field] ?? { to: [field] }, []);
  }

  /** Copies only the fields of an object that have a rule. */
  copyListed(written: WrittenObject, rules: FieldRules, place: Path = []): void {
    for (const [field, rule] of Object.entries(rules)) this.copyField(written.field(field), rule, place);
  }

  private copyField(written: Written | undefined, { to, toLong }: FieldRule, place: Path): void {
    if (written === undefined) return;
    if (toLong === undefined) this.copy([...place, ...to], written);
    else this.set([...place, ...to], toLong(written.value), written.path);
  }

  /** Sets a part to a value that follows from what was written. */
  set(to: Path, value: unknown, writtenAt: Path): void {
    this.assign(to, value, { path: writtenAt, isSame: false });
  }

  /** Sets a part to an object that is made. */
  addObject(to: Path, writtenAt: Path): LongObject {
    const made = new LongObject(this.objects, writtenAt);
    this.set(to, made.value, writtenAt);
    return made;
  }

  private assign(to: Path, value: unknown, part: WrittenPart): void {
    let holder: object = this.value;
    for (let index = 0; index < to.length - 1; index++) {
      const step = to[index] ?? "";
      if (!Object.hasOwn(holder, step)) {
        Reflect.set(holder, step, typeof to[index + 1] === "number" ? [] : {});
        this.parts.set(toKey(to.slice(0, index + 1)), { path: part.path, isSame: false });
      }
      holder = Reflect.get(holder, step) as object;
    }
    Reflect.set(holder, to.at(-1) ?? "", value);
    this.parts.set(toKey(to), part);
  }
}

function toKey(path: Path): string {
  return path.length === 1 ? String(path[0]) : path.join("\n");
}

/** The expansion of one document. */
export class Expansion {
  private readonly problems: Problems;
  private readonly objects: LongObjects = new Map();
  private readonly brokenItems = new Set<string>();
  private readonly reportedPlaces = new Set<string>();

  constructor(problems: Problems) {
    this.problems = problems;
  }

  createObject(writtenAt: Path): LongObject {
    return new LongObject(this.objects, writtenAt);
  }

  /** Reads an object as it was written. */
  read(value: JsonObject, path: Path): WrittenObject {
    return new WrittenObject(value, path, this.report);
  }

  /** Reports a problem of a short item, at a path as written; the item's long form is not checked then. */
  readonly report: Report = (path, code, params) => {
    this.brokenItems.add(toKey(path.slice(0, 2)));
    if (this.isRepeated(path, code)) return;
    const guess = code === "UNKNOWN_FIELD" ? SHORT_NAMES.get(String(path.at(-1))) : undefined;
    this.problems.report(path, code, guess === undefined ? params : { ...params, guess });
  };

  /** Reports the problems of a short item's shape. @returns whether there are none */
  checkShape(schema: z.ZodType, item: unknown, path: Path): boolean {
    const before = this.problems.count();
    reportShape(schema, item, path, { ...this.problems, report: this.report });
    return this.problems.count() === before;
  }

  /** Whether the item at or above a path has a problem. */
  isBroken(path: Path): boolean {
    return this.brokenItems.has(toKey(path.slice(0, 2)));
  }

  /** Several parts of the long form can come from one value: it is reported once. */
  private isRepeated(path: Path, code: string): boolean {
    const place = toKey([...path, code]);
    const isRepeated = this.reportedPlaces.has(place);
    this.reportedPlaces.add(place);
    return isRepeated;
  }

  /** @param raw the document as written */
  finish(raw: unknown, document: unknown): ExpandedDocument {
    const { problems } = this;
    const toWritten = (path: Path): Path => {
      const holders = path.map((_, index) => this.objects.get(valueAt(document, path.slice(0, index + 1))));
      const depth = holders.findLastIndex((holder) => holder !== undefined);
      return holders[depth]?.toWritten(path.slice(depth + 1)) ?? path;
    };
    const translate =
      (target: Report): Report =>
      (path, code, params) => {
        const written = toWritten(path);
        if (this.isBroken(written)) return;
        if (written === path) target(path, code, params);
        else if (!this.isRepeated(written, code)) target(written, code, toWrittenParams(params, written, toWritten));
      };
    return {
      document,
      toWritten,
      problems: {
        ...problems,
        report: translate(problems.report),
        semanticReport: () => translate(problems.semanticReport()),
        error: (name) => problems.error(name, raw),
        sorted: () => problems.sorted(raw),
      },
    };
  }
}

/** The parameters of a problem with the names and paths of the short form. */
function toWrittenParams<Params extends object>(params: Params, path: Path, toWritten: (path: Path) => Path): Params {
  const written = { ...params } as Record<string, unknown>;
  // The rule of a meter's `where` or `sum` is not written, so a place in it says nothing; nor has a computed field an order.
  if (path[0] === "usageMeters" && path.length === 3) delete written["place"];
  if (path[0] === "eventSchemas") delete written["order"];
  const { expected, other, reason } = written;
  // Days and months are numbers in short form.
  if (path.includes("cycle") && typeof reason === "string")
    written["reason"] = reason.replaceAll(/"(\d+)"/g, "$1").replace("NIL or none", "none");
  const isTier = path.includes("tiers") || path.includes("volumeTiers");
  if (isTier && typeof expected === "string") written["expected"] = expected.replaceAll("slab", "tier");
  for (const field of ["what", "source"]) {
    const name = written[field];
    if (typeof name === "string") written[field] = SHORT_NAMES.get(name) ?? name;
  }
  if (typeof other === "string" && other.startsWith("$")) written["other"] = formatPath(toWritten(parsePath(other)));
  return written as Params;
}
