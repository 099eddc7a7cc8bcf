import { canonicalJson, isJsonObject, isObject, type Json } from "../../../../src/bytes/json.js";
import type { Answer } from "./party.js";

/**
 * The parts of an answer that are compared: its status, its `error`, two headers and the shape of its body. A shape has
 * an entry for each leaf of the body, by path: the JSON type of the leaf, or its value if the value is the same on
 * every server.
 */
export interface Observation {
  /** The method and the path, such as `GET /capability/list`. */
  readonly endpoint: string;
  /** The name of the flow and of its step; for a generated request, the kind of the request. */
  readonly step: string;
  readonly outcome: string;
  readonly shape: ReadonlyMap<string, string>;
}

/** Properties whose values are compared, since the protocol, the fixture or the test determines them. */
const CONSTANT = new Set([
  ..."status error code mode method capability name description active has_more interval type".split(
    " ",
  ),
  ..."grant_status version provider_name location field agents_revoked claimed".split(" "),
]);

/** Properties that can contain anything, and are compared as a whole. */
const WHOLE = new Set([
  ..."constraints input output data constraint actual algorithms modes invalid_capabilities".split(
    " ",
  ),
  ..."revoked operators unknown_operators input_fields default_capabilities".split(" "),
]);

export function observed(step: string, answer: Answer, issuer: string): Observation {
  const shape = new Map<string, string>();
  const challenge = answer.headers.get("www-authenticate");
  if (challenge !== null) shape.set("(WWW-Authenticate)", challenge.split(" ")[0] ?? "");
  const outcome = [answer.status, answer.error].filter((part) => part !== undefined).join(" ");
  write(shape, "", answer.body, issuer);
  return { endpoint: `${answer.method} ${answer.path}`, step, outcome, shape };
}

/** Returns one line for each part of an observation, to record the reference's answers. */
export function recorded({ endpoint, step, outcome, shape }: Observation): string {
  const leaves = [...shape].map(([path, value]) => `    ${path}: ${value}`);
  return [`${step}: ${endpoint} → ${outcome}`, ...leaves].join("\n");
}

function write(shape: Map<string, string>, path: string, value: unknown, issuer: string): void {
  const member = path.slice(path.lastIndexOf(".") + 1);
  if (WHOLE.has(member)) shape.set(path, canonicalJson(unordered(value as Json)));
  else if (Array.isArray(value)) writeArray(shape, path, value, issuer);
  else if (isObject(value)) {
    if (Object.keys(value).length === 0) shape.set(path, "{}");
    const prefix = path === "" ? "" : `${path}.`;
    for (const name of Object.keys(value).sort()) write(shape, prefix + name, value[name], issuer);
  } else if (typeof value === "string" && value.startsWith(issuer)) {
    shape.set(path, `(issuer)${value.slice(issuer.length).split("?")[0]}`);
  } else shape.set(path, CONSTANT.has(member) ? JSON.stringify(value) : typeName(value));
}

/** Sorts all arrays, so that arrays of values, such as those in constraints, are compared as sets. */
function unordered(value: Json): Json {
  if (Array.isArray(value)) return value.map(unordered).sort(byText);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unordered(one)]));
}

function byText(one: Json, other: Json): number {
  return canonicalJson(one) < canonicalJson(other) ? -1 : 1;
}

/**
 * Identifies the elements of an array by their subject if they have one, since servers may order the elements
 * differently.
 */
function writeArray(
  shape: Map<string, string>,
  path: string,
  elements: readonly unknown[],
  issuer: string,
): void {
  if (elements.length === 0) shape.set(path, "[]");
  const seen = new Map<string, number>();
  for (const [at, element] of elements.entries()) {
    const key = keyOf(element) ?? String(at);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    write(shape, `${path}[${key}${times > 1 ? ` #${times}` : ""}]`, element, issuer);
  }
}

/** Returns the subject of an element: a capability, or the field and the operator of a violation. */
function keyOf(element: unknown): string | undefined {
  if (!isObject(element)) return undefined;
  const { capability, name, field, constraint } = element;
  if (typeof field !== "string") return [capability, name].find((one) => typeof one === "string");
  const operators = isObject(constraint) ? Object.keys(constraint) : ["eq"];
  return [field, ...operators].join(" ");
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return value === "" ? "nothing" : typeof value;
}

/** A difference between two servers' answers to the same request. */
export interface Difference {
  readonly endpoint: string;
  readonly step: string;
  /** The place of the difference: `outcome`, a header in brackets, or a path in the body (`[]` for any element). */
  readonly path: string;
  /** The value in each server's answer; `–` if it is absent. */
  readonly reference: string;
  readonly ours: string;
}

export function differencesOf(reference: Observation, ours: Observation): Difference[] {
  const { endpoint, step } = reference;
  if (reference.outcome !== ours.outcome)
    return [{ endpoint, step, path: "outcome", reference: reference.outcome, ours: ours.outcome }];
  return [...new Set([...reference.shape.keys(), ...ours.shape.keys()])]
    .map((path) => ({
      endpoint,
      step,
      path: path.replaceAll(/\[[^\]]*\]/g, "[]"),
      reference: reference.shape.get(path) ?? "–",
      ours: ours.shape.get(path) ?? "–",
    }))
    .filter((difference) => difference.reference !== difference.ours);
}
