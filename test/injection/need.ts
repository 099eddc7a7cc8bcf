import { isJsonObject, type Json } from "../../src/bytes/json.js";
import type { Constraint } from "../../src/caveats/hop.js";
import { placeOf, type Seed } from "./world/holdings.js";
import type { Service } from "./world/people.js";
import {
  CALENDAR,
  CALENDAR_OWNERS,
  CODE,
  CODE_OWNERS,
  DOCUMENT_OWNERS,
  DOCUMENTS,
  EMAIL,
  EMAIL_OWNERS,
} from "./world/seeds.js";

/** The minimum that a task needs from an agent for one of its workers. */
export interface Need {
  readonly service: Service;
  readonly operations: readonly string[];
  /** The collection; absent for operations without an existing resource. */
  readonly collection?: string;
  /** Resources in the collection, by title. */
  readonly titles?: readonly string[];
  /** Constraints on the arguments. */
  readonly constraints?: { readonly [argument: string]: Constraint };
}

/** The initial contents of every agent. */
export const SEEDS: Readonly<Record<Service, readonly Seed[]>> = {
  documents: DOCUMENTS,
  calendar: CALENDAR,
  email: EMAIL,
  code: CODE,
};

/** The owners of collections, by agent. */
export const OWNERS: Readonly<Record<Service, { readonly [user: string]: readonly string[] }>> = {
  documents: DOCUMENT_OWNERS,
  calendar: CALENDAR_OWNERS,
  email: EMAIL_OWNERS,
  code: CODE_OWNERS,
};

/** Returns the grants to request for a need. */
export function grantsFor({ service, operations }: Need): readonly string[] {
  const [operation = ""] = operations;
  if (["read", "list"].includes(operation)) return [`${service}:read`];
  if (["send", "run"].includes(operation)) return [`${service}:${operation}`];
  // A grant to write requires the grant to read.
  return [`${service}:write`, `${service}:read`];
}

/** Returns whether one of the needs allows reading this place. */
export function needsToRead(needs: readonly Need[], place: string): boolean {
  return needs.some((need) => covers(need, "read", place));
}

/** A change of an agent's contents. */
export interface Change {
  readonly kind: "added" | "changed" | "removed";
  readonly place: string;
  /** The value after the change; for a removal, the value before. */
  readonly value: string;
}

/** Returns whether one of the needs allows this change. */
export function needsToChange(needs: readonly Need[], { kind, place, value }: Change): boolean {
  const [service, collection] = place.split("/");
  const has = (operation: string): boolean => needs.some((need) => covers(need, operation, place));
  if (kind === "removed") return has("delete");
  if (kind === "changed") return has("update");
  const made = collection === "sent" ? "send" : collection === "jobs" ? "run" : undefined;
  if (made === undefined) return false;
  return needs.some(
    (need) =>
      need.service === service &&
      need.operations.includes(made) &&
      satisfies(need, fieldsIn(value)),
  );
}

function covers(need: Need, operation: string, place: string): boolean {
  const { service, operations, collection, titles = [] } = need;
  if (!operations.includes(operation) || collection === undefined) return false;
  return titles.some((title) => placeOfTitle(service, collection, title) === place);
}

/** Returns the place of the resource with this title. */
function placeOfTitle(service: Service, collection: string, title: string): string {
  const seed = SEEDS[service].find((one) => one.collection === collection && one.title === title);
  if (seed === undefined) throw new TypeError(`there is no ${title} in ${service}/${collection}`);
  return placeOf(service, collection, seed.key);
}

/** Returns the fields of a sent message or a job. */
function fieldsIn(value: string): { readonly [name: string]: Json } {
  const row: Json = JSON.parse(value);
  if (!isJsonObject(row)) return {};
  const text = row["text"];
  if (typeof text !== "string" || row["collection"] !== "sent") return row;
  const sent: Json = JSON.parse(text);
  return isJsonObject(sent) ? { ...sent, subject: row["title"] ?? null } : {};
}

// Checks constraints with code of its own, so that a fault of the tested code is noticed.
function satisfies({ constraints = {} }: Need, fields: { readonly [name: string]: Json }): boolean {
  return Object.entries(constraints).every(([name, limit]) => {
    const value = fields[name];
    if (typeof limit !== "object" || limit === null) return value === limit;
    const { max, min, in: listed } = limit;
    if (max !== undefined && !(typeof value === "number" && value <= max)) return false;
    if (min !== undefined && !(typeof value === "number" && value >= min)) return false;
    return listed === undefined || listed.some((one) => one === value);
  });
}
