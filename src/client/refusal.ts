import type { AgentDenial, RefusedGrant, RequestDenial } from "../agent/refusal.js";
import { isDeeperThan, type Json, type JsonObject } from "../bytes/json.js";
import { objectIn, objectsIn, textIn, textsIn } from "./received.js";

/** A denial in an answer. Its code may be unknown to this version. */
export type ReceivedDenial = Omit<AgentDenial, "code"> & { readonly code: string };

/** An agent's refusal of a request for capabilities. */
export interface ReceivedRefusal extends Omit<RequestDenial, "code" | "message" | "refused"> {
  readonly code: string;
  readonly refused: readonly ReceivedRefusedGrant[];
}

/** A grant under which an agent issued nothing. */
export type ReceivedRefusedGrant = Omit<RefusedGrant, "takenBy"> & { readonly takenBy: string };

const STRUCT = "type.googleapis.com/google.protobuf.Struct";
/** Longest string, in characters; longer strings are cut. */
const MAX_TEXT = 1000;
/** Maximum nesting depth of arrays and objects. */
const MAX_DEPTH = 16;

/**
 * Reads the denials in an error's details: in a `google.protobuf.Struct`, or in the `google.rpc.ErrorInfo` of
 * an older agent. Skips denials without code or message.
 *
 * @param domain - The extension's domain, which the ErrorInfo must have.
 */
export function denialsIn(details: unknown, domain: string): readonly ReceivedDenial[] {
  const metadata = metadataIn(details, domain);
  if (metadata === undefined) return [];
  const struct = objectsIn(details).find((one) => one["@type"] === STRUCT);
  const told = denialsFrom(shallow(objectIn(struct?.["value"])["denials"]));
  return told.length > 0 ? told : denialsFrom(parsed(metadata["denials"]));
}

/** Reads the refusal of a request in an error's details; `undefined` if the error is about something else. */
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

/** Reads the grants under which nothing was issued. */
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

/** Reads denials; skips denials without code or message. */
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
      remedy: remedyIn(denial["remedy"]),
      ...(typeof more === "number" ? { more } : {}),
    };
    return [one];
  });
}

/** Reads a remedy; `undefined` if its kind is unknown to this version. */
function remedyIn(value: Json | undefined): ReceivedDenial["remedy"] {
  const { kind, pointer, value: set } = objectIn(value);
  if (typeof pointer !== "string") return undefined;
  if (kind === "remove_argument") return { kind, pointer };
  return kind === "set_argument" && set !== undefined ? { kind, pointer, value: set } : undefined;
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
