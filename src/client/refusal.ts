import type { AgentDenial, RefusedGrant, RequestDenial } from "../agent/refusal.js";
import { isDeeperThan, type Json, type JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn, textsIn } from "./received.js";

/** A reason for which an agent refuses a call, as it came: the code may be one that is not known here. */
export type ReceivedDenial = Omit<AgentDenial, "code"> & { readonly code: string };

/** Why an agent refuses a request for capabilities, as it came. */
export interface ReceivedRefusal extends Omit<RequestDenial, "code" | "message" | "refused"> {
  readonly code: string;
  readonly refused: readonly ReceivedRefusedGrant[];
}

/** A grant under which an agent issued nothing, as it came. */
export type ReceivedRefusedGrant = Omit<RefusedGrant, "takenBy"> & { readonly takenBy: string };

const STRUCT = "type.googleapis.com/google.protobuf.Struct";
/** Characters. */
const MAX_TEXT = 1000;
/** Arrays and objects within each other. */
const MAX_DEPTH = 16;

/**
 * The denials in an error's details, as a `google.protobuf.Struct` or an older agent's
 * `google.rpc.ErrorInfo`; those without code or message are left out.
 *
 * @param domain - That of the extension, which the ErrorInfo must have.
 */
export function denialsIn(details: unknown, domain: string): readonly ReceivedDenial[] {
  const metadata = metadataIn(details, domain);
  if (metadata === undefined) return [];
  const struct = objectsIn(details).find((one) => one["@type"] === STRUCT);
  const told = denialsFrom(shallow(objectIn(struct?.["value"])["denials"]));
  return told.length > 0 ? told : denialsFrom(parsed(metadata["denials"]));
}

/** What an error's details say of a refused request; `undefined` if it is about something else. */
export function refusalIn(details: unknown, domain: string): ReceivedRefusal | undefined {
  const found = objectIn(parsed(metadataIn(details, domain)?.["problem"]));
  const code = shortTextIn(found["code"]);
  if (code === undefined) return undefined;
  const path = shortTextIn(found["path"]);
  const [known, grants] = [textsIn(found["known"]), textsIn(found["grants"])];
  return {
    code,
    refused: refusedGrantsIn(found["refused"]),
    path,
    ...(known.length === 0 ? {} : { known }),
    ...(grants.length === 0 ? {} : { grants }),
  };
}

/** The grants under which nothing was issued. */
export function refusedGrantsIn(value: Json | undefined): readonly ReceivedRefusedGrant[] {
  return objectsIn(value).map((one) => ({
    grant: shortTextIn(one["grant"]) ?? "",
    takenBy: shortTextIn(one["takenBy"]) ?? "unknown",
    message: shortTextIn(one["message"]) ?? "it gives no reason",
  }));
}

function metadataIn(details: unknown, domain: string): JsonObject | undefined {
  const info = objectsIn(details).find((one) => one["domain"] === domain);
  return info === undefined ? undefined : objectIn(info["metadata"]);
}

/** Denials as they came: what has no code or no message is left out. */
export function denialsFrom(value: Json | undefined): readonly ReceivedDenial[] {
  return objectsIn(value).flatMap((denial): ReceivedDenial[] => {
    const { hop, discharge, capability, expected, actual, nearest, more } = denial;
    const [code, message] = [shortTextIn(denial["code"]), shortTextIn(denial["message"])];
    if (code === undefined || message === undefined) return [];
    const rule = shortTextIn(denial["rule"]);
    const one = {
      code,
      message,
      ...(typeof hop === "number" ? { hop } : {}),
      ...(typeof discharge === "number" ? { discharge } : {}),
      ...(typeof capability === "number" ? { capability } : {}),
      rule,
      expected,
      actual,
      nearest,
      ...(typeof more === "number" ? { more } : {}),
    };
    return [one];
  });
}

function parsed(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return shallow(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function shallow(value: Json | undefined): Json | undefined {
  return value === undefined || isDeeperThan(value, MAX_DEPTH) ? undefined : value;
}

function shortTextIn(value: Json | undefined): string | undefined {
  return textIn(value)?.slice(0, MAX_TEXT);
}
