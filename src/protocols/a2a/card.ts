import { AgentCard, type AgentSkill, type SecurityScheme } from "@a2a-js/sdk";
import type { Json } from "../../bytes/json.js";
import type { Mode } from "../../issuer/agent/gate.js";
import { LEGACY_NOTICE } from "../../issuer/agent/issuance.js";
import type { IssuingAgent } from "../../issuer/agent/issuing-agent.js";
import type { Authenticator } from "../../issuer/principals/caller.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";

/** What an agent says of itself. */
export interface CardOptions {
  readonly name: string;
  readonly description: string;
  /** The agent's own version. */
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
}

/** Where an agent's two bindings are. */
export interface Interfaces {
  readonly jsonRpc: string;
  readonly rest: string;
}

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
export interface AdvertisedGrant {
  readonly id: string;
  readonly description: string;
  readonly operations: readonly string[];
  readonly attenuable: boolean;
  readonly legacy?: true;
  /** What a legacy grant does not promise. */
  readonly notice?: string;
  readonly requires?: readonly string[];
}

/** The grants of an agent, as advertised. */
function advertisedGrants(agent: IssuingAgent): readonly AdvertisedGrant[] {
  return [...agent.grants.values()].map((grant) => ({
    id: grant.id,
    description: grant.description,
    operations: grant.everything ? ["*"] : grant.operations,
    attenuable: grant.attenuable,
    ...(grant.legacy ? ({ legacy: true, notice: LEGACY_NOTICE } as const) : {}),
    ...(grant.requires.length === 0 ? {} : { requires: grant.requires }),
  }));
}

/** The Agent Card, as the SDK has it. */
export function agentCard(
  options: CardOptions & { readonly pushes: boolean },
  agent: IssuingAgent,
  authenticator: Authenticator,
  { jsonRpc, rest }: Interfaces,
): AgentCard {
  const { mode } = agent;
  const binding = { tenant: "", protocolVersion: "1.0" };
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
      extensions: [
        {
          uri: EXTENSION_URI,
          description: `Task-scoped capabilities that holders narrow offline; ${noticeOf(agent)}.`,
          required: mode === "require",
          params: {
            issuer: agent.issuer.name,
            mode,
            capabilitiesRequired: mode === "require",
            ambientAuthority: mode === "require" ? "refused" : "accepted",
            undeclaredAmbient: agent.undeclaredAmbient,
            notice: noticeOf(agent),
            capabilityGrants: advertisedGrants(agent),
            tokenFormat: "proviso/1",
            maxLifetimeSeconds: agent.issuer.maxLifetime,
            methods: Object.values(METHODS),
            metadataKey: EXTENSION_URI,
            header: CAPABILITY_HEADER,
            skills: skillOperations(agent),
          },
        },
      ],
    },
    securitySchemes: { bearer: securityScheme(authenticator) },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ["application/json", "text/plain"],
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

/** The card as it is served: A2A's own JSON, with the SEP's top-level members. */
export function cardJson(card: AgentCard, agent: IssuingAgent): string {
  const written = AgentCard.toJSON(card);
  const base = typeof written === "object" && written !== null ? written : {};
  return JSON.stringify({
    ...base,
    capabilityGrants: advertisedGrants(agent),
    capabilitiesRequired: agent.mode === "require",
    ambientAuthority: agent.mode === "require" ? "refused" : "accepted",
  });
}

/** What a caller needs to know to call each skill: its operation and its schema. */
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
