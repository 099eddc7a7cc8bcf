import type { AgentDenial } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import { isWellFormed } from "../../../bytes/utf8.js";
import { isPath } from "../../../caveats/path-form.js";
import { shown } from "../../../caveats/scalar.js";

/** The arguments by which the gate judges a resource, or the denial of a URI that it cannot judge. */
export type ResourceArguments =
  | {
      readonly ok: true;
      readonly arguments: JsonObject;
      /** The path with its percent-escapes, if it has any. A program that does not decode escapes opens this path. */
      readonly undecodedPath?: string | undefined;
    }
  | { readonly ok: false; readonly denial: AgentDenial };

/** A space at either end, or a control character anywhere: URL parsers drop these characters. */
const DROPPED = /^ | $|[\p{Cc}]/u;
const FILE_PREFIX = "file://";
const SCHEME = /^([a-z][a-z\d+.-]*):/i;
/**
 * A percent-escape of `/`, or of a character that needs no escape, such as `%2e` for `.`. Some programs decode such an
 * escape, others do not.
 */
const MISLEADING_ESCAPE = /%(?:2[DEF]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/i;

/**
 * Returns the arguments by which the gate judges a resource: `path` for a `file:` URI, else `uri`.
 *
 * A `file:` URI must be `file:///` followed by a path in the strict form of docs/spec.md, section 5.2. Only characters
 * that need an escape, such as a space, may have one. A program that does not decode escapes therefore opens a path in
 * the same folder as a program that decodes them, unless the folder's path has escapes.
 *
 * @param uri - The URI as the host wrote it.
 */
export function resourceArguments(uri: string): ResourceArguments {
  if (uri === "" || DROPPED.test(uri) || !isWellFormed(uri)) {
    return refused(uri, "must not have control characters, or spaces at an end");
  }
  const [, scheme = ""] = SCHEME.exec(uri) ?? [];
  if (scheme.toLowerCase() !== "file") return { ok: true, arguments: { uri } };
  const path = pathOf(uri);
  if (path !== undefined) {
    const written = uri.slice(FILE_PREFIX.length);
    return {
      ok: true,
      arguments: { path },
      undecodedPath: written === path ? undefined : written,
    };
  }
  return refused(uri, "must be file:/// and a plain path, such as file:///data/report.txt");
}

/** Returns the path of a `file:` URI; `undefined` if programs could read it in different ways. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith("file:///") || /[?#]/.test(uri) || MISLEADING_ESCAPE.test(uri))
    return undefined;
  try {
    const path = decodeURIComponent(uri.slice(FILE_PREFIX.length));
    return isPath(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function refused(uri: string, must: string): ResourceArguments {
  const message = `the resource ${shown(uri)} cannot be judged: its URI ${must}`;
  return { ok: false, denial: { code: "arguments_invalid", rule: "uri", message } };
}
