import { hash } from "node:crypto";
import {
  AgentCard,
  type AgentExtension,
  type AgentSkill,
  Extensions,
  type SecurityScheme,
} from "@a2a-js/sdk";
import type { RequestHandler } from "express";
import type { Authenticator } from "../../agent/caller.js";
import type { Mode } from "../../agent/clearance.js";
import { LEGACY_NOTICE } from "../../agent/issuance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Json } from "../../bytes/json.js";
import { AGENT, assertHas } from "../../checks/kinds.js";
import { plainObject } from "../../checks/plain.js";
import { DISCOVERY_URI } from "../../discovery/card.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";
import { INPUT_MODES } from "./parts.js";

/** The parts of the card that describe this agent. */
export interface CardOptions {
  readonly name: string;
  readonly description: string;
  /** The agent's own version. */
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  /**
   * The agents to which this agent delegates tasks; empty if it delegates none. If `delegates` is absent, the
   * card does not say, and callers whose requirements apply to the whole chain refuse this agent.
   */
  readonly delegates?: readonly Delegate[];
  /**
   * The collections of resources to list in the card; none unless given. The card is public, while a policy may
   * hide collections from principals, so list only collections that everyone may know about.
   */
  readonly collections?: readonly ListedCollection[];
}

/** A collection of resources that the card lists. */
export interface ListedCollection {
  /** The name to use in resource queries. */
  readonly name: string;
  /** The fields that resource queries can filter on. */
  readonly fields?: readonly string[];
}

/** An agent to which this agent delegates tasks. */
export interface Delegate {
  /** The URL of the agent, or of the agent's card. */
  readonly url: string;
  /**
   * The capabilities for which this agent uses the delegate, by their names in cards. The delegate's own card
   * declares its abilities.
   */
  readonly capabilities?: readonly string[];
}

/** The URLs of an agent's two bindings. */
export interface Interfaces {
  readonly jsonRpc: string;
  readonly rest: string;
}

const VERSION = "1.0";

const MODE_NOTICES: Readonly<Record<Mode, string>> = {
  advertise: "capabilities are offered; calls without one use the caller's ambient authority",
  prefer: "capabilities are preferred; calls without one use ambient authority, and are marked",
  require: "every call needs a capability; ambient authority is not accepted",
};

function noticeOf({ mode, undeclaredAmbient }: IssuingAgent): string {
  if (mode === "require" || undeclaredAmbient === "accepted") return MODE_NOTICES[mode];
  return "calls without a capability must declare that they use ambient authority, and are marked";
}

/** A grant as the Agent Card advertises it (the SEP's `capabilityGrants`). */
interface AdvertisedGrant {
  readonly id: string;
  readonly description: string;
  readonly operations: readonly string[];
  readonly attenuable: boolean;
  readonly legacy?: true;
  /** The guarantees that a legacy grant lacks. */
  readonly notice?: string;
  readonly requires?: readonly string[];
}

/** Returns the grants of an agent as the card lists them. */
function advertisedGrants(agent: IssuingAgent): readonly AdvertisedGrant[] {
  const all = new Set([...agent.skills.values()].map(({ operation }) => operation));
  return [...agent.grants.values()].map((grant) => ({
    id: grant.id,
    description: grant.description,
    operations: grant.legacy && grant.operations.length === all.size ? ["*"] : grant.operations,
    attenuable: grant.attenuable,
    ...(grant.legacy ? ({ legacy: true, notice: LEGACY_NOTICE } as const) : {}),
    ...(grant.requires.length === 0 ? {} : { requires: grant.requires }),
  }));
}

/** Returns the Agent Card in the SDK's form. */
export function agentCard(
  options: CardOptions & { readonly pushes: boolean },
  agent: IssuingAgent,
  authenticator: Authenticator,
  { jsonRpc, rest }: Interfaces,
): AgentCard {
  const binding = { tenant: "", protocolVersion: VERSION };
  return {
    name: options.name,
    description: options.description,
    version: options.version,
    provider: options.provider,
    documentationUrl: options.documentationUrl,
    supportedInterfaces: [
      { url: jsonRpc, protocolBinding: "JSONRPC", ...binding },
      { url: rest, protocolBinding: "HTTP+JSON", ...binding },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: options.pushes,
      extendedAgentCard: false,
      extensions: [capabilityExtension(agent, options), discoveryExtension(options)],
    },
    securitySchemes: { bearer: securityScheme(authenticator) },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [...INPUT_MODES],
    defaultOutputModes: ["application/json"],
    skills: [...agent.skills.values()].map(
      (skill): AgentSkill => ({
        id: skill.id,
        name: skill.name,
        description: skill.description,
        tags: [...(skill.tags ?? [skill.operation])],
        examples: [...(skill.examples ?? [])],
        inputModes: ["application/json"],
        outputModes: ["application/json"],
        securityRequirements: [],
      }),
    ),
    signatures: [],
  };
}

/**
 * Returns the extension's entry for `capabilities.extensions` in the card of an agent.
 *
 * @param listed - The collections to list.
 * @throws TypeError if `agent` is not an issuing agent, for example a Promise of an issuing agent.
 */
