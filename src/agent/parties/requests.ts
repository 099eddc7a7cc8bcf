// Requests of hosts and agents: their shapes, and how they are read.

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

/** A capability in an agent's request. */
export interface AskedCapability {
  readonly name: string;
  /**
   * Unchecked JSON from the network. An object that maps each argument to an exact value, or to an object with
   * `min`, `max`, `in` or `not_in`.
   */
  readonly constraints?: Json | undefined;
}

/** The way in which the user is asked, and the reason. */
export interface AskingOptions {
  /** The reason, in the agent's words. */
  readonly purpose?: string | undefined;
  /** A text that both agent and user see, so that the user can recognize the request. */
  readonly bindingMessage?: string | undefined;
  /**
   * The user who shall decide a request of an unlinked host. The user finds the request in a list. If this list
   * already has the maximum number of such requests, this property is ignored, and a user enters the user code.
   */
  readonly loginHint?: string | undefined;
  /** `user_code` unless given. Always `user_code` if no user is known or named. */
  readonly method?: Approval["method"] | undefined;
  /**
   * Repeating the same request with the same key within a day returns the same answer. For an unlinked host,
   * only requests that stored something are remembered.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A host that has proven its key. */
export interface HostProof {
  /** The public key of the host as a JWK. */
  readonly hostKey: JsonObject;
  /** The key's thumbprint (RFC 7638). */
  readonly hostThumbprint: string;
  readonly hostName?: string | undefined;
  /** The origin of the request; a new host counts against the limits of its address and network. */
  readonly from?: Origin | undefined;
}

/** A public key given to a host or an agent. */
export interface NewKey extends PublicKey {
  /** True if the calling code has verified a JWT that names the host or agent and is signed with the key. */
  readonly proven: boolean;
}

/** A new host created by a user, or by an operator of this installation in the user's place. */
export interface HostCreation {
  readonly principal: string;
  readonly name?: string | undefined;
  readonly key?: PublicKey | undefined;
  readonly defaults?: readonly string[] | undefined;
  readonly operator?: boolean | undefined;
}

/** A host's key, presented with its enrolment token. */
export interface HostEnrolment extends NewKey {
  readonly token: string;
  readonly name?: string | undefined;
}

/** A host's request to register an agent. */
export interface Registration extends HostProof, AskingOptions {
  readonly agentKey: JsonObject;
  readonly agentThumbprint: string;
  readonly name: string;
  readonly mode: AgentMode;
  /** No capabilities unless given. */
  readonly capabilities?: readonly AskedCapability[] | undefined;
}

/** An agent's request for more grants. */
export interface GrantRequest extends AskingOptions {
  readonly capabilities: readonly AskedCapability[];
}

/** A request that a user take over an autonomous agent, from the agent or its host. */
export interface Claim extends Omit<AskingOptions, "idempotencyKey"> {
  readonly agent: string;
  /** The authenticated requester: the agent or its host. Other requesters are refused. */
  readonly by: Pick<Actor, "agent" | "host">;
}

/** An agent with the grants of the answer, and with the approval for which pending grants wait. */
export interface AskedAnswer extends AgentAnswer, Partial<OpenedApproval> {}

/** The answer to a host's request about an agent. */
export interface AgentAnswer {
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  /**
   * The grants that the answer is about: all grants of a new agent, only the requested or revoked grants of
   * other agents.
   */
  readonly grants: readonly AgentGrant[];
}

/** A requested capability that has been read, with the limits of the agent and of the server as hops. */
export interface Wanted {
  readonly term: CapabilityTerm;
  readonly hops: readonly GrantHop[];
}

const MAX_ASKED = 64;

const MAX_NAME = 128;

const MAX_WORDS = 512;

const MAX_KEY = 256;

/**
 * Reads the capabilities that an agent requests.
 *
 * @throws RefusedError
 */
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

/**
 * Checks the texts of a request.
 *
 * @throws RefusedError
 */
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
    throwRefusal("invalid_request", `${path}: must be a string of 1 to ${length} characters`, {
      path,
    });
  }
}
