import { isWellFormed } from "../../bytes/utf8.js";
import { meant } from "../../checks/members.js";
import { MAX_HOPS_BYTES } from "../approvals/approval-result.js";
import { sizeOf } from "../approvals/deciding.js";
import { emptyArguments, readConstraints } from "./constraints.js";
import { leave } from "./outcomes.js";
import type { GrantHop } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { AskedCapability, AskingOptions } from "./requests.js";
import type { CapabilityTerm } from "./terms.js";

/** A capability that is asked for, read: with the hops that agent and server demand of it. */
export interface Wanted {
  readonly term: CapabilityTerm;
  readonly hops: readonly GrantHop[];
}

const MAX_ASKED = 64;
const MAX_NAME = 128;
const MAX_WORDS = 512;
const MAX_KEY = 256;

/** Reads what an agent asks for. @throws Refused */
export function readAsked(
  capabilities: readonly AskedCapability[],
  { terms = new Map(), settings }: Pick<RegistryContext, "terms" | "settings">,
): readonly Wanted[] {
  if (capabilities.length > MAX_ASKED) {
    const message = `capabilities: one request asks for at most ${MAX_ASKED}`;
    leave("invalid_request", message, { path: "capabilities" });
  }
  const names = capabilities.map(({ name }) => name);
  const strange = [...new Set(names.filter((name) => !terms.has(name)))];
  if (strange.length > 0) {
    const [first = ""] = strange;
    const hint = meant(first.slice(0, 64), [...terms.keys()]);
    const quoted = strange.map((name) => JSON.stringify(name.slice(0, 64))).join(", ");
    leave("invalid_capabilities", `there is no capability ${quoted}${hint}`, {
      capabilities: strange,
    });
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    leave("invalid_request", `capabilities: "${twice}" is asked for twice`, {
      path: "capabilities",
    });
  }
  return capabilities.flatMap(({ name, constraints }, at) => {
    const term = terms.get(name);
    if (term === undefined) return [];
    const where = `capabilities[${at}].constraints`;
    const reading = readConstraints(constraints, where);
    if (!reading.ok) return leave(reading.code, reading.message, reading);
    const server = settings.constraints.get(name);
    const hops: readonly GrantHop[] = [
      ...(reading.hop === undefined ? [] : [{ by: "agent" as const, hop: reading.hop }]),
      ...(server === undefined ? [] : [{ by: "server" as const, hop: server }]),
    ];
    const own = hops.map(({ hop }) => hop);
    const empty = emptyArguments(own);
    if (empty.length > 0) {
      const message = `${where}: with the limits of this server, no value satisfies ${empty.join(", ")}`;
      leave("invalid_request", message, { path: where });
    }
    if (sizeOf(own) > MAX_HOPS_BYTES / 2) {
      leave("invalid_request", `${where}: must take at most ${MAX_HOPS_BYTES / 2} bytes`, {
        path: where,
      });
    }
    return [{ term, hops }];
  });
}

/** Checks the texts of a request. @throws Refused */
export function checkTexts(
  asked: AskingOptions & { readonly name?: string; readonly hostName?: string | undefined },
): void {
  const { name, hostName, purpose, bindingMessage, loginHint, idempotencyKey } = asked;
  const texts = { name, hostName, purpose, bindingMessage, loginHint, idempotencyKey };
  const most = {
    name: MAX_NAME,
    hostName: MAX_NAME,
    purpose: MAX_WORDS,
    bindingMessage: MAX_WORDS,
    loginHint: MAX_KEY,
    idempotencyKey: MAX_KEY,
  };
  for (const [path, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    const length = most[path as keyof typeof most];
    if (text !== "" && text.length <= length && isWellFormed(text)) continue;
    leave("invalid_request", `${path}: must be a text of 1 to ${length} characters`, { path });
  }
}
