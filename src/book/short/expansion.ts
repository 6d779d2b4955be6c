/** What the expansion of one document collects: places, and problems at the paths as written. */
import type * as z from "zod";

import { formatPath, parsePath, type Path, type Problems, type Report } from "../problems.ts";
import { reportShape } from "../reading/read-document.ts";
import { SHORT_NAMES } from "./short-cards.ts";
import { WrittenPlaces } from "./written-places.ts";

/** A document in long form. */
export interface ExpandedDocument {
  readonly document: unknown;
  /** The path in the document as written. */
  toWritten(path: Path): Path;
  /** The problems, with the paths as written; further problems of an item with a wrong short form are left out. */
  readonly problems: Problems;
}

/** The expansion of one document. */
export interface Expansion {
  readonly places: WrittenPlaces;
  /** Reports a problem of a short item, at a path as written; the item's long form is not checked then. */
  readonly report: Report;
  /** Reports the problems of a short item's shape. @returns whether there are none */
  checkShape(schema: z.ZodType, item: unknown, path: Path): boolean;
  /** Whether the item at or above a path has a problem. */
  isBroken(path: Path): boolean;
  finish(raw: unknown, document: unknown): ExpandedDocument;
}

/** @param itemDepth the length of the path of an item: 2 in a book, 0 for a plan */
export function startExpansion(problems: Problems, itemDepth = 2): Expansion {
  const places = new WrittenPlaces();
  const brokenItems = new Set<string>();
  const toItem = (path: Path): string => JSON.stringify(path.slice(0, itemDepth));
  const reportedPlaces = new Set<string>();
  /** Several parts of the long form can come from one value: it is reported once. */
  const isRepeated = (path: Path, code: string): boolean => {
    const place = JSON.stringify([path, code]);
    if (reportedPlaces.has(place)) return true;
    reportedPlaces.add(place);
    return false;
  };
  const report: Report = (path, code, params) => {
    brokenItems.add(toItem(path));
    if (isRepeated(path, code)) return;
    const guess = code === "UNKNOWN_FIELD" ? SHORT_NAMES.get(String(path.at(-1))) : undefined;
    problems.report(path, code, guess === undefined ? params : { ...params, guess });
  };
  const isBroken = (path: Path): boolean => brokenItems.has(toItem(path));
  return {
    places,
    report,
    isBroken,
    checkShape(schema, item, path) {
      const before = problems.count();
      reportShape(schema, item, path, { ...problems, report });
      return problems.count() === before;
    },
    finish(raw, document) {
      const toWritten = (path: Path): Path => places.toWritten(raw, document, path);
      const translate =
        (target: Report): Report =>
        (path, code, params) => {
          const written = toWritten(path);
          if (isBroken(written)) return;
          if (written === path) {
            target(path, code, params);
            return;
          }
          if (!isRepeated(written, code)) target(written, code, toWrittenParams(params, written, toWritten));
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
    },
  };
}

/** The parameters of a problem with the names and paths of the short form. */
function toWrittenParams<Params extends object>(params: Params, path: Path, toWritten: (path: Path) => Path): Params {
  const { what, source, other, ...others }: Record<string, unknown> = {
    ...(params as Readonly<Record<string, unknown>>),
  };
  const toShortName = (name: string): string => SHORT_NAMES.get(name) ?? name;
  // The rule of a meter's `where` or `sum` is not written, so a place in it says nothing.
  if (path[0] === "usageMeters" && path.length === 3) delete others["place"];
  if (path[0] === "eventSchemas") delete others["order"];
  return {
    ...others,
    ...(typeof what === "string" && { what: toShortName(what) }),
    ...(typeof source === "string" && { source: toShortName(source) }),
    ...(typeof other === "string" && {
      other: other.startsWith("$") ? formatPath(toWritten(parsePath(other))) : other,
    }),
  } as unknown as Params;
}
