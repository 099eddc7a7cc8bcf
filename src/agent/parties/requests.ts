// What hosts and agents ask for: its shapes, and its reading.

import type { Json, JsonObject } from "../../bytes/json.js";
import { isWellFormed } from "../../bytes/utf8.js";
import { meant } from "../../checks/members.js";
import { sizeOf } from "./approval-decisions.js";
import type { OpenedApproval } from "./approval-requests.js";
import { MAX_HOPS_BYTES } from "./approval-results.js";
import { emptyArguments, readConstraints } from "./constraints.js";
import type { PartiesContext } from "./context.js";
import type { Actor } from "./events.js";
import type {
  AgentGrant,
  AgentMode,
  AgentRecord,
  Approval,
  GrantHop,
  HostRecord,
  Origin,
  PublicKey,
} from "./records.js";
import { throwRefusal } from "./refusals.js";
import type { CapabilityTerm } from "./terms.js";

/** A capability as an agent asks for it. */
export interface AskedCapability {
  readonly name: string;
  /** As it came over the network: argument to exact value, or to `{min, max, in, not_in}`. */
  readonly constraints?: Json | undefined;
}

/** How a user is asked, and the subject. */
export interface AskingOptions {
  /** The reason, in the agent's words. */
  readonly purpose?: string | undefined;
  /** A text that agent and user both see, by which the user knows the request. */
  readonly bindingMessage?: string | undefined;
  /**
   * The user that is to decide, where the host is linked to none: it finds the request in its list. Where that has
   * no room for more of strangers, it is as if none were named: the user enters the code.
   */
  readonly loginHint?: string | undefined;
  /** `user_code` unless given. Without a user that is known or named, it is that in any case. */
  readonly method?: Approval["method"] | undefined;
  /**
   * The same key and the same request get the same answer again, for a day; from a host that no user has taken on,
   * only a request that made something.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A host, as it has proved to be. */
export interface HostProof {
  /** Its public key as a JWK. */
  readonly hostKey: JsonObject;
  /** The key's thumbprint (RFC 7638). */
  readonly hostThumbprint: string;
  readonly hostName?: string | undefined;
  /** The origin of the request; a new host takes a share of its address and network. */
  readonly from?: Origin | undefined;
}

/** A public key that a host or an agent is given. */
export interface NewKey extends PublicKey {
  /** True if the caller has verified a signature under the key that names the party. */
  readonly proven: boolean;
}

/** A host that a user makes, or an operator of this installation in the user's place. */
export interface HostCreation {
  readonly principal: string;
  readonly name?: string | undefined;
  readonly key?: PublicKey | undefined;
  readonly defaults?: readonly string[] | undefined;
  readonly operator?: boolean | undefined;
}

/** A host that gives its key, by its enrolment token. */
export interface HostEnrolment extends NewKey {
  readonly token: string;
  readonly name?: string | undefined;
}

/** A request of a host to register an agent. */
export interface Registration extends HostProof, AskingOptions {
  readonly agentKey: JsonObject;
  readonly agentThumbprint: string;
  readonly name: string;
  readonly mode: AgentMode;
  /** None unless given. */
  readonly capabilities?: readonly AskedCapability[] | undefined;
}

/** A request of an agent for more than it has. */
export interface GrantRequest extends AskingOptions {
  readonly capabilities: readonly AskedCapability[];
}

/** A request of an autonomous agent, or of its host, that a user takes the agent over. */
export interface Claim extends Omit<AskingOptions, "idempotencyKey"> {
  readonly agent: string;
  /** The party that has proved to ask: the agent, or its host. Any other is refused. */
  readonly by: Pick<Actor, "agent" | "host">;
}

/** An agent's current grants, and the request to be decided first. */
export interface AskedAnswer extends AgentAnswer, Partial<OpenedApproval> {}

/** The answer to a host's request about an agent. */
export interface AgentAnswer {
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  /** Those that the request is about: all of a new agent's, and those asked for of another. */
  readonly grants: readonly AgentGrant[];
}

/** A capability that is asked for, read: with the hops that agent and server demand of it. */
export interface Wanted {
  readonly term: CapabilityTerm;
  readonly hops: readonly GrantHop[];
}

const MAX_ASKED = 64;

const MAX_NAME = 128;

const MAX_WORDS = 512;

const MAX_KEY = 256;

/** Reads what an agent asks for. @throws RefusedError */
export function readAsked(
  capabilities: readonly AskedCapability[],
  { terms = new Map(), settings }: Pick<PartiesContext, "terms" | "settings">,
): readonly Wanted[] {
  if (capabilities.length > MAX_ASKED) {
    const message = `capabilities: one request asks for at most ${MAX_ASKED}`;
    throwRefusal("invalid_request", message, { path: "capabilities" });
  }
  const names = capabilities.map(({ name }) => name);
  const strange = [...new Set(names.filter((name) => !terms.has(name)))];
  if (strange.length > 0) {
    const [first = ""] = strange;
    const hint = meant(first.slice(0, 64), [...terms.keys()]);
    const quoted = strange.map((name) => JSON.stringify(name.slice(0, 64))).join(", ");
    throwRefusal("invalid_capabilities", `there is no capability ${quoted}${hint}`, {
      capabilities: strange,
    });
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throwRefusal("invalid_request", `capabilities: "${twice}" is asked for twice`, {
      path: "capabilities",
    });
  }
  return capabilities.flatMap(({ name, constraints }, at) => {
    const term = terms.get(name);
    if (term === undefined) return [];
    const where = `capabilities[${at}].constraints`;
    const reading = readConstraints(constraints, where);
    if (!reading.ok) return throwRefusal(reading.code, reading.message, reading);
    const server = settings.constraints.get(name);
    const hops: readonly GrantHop[] = [
      ...(reading.hop === undefined ? [] : [{ by: "agent" as const, hop: reading.hop }]),
      ...(server === undefined ? [] : [{ by: "server" as const, hop: server }]),
    ];
    const own = hops.map(({ hop }) => hop);
    const empty = emptyArguments(own);
    if (empty.length > 0) {
      const message = `${where}: with the limits of this server, no value satisfies ${empty.join(", ")}`;
      throwRefusal("invalid_request", message, { path: where });
    }
    if (sizeOf(own) > MAX_HOPS_BYTES / 2) {
      throwRefusal("invalid_request", `${where}: must take at most ${MAX_HOPS_BYTES / 2} bytes`, {
        path: where,
      });
    }
    return [{ term, hops }];
  });
}

/** Checks the texts of a request. @throws RefusedError */
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
    throwRefusal("invalid_request", `${path}: must be a text of 1 to ${length} characters`, {
      path,
    });
  }
}
