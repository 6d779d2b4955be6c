/** Where each part of a long form was written in the short form, so that problems are reported there. */
import type { Path } from "../problems.ts";

/** The place of a made object, and of its fields that were written under another name or elsewhere. */
interface WrittenPlace {
  readonly path: Path;
  readonly fields: Record<string, Path>;
}

/** An object with any fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The places of all objects that were made. */
export class WrittenPlaces {
  private readonly places = new Map<unknown, WrittenPlace>();

  /** @param fields the paths of fields whose name or place differs */
  record<Made extends object>(made: Made, path: Path, fields: Readonly<Record<string, Path>> = {}): Made {
    this.places.set(made, { path, fields: { ...fields } });
    return made;
  }

  /** The paths of the fields of a made object. */
  fieldsOf(made: unknown): Readonly<Record<string, Path>> {
    return this.places.get(made)?.fields ?? {};
  }

  /**
   * Sets a field below a made object; objects on the way are made too.
   *
   * @param target the path of the field; a number is the position in a list
   * @param writtenAt the path at which the value was written
   */
  setField(made: object, target: Path, value: unknown, writtenAt: Path): void {
    const [key, next] = [String(target[0]), target[1]];
    const place = this.places.get(made);
    if (place !== undefined) place.fields[key] ??= writtenAt;
    if (next === undefined) {
      Reflect.set(made, key, value);
      return;
    }
    const inner: unknown = Reflect.get(made, key);
    const innerMade = isObject(inner)
      ? inner
      : this.record(typeof next === "number" ? [] : {}, place?.path ?? writtenAt);
    Reflect.set(made, key, innerMade);
    this.setField(innerMade, target.slice(1), value, writtenAt);
  }

  /** The path in the written document of a path in the long one. */
  toWritten(written: unknown, long: unknown, path: Path): Path {
    let current = long;
    let place = this.places.get(current);
    let depth = 0;
    for (const [index, step] of path.entries()) {
      current = isObject(current) ? Reflect.get(current, step) : undefined;
      const inner = this.places.get(current);
      if (inner !== undefined) [place, depth] = [inner, index + 1];
    }
    if (place === undefined) return path;
    const [field, ...below] = path.slice(depth);
    if (field === undefined) return place.path;
    const fieldPath = Object.hasOwn(place.fields, field) ? place.fields[String(field)] : undefined;
    const isSame = fieldPath === undefined && hasOwnAt(written, place.path, field);
    return existingPart(
      written,
      isSame ? [...place.path, field, ...below] : [...(fieldPath ?? place.path), ...(fieldPath ? below : [])],
    );
  }
}

/** Whether a document has a field of its own at a path. */
function hasOwnAt(document: unknown, path: Path, field: string | number): boolean {
  const holder = path.reduce<unknown>(
    (value, step) => (isObject(value) ? Reflect.get(value, step) : undefined),
    document,
  );
  return isObject(holder) && Object.hasOwn(holder, field);
}

/** A path up to the first value that has no fields. */
function existingPart(document: unknown, path: Path): Path {
  let current = document;
  for (const [index, step] of path.entries()) {
    if (!isObject(current)) return path.slice(0, index);
    current = Reflect.get(current, step);
  }
  return path;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a field is present and not null. */
export function hasValue(object: JsonObject, field: string): boolean {
  return (object[field] ?? undefined) !== undefined;
}
