import type { GrantedCapability } from "../../../src/agent/issuance.js";
import type { JsonObject } from "../../../src/bytes/json.js";
import type { HopInit } from "../../../src/index.js";
import { attenuate, encodeHop } from "../../../src/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../../src/issuer/index.js";
import { addFirstPartyCaveat, macaroonToText, parseMacaroon } from "../../../src/macaroon/index.js";
import {
  type CapabilityQuery,
  createCapabilityClient,
} from "../../../src/protocols/a2a/client/index.js";
import type { TestAgent } from "../../support/a2a-agent.js";
import { clientOf, request } from "./callers.js";
import { POLICY } from "./contents.js";

/** Narrows a token offline, as a holder does. */
function narrowed(token: string, hop: HopInit): string {
  const attenuation = attenuate(token, hop, { intersect: true });
  if (!attenuation.ok) throw new Error(JSON.stringify(attenuation.overreaches));
  return attenuation.token;
}

/** A call that the agent refuses, and the expected denial codes. */
export interface Refused {
  readonly about: string;
  readonly codes: readonly string[];
  readonly skill?: string;
  given?(handle: string, elsewhere: string): JsonObject;
  /** Returns the token to present. Unless given, the capability's own token is presented. */
  token?(agent: TestAgent, granted: GrantedCapability, handle: string): string | Promise<string>;
  /** Changes the agent after the capability is granted and before the call. */
  before?(agent: TestAgent): void;
  /** Restores the agent. */
  after?(agent: TestAgent): void;
}

const NOISE = `rh_${"A".repeat(22)}`;

export const REFUSED: readonly Refused[] = [
  {
    about: "an expired token",
    codes: ["expired"],
    before: (agent) => agent.advance(20 * 60_000),
    after: (agent) => agent.advance(-20 * 60_000),
  },
  {
    about: "a token that is not valid yet",
    codes: ["not_yet_valid"],
    token: (_agent, { token }) =>
      narrowed(token, {
        notBefore: new Date(Date.now() + 120_000).toISOString().replace(/\.\d+/, ""),
      }),
  },
  {
    about: "a token with a wrong signature",
    codes: ["signature_mismatch"],
    token: (_agent, { token }) => `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`,
  },
  {
    about: "a truncated token",
    codes: ["token_truncated"],
    token: (_agent, { token }) => token.slice(0, -20),
  },
  { about: "a string that is not a token", codes: ["token_malformed"], token: () => "capability" },
  {
    about: "a revoked token",
    codes: ["revoked"],
    token: async (agent, { token }) => {
      await createCapabilityClient(await clientOf(agent, "JSON-RPC", "bob")).revoke(
        token,
        "a test",
      );
      return narrowed(token, { purpose: "a child dies with it" });
    },
  },
  {
    about: "a token of a foreign issuer",
    codes: ["foreign_issuer"],
    token: () => foreign("someone-else").token,
  },
  {
    about: "a token in the issuer's name with an unknown key",
    codes: ["unknown_key"],
    token: () => foreign("documents-agent").token,
  },
  {
    about: "a token for another service",
    codes: ["audience_denied"],
    token: (_agent, { token }) => narrowed(token, { audience: ["calendar-agent"] }),
  },
  {
    about: "a token for another invoker",
    codes: ["invoker_denied"],
    token: (_agent, { token }) => narrowed(token, { invokers: ["calendar"] }),
  },
  {
    about: "a token with too many hops",
    codes: ["too_many_hops"],
    token: async (agent) => {
      const client = await clientOf(agent, "JSON-RPC", "alice");
      const { token } = await request(client, { grants: ["work:sealed"] });
      return attenuateUnchecked(token);
    },
    skill: "wait",
    given: () => ({ milliseconds: 0 }),
  },
  {
    about: "an argument outside a constraint",
    codes: ["constraint_violated"],
    token: (agent) => granted(agent, "payments:send", { constraints: { amount: { max: 100 } } }),
    skill: "pay",
    given: () => ({ amount: 101, to: "bob" }),
  },
  {
    about: "a token without the skill's operation",
    codes: ["operation_denied"],
    token: (_agent, { token }) => narrowed(token, { operations: ["search"] }),
  },
  {
    about: "a skill of another grant",
    codes: ["grant_denied", "operation_denied", "resource_denied"],
    skill: "pay",
    given: () => ({ amount: 1, to: "bob" }),
  },
  {
    about: "a handle that the token does not have",
    codes: ["resource_denied"],
    token: (_agent, { resourceHandles = [], token }, handle) => {
      const others = resourceHandles.map((one) => one.handle).filter((one) => one !== handle);
      return narrowed(token, { resourceHandles: others });
    },
  },
  {
    about: "the handle of another capability",
    codes: ["resource_denied"],
    given: (_handle, elsewhere) => ({ resourceHandle: elsewhere }),
  },
  {
    about: "a handle that cannot be unsealed",
    codes: ["handle_invalid"],
    // Only the holder of the issuer's key can put an invalid handle into a capability.
    token: (agent) =>
      agent.issuer.mint({
        grant: "documents:read",
        principal: "alice",
        operations: ["retrieve"],
        resourceHandles: [NOISE],
      }).token,
    given: () => ({ resourceHandle: NOISE }),
  },
  {
    about: "a grant that the policy no longer allows",
    codes: ["policy_denied"],
    before: (agent) =>
      agent.policy.replace({
        ...POLICY,
        rules: POLICY.rules.filter(({ grant }) => grant !== "documents:read"),
      }),
    after: (agent) => agent.policy.replace(POLICY),
  },
  {
    about: "a resource that the policy no longer allows",
    codes: ["policy_denied"],
    before: (agent) =>
      agent.policy.replace({
        rules: [
          {
            principal: "alice",
            grant: "documents:read",
            operations: "*",
            resources: { collections: ["reports"], filter: { quarter: "2025-Q2" } },
          },
        ],
      }),
    after: (agent) => agent.policy.replace(POLICY),
  },
  {
    about: "arguments that fail the schema",
    codes: ["arguments_invalid"],
    given: (handle) => ({ resourceHandle: handle, path: "/etc/passwd" }),
  },
  {
    about: "a string that is not a handle in the place of a handle",
    codes: ["resource_denied", "arguments_invalid"],
    given: () => ({ resourceHandle: "reports/merger.md" }),
  },
  {
    about: "an unknown skill",
    codes: ["skill_unknown"],
    skill: "delete_everything",
    given: () => ({}),
  },
  {
    about: "several reasons at once",
    codes: ["operation_denied", "audience_denied", "arguments_invalid"],
    token: (_agent, { token }) =>
      narrowed(token, { operations: ["search"], audience: ["calendar-agent"] }),
    given: (handle) => ({ resourceHandle: handle, path: "" }),
  },
];

function foreign(name: string) {
  const issuer = createIssuer({ name, keys: createKeyring(), revocations: createRevocationList() });
  return issuer.mint({ grant: "documents:read", principal: "alice", operations: ["retrieve"] });
}

async function granted(
  agent: TestAgent,
  grant: string,
  more: Partial<CapabilityQuery> = {},
): Promise<string> {
  const client = await clientOf(agent, "JSON-RPC", "alice");
  return (await request(client, { grants: [grant], ...more })).token;
}

/** Appends one hop more than the token allows. A holder can do that without this library. */
function attenuateUnchecked(token: string): string {
  return macaroonToText(
    addFirstPartyCaveat(parseMacaroon(token), encodeHop({ purpose: "one more" })),
  );
}