export function capabilityExtension(
  agent: IssuingAgent,
  listed: Pick<CardOptions, "collections"> = {},
): AgentExtension {
  assertHas(agent, AGENT, "agent");
  const { collections } = plainObject(listed, "listed");
  const { mode, skills, issuer, undeclaredAmbient } = agent;
  const notice = noticeOf(agent);
  return {
    uri: EXTENSION_URI,
    description: `Task-scoped capabilities that holders narrow offline; ${notice}.`,
    required: mode === "require",
    params: {
      ...proposedMembers(agent),
      issuer: issuer.name,
      mode,
      undeclaredAmbient,
      notice,
      tokenFormat: "proviso/1",
      maxLifetimeSeconds: issuer.maxLifetime,
      methods: Object.values(METHODS).filter((one) => skills.size > 0 || one !== METHODS.invoke),
      metadataKey: EXTENSION_URI,
      header: CAPABILITY_HEADER,
      skills: skillOperations(agent),
      ...(collections === undefined ? {} : { collections: collections.map((one) => ({ ...one })) }),
    },
  };
}

/**
 * Returns the card contract (docs/spec.md, "Capability declaration and discovery"): this server's own
 * declarations. A request for anything declared `false` is refused.
 */
function discoveryExtension({
  pushes,
  delegates,
}: CardOptions & { readonly pushes: boolean }): AgentExtension {
  return {
    uri: DISCOVERY_URI,
    description: "This agent's declared capabilities, versions and delegates.",
    required: false,
    params: {
      minProtocolVersion: VERSION,
      maxProtocolVersion: VERSION,
      capabilities: {
        pause_resume: false,
        streaming_message: false,
        push_notifications: pushes,
        context_reuse: true,
        multi_tenant: false,
        message_history_injection: false,
      },
      ...(delegates === undefined ? {} : { delegates: delegates.map((one) => ({ ...one })) }),
    },
  };
}

/** The two forms of the card, serialized. */
export interface CardTexts {
  /** The card with A2A's properties only. */
  readonly plain: string;
  /** The card with the SEP's three properties at the top level, for requests that name the extension. */
  readonly extended: string;
}

/** Serializes the card in both forms. */
export function cardTexts(card: AgentCard, agent: IssuingAgent): CardTexts {
  const written = AgentCard.toJSON(card);
  const base = typeof written === "object" && written !== null ? written : {};
  return {
    plain: JSON.stringify(base),
    extended: JSON.stringify({ ...base, ...proposedMembers(agent) }),
  };
}

/** Returns the properties that the SEP adds to the card. */
function proposedMembers(agent: IssuingAgent): object {
  const required = agent.mode === "require";
  return {
    capabilityGrants: advertisedGrants(agent),
    capabilitiesRequired: required,
    ambientAuthority: required ? "refused" : "accepted",
  };
}

/** Returns the information for calling each skill, such as its operation and its schema. */
function skillOperations(agent: IssuingAgent): Json {
  return Object.fromEntries(
    [...agent.skills.values()].map(({ id, operation, reach, target, input }) => [
      id,
      { operation, reach, ...(target === undefined ? {} : { target }), input },
    ]),
  );
}

function securityScheme({ issuer, audience }: Authenticator): SecurityScheme {
  const from = issuer === undefined ? "" : ` from ${issuer}`;
  const description = `OAuth 2.0 access token${from}${audience === undefined ? "" : ` for ${audience}`}`;
  return {
    scheme: {
      $case: "httpAuthSecurityScheme",
      value: { scheme: "Bearer", bearerFormat: "JWT", description },
    },
  };
}

/** Seconds for which clients may cache the card, which changes only when the agent restarts. */
const MAX_AGE = 300;

/**
 * Serves the card with caching headers (A2A 1.0, section 8.6); Express compares `If-None-Match` and
 * `If-Modified-Since`.
 */
export function cardRoute({ plain, extended }: CardTexts): RequestHandler {
  const since = new Date().toUTCString();
  const tags = { plain: tagOf(plain), extended: tagOf(extended) };
  return (req, res) => {
    const named = Extensions.parseServiceParameter(req.get("A2A-Extensions"));
    const asked = named.includes(EXTENSION_URI);
    if (asked) res.set("A2A-Extensions", EXTENSION_URI);
    res.set({
      "Cache-Control": `public, max-age=${MAX_AGE}`,
      "Last-Modified": since,
      ETag: asked ? tags.extended : tags.plain,
      Vary: "A2A-Extensions",
    });
    // `fetch` sends `Cache-Control: no-cache` with every conditional request. The header is meant for caches on
    // the way, but would make Express send the whole card every time.
    delete req.headers["cache-control"];
    // Both forms have the same date; only the ETag shows which form a client has.
    if (asked) delete req.headers["if-modified-since"];
    res.type("application/json").send(asked ? extended : plain);
  };
}

function tagOf(text: string): string {
  return `"${hash("sha256", text, "base64url")}"`;
}
