import { isJsonObject, type Json } from "../../src/bytes/json.js";

/**
 * Returns a copy of a JSON value in which the value at a JSON Pointer is replaced or removed.
 *
 * @param path - A JSON Pointer. The last step `-` is the position after the last item of an array.
 */
export function changed(value: Json, path: string, to: Json | undefined): Json {
  return change(value, path.split("/").slice(1), to);
}

function change(value: Json, [step, ...more]: readonly string[], to: Json | undefined): Json {
  if (step === undefined) return to ?? null;
  const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
  const isLast = more.length === 0;
  if (Array.isArray(value)) {
    const at = name === "-" ? value.length : Number(name);
    const own =
      isLast && to === undefined ? [] : [isLast ? (to ?? null) : change(value[at], more, to)];
    return value.toSpliced(at, 1, ...own);
  }
  if (!isJsonObject(value)) throw new Error(`nothing at ${name}`);
  const { [name]: before, ...others } = value;
  if (isLast) return to === undefined ? others : { ...value, [name]: to };
  return { ...value, [name]: change(before ?? {}, more, to) };
}
