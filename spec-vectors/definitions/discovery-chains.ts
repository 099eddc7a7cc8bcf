import type { JsonValue } from "./check-test.js";
import { type CardParts, card, ONE, speaking } from "./discovery-parts.js";
import {
  type ChainLink,
  type DiscoverySubject,
  refusedChain,
  validChain,
} from "./discovery-test.js";

const A = "https://a.example/";
const B = "https://b.example/";
const C = "https://c.example/";
const D = "https://d.example/";
const UNDECLARED = "capability_undeclared";

/** Returns an agent that delegates to the given agents. `null` omits `delegates`. */
function agent(
  url: string,
  delegates: readonly (string | JsonValue)[] | null,
  parts: CardParts = {},
): ChainLink {
  const named = delegates?.map((one) => (typeof one === "string" ? { url: one } : one));
  return { url, ...card({ ...parts, params: named === undefined ? {} : { delegates: named } }) };
}

/** Returns a row of agents, each of which delegates to the next. */
function line(count: number): ChainLink[] {
  const url = (at: number): string => `https://agent.example/${at}`;
  return Array.from({ length: count }, (_, at) => agent(url(at), [url(at + 1)]));
}

const PAUSING: CardParts = { flags: { pause_resume: true } };
const REUSING: CardParts = { flags: { context_reuse: true } };
const REFUSING_REUSE: CardParts = { flags: { context_reuse: false } };
const PAUSES = { endToEnd: ["pause_resume"] };
const REUSES = { capabilities: ["context_reuse"] };

export const chains: DiscoverySubject = {
  type: "chain",
  subject: "chains",
  comment: "Section 14.6: each agent is named by the one before, once, and within the limit",
  tests: [
    validChain("one agent", ["Normal", "Chain"], { links: [agent(A, [])] }),
    validChain("one agent that says nothing of delegates", "Chain", { links: [agent(A, null)] }),
    validChain("two agents", ["Normal", "Chain"], { links: [agent(A, [B]), agent(B, [])] }),
    validChain("three agents", ["Normal", "Chain"], {
      links: [agent(A, [B]), agent(B, [C]), agent(C, [])],
    }),
    validChain("one delegate of several", "Chain", {
      links: [agent(A, [D, C, B]), agent(B, [])],
    }),
    ...[
      "HTTPS://B.example:443",
      `${B}/`,
      `${B}?a=b`,
      `${B}.well-known/agent-card.json`,
      `${B}.well-known/agent.json`,
    ].map((url) =>
      validChain(`a delegate as ${url}`, "Chain", { links: [agent(A, [url]), agent(B, [])] }),
    ),
    refusedChain(
      "a delegate that is not named",
      "Chain",
      { links: [agent(A, [C]), agent(B, [])] },
      "delegate_undeclared@1",
    ),
    refusedChain(
      "an agent that delegates to none",
      "Chain",
      { links: [agent(A, [B]), agent(B, []), agent(C, [])] },
      "delegate_undeclared@2",
    ),
    validChain("an agent that says nothing of delegates, and delegates", "Chain", {
      links: [agent(A, null), agent(B, [])],
    }),
    refusedChain(
      "a delegate at another port",
      ["Chain", "SetMembership"],
      { links: [agent(A, ["https://b.example:8443/"]), agent(B, [])] },
      "delegate_undeclared@1",
    ),
    refusedChain(
      "a delegate by another scheme",
      ["Chain", "SetMembership"],
      { links: [agent(A, ["http://b.example/"]), agent(B, [])] },
      "delegate_undeclared@1",
    ),
    refusedChain(
      "a delegate at another path",
      ["Chain", "SetMembership"],
      { links: [agent(A, ["https://b.example/Agent"]), agent("https://b.example/agent", [])] },
      "delegate_undeclared@1",
    ),
    refusedChain(
      "a delegate that the first names, and not the one before",
      "Chain",
      { links: [agent(A, [B, C]), agent(B, [D]), agent(C, [])] },
      "delegate_undeclared@2",
    ),
    refusedChain(
      "a delegate whose interface is at the URL of the one that is named",
      ["Chain", "SetMembership"],
      { links: [agent(A, [C]), agent(B, [], { interfaces: [speaking(ONE, "JSONRPC", C)] })] },
      "delegate_undeclared@1",
    ),
    refusedChain(
      "delegates at the top of the card",
      ["Chain", "Places"],
      {
        requirements: PAUSES,
        links: [
          { url: A, ...card({ ...PAUSING, top: { delegates: [{ url: B }] } }) },
          agent(B, [], PAUSING),
        ],
      },
      "chain_unknown@0",
    ),
    refusedChain(
      "an agent delegates to itself",
      "ChainBounds",
      { links: [agent(A, [A]), agent(A, [A])] },
      "chain_cycle@1",
    ),
    refusedChain(
      "a chain comes back",
      "ChainBounds",
      { links: [agent(A, [B]), agent(B, [A]), agent(A, [B])] },
      "chain_cycle@2",
    ),
    refusedChain(
      "a chain comes back in another writing",
      "ChainBounds",
      { links: [agent(A, [B]), agent(B, [A]), agent("https://A.EXAMPLE:443", [B])] },
      "chain_cycle@2",
    ),
    validChain("as long as the limit", "ChainBounds", {
      maxLength: 3,
      links: [agent(A, [B]), agent(B, [C]), agent(C, [D])],
    }),
    validChain("eight agents without a limit", "ChainBounds", { links: line(8) }),
    refusedChain(
      "nine agents without a limit",
      "ChainBounds",
      { links: line(9) },
      "chain_too_deep@8",
    ),
    refusedChain(
      "longer than the limit",
      "ChainBounds",
      { maxLength: 2, links: [agent(A, [B]), agent(B, [C]), agent(C, [])] },
      "chain_too_deep@2",
    ),
  ],
};

export const propagation: DiscoverySubject = {
  type: "chain",
  subject: "what holds along a chain",
  comment: "Section 14.6: the version, what holds end to end, what is relied on, what propagates",
  tests: [
    refusedChain(
      "the first agent does not have what is required",
      "Chain",
      { requirements: { capabilities: ["pause_resume"] }, links: [agent(A, [B]), agent(B, [])] },
      `${UNDECLARED}@0`,
    ),
    validChain("what is required is required of the first agent alone", "Chain", {
      requirements: { capabilities: ["pause_resume"] },
      links: [agent(A, [B], PAUSING), agent(B, [])],
    }),
    validChain("grants and binding are required of the first agent alone", "Chain", {
      requirements: { grants: [{ grant: "clock:read" }], binding: "GRPC" },
      links: [
        agent(A, [B], {
          grants: [{ id: "clock:read", operations: ["now"] }],
          interfaces: [speaking({ protocolVersion: "1.0" }, "GRPC")],
        }),
        agent(B, []),
      ],
    }),
    validChain("end to end, declared by all", ["Normal", "Chain"], {
      requirements: PAUSES,
      links: [agent(A, [B], PAUSING), agent(B, [C], PAUSING), agent(C, [], PAUSING)],
    }),
    refusedChain(
      "end to end, and the first does not declare it",
      "Chain",
      { requirements: PAUSES, links: [agent(A, [B]), agent(B, [], PAUSING)] },
      `${UNDECLARED}@0`,
    ),
    refusedChain(
      "end to end, and the one in the middle does not declare it",
      "Chain",
      {
        requirements: PAUSES,
        links: [agent(A, [B], PAUSING), agent(B, [C]), agent(C, [], PAUSING)],
      },
      `${UNDECLARED}@1`,
    ),
    refusedChain(
      "end to end, and the last drops it",
      "Chain",
      {
        requirements: PAUSES,
        links: [agent(A, [B], PAUSING), agent(B, [C], PAUSING), agent(C, [])],
      },
      `${UNDECLARED}@2`,
    ),
    refusedChain(
      "end to end, and a single agent says nothing of delegates",
      "ChainUnknown",
      { requirements: PAUSES, links: [agent(A, null, PAUSING)] },
      "chain_unknown@0",
    ),
    refusedChain(
      "end to end, and the last says nothing of delegates",
      "ChainUnknown",
      { requirements: PAUSES, links: [agent(A, [B], PAUSING), agent(B, null, PAUSING)] },
      "chain_unknown@1",
    ),
    refusedChain(
      "end to end, and the first has a delegate that is not in the chain",
      "ChainUnknown",
      { requirements: PAUSES, links: [agent(A, [B, C], PAUSING), agent(B, [], PAUSING)] },
      "chain_unknown@0",
    ),
    refusedChain(
      "end to end, and the last has a delegate",
      "ChainUnknown",
      { requirements: PAUSES, links: [agent(A, [B], PAUSING), agent(B, [C], PAUSING)] },
      "chain_unknown@1",
    ),
    refusedChain(
      "context_reuse, which the second denies",
      ["Propagation", "SpecExample"],
      { requirements: REUSES, links: [agent(A, [B], REUSING), agent(B, [], REFUSING_REUSE)] },
      `${UNDECLARED}@1`,
    ),
    refusedChain(
      "context_reuse, of which the third says nothing",
      "Propagation",
      {
        requirements: REUSES,
        links: [agent(A, [B], REUSING), agent(B, [C], REUSING), agent(C, [])],
      },
      `${UNDECLARED}@2`,
    ),
    validChain("context_reuse, declared by all", ["Normal", "Propagation"], {
      requirements: REUSES,
      links: [agent(A, [B], REUSING), agent(B, [], REUSING)],
    }),
    validChain("context_reuse that is not required", "Propagation", {
      links: [agent(A, [B], REUSING), agent(B, [], REFUSING_REUSE)],
    }),
    refusedChain(
      "context_reuse, of an agent that says nothing of delegates",
      ["Propagation", "ChainUnknown"],
      { requirements: REUSES, links: [agent(A, null, REUSING)] },
      "chain_unknown@0",
    ),
    validChain("what the first relies on", ["Normal", "Reliance"], {
      links: [agent(A, [{ url: B, capabilities: ["pause_resume"] }]), agent(B, [], PAUSING)],
    }),
    validChain("what the first relies on, in camelCase", "Reliance", {
      links: [agent(A, [{ url: B, capabilities: ["pauseResume"] }]), agent(B, [], PAUSING)],
    }),
    refusedChain(
      "what the first relies on, which the second does not declare",
      "Reliance",
      { links: [agent(A, [{ url: B, capabilities: ["pause_resume"] }]), agent(B, [])] },
      `${UNDECLARED}@1`,
    ),
    refusedChain(
      "what the second relies on, which the third denies",
      "Reliance",
      {
        links: [
          agent(A, [B]),
          agent(B, [{ url: C, capabilities: ["multi_tenant"] }]),
          agent(C, [], { flags: { multi_tenant: false } }),
        ],
      },
      `${UNDECLARED}@2`,
    ),
    validChain("what the first relies on is not the second's matter with the third", "Reliance", {
      links: [
        agent(A, [{ url: B, capabilities: ["pause_resume"] }]),
        agent(B, [C], PAUSING),
        agent(C, []),
      ],
    }),
    refusedChain(
      "what the first relies on has a name that no registry and no vendor has",
      "Reliance",
      { links: [agent(A, [{ url: B, capabilities: ["telepathy"] }]), agent(B, [])] },
      `${UNDECLARED}@1`,
    ),
    validChain("what the first relies on in another delegate", "Reliance", {
      links: [agent(A, [B, { url: C, capabilities: ["pause_resume"] }]), agent(B, [])],
    }),
    refusedChain(
      "context_reuse on which the first relies, which the third lacks",
      ["Reliance", "Propagation"],
      {
        links: [
          agent(A, [{ url: B, capabilities: ["context_reuse"] }]),
          agent(B, [C], REUSING),
          agent(C, []),
        ],
      },
      `${UNDECLARED}@2`,
    ),
    refusedChain(
      "the second speaks another version",
      ["Chain", "VersionRange"],
      {
        links: [
          agent(A, [B]),
          agent(B, [], { interfaces: [speaking({ protocolVersion: "0.3" })] }),
        ],
      },
      "version_incompatible@1",
    ),
    validChain("a version that all speak, each beside others", ["Chain", "VersionRange"], {
      requirements: { protocolVersion: "1.1" },
      links: [
        agent(A, [B], { interfaces: [speaking({ protocolVersions: ["1.0", "1.1"] })] }),
        agent(B, [], { interfaces: [speaking({ protocolVersions: ["1.1", "1.2"] })] }),
      ],
    }),
    refusedChain(
      "each agent and the next speak one version, and all of them none",
      ["Chain", "VersionRange"],
      {
        requirements: { protocolVersion: "1.0" },
        links: [
          agent(A, [B], { interfaces: [speaking({ protocolVersions: ["1.0", "1.1"] })] }),
          agent(B, [C], { interfaces: [speaking({ protocolVersions: ["1.0", "1.1"] })] }),
          agent(C, [], { interfaces: [speaking({ protocolVersions: ["1.1", "1.2"] })] }),
        ],
      },
      "version_incompatible@2",
    ),
    refusedChain(
      "a deprecated capability at the last, which the caller refuses",
      ["Chain", "Deprecation"],
      {
        requirements: { endToEnd: ["artifact_streaming"], allowDeprecated: false },
        links: [agent(A, [], { flags: { artifact_streaming: true } })],
      },
      "capability_deprecated@0",
    ),
    validChain("a deprecated capability, end to end", ["Chain", "Deprecation"], {
      requirements: { endToEnd: ["artifact_streaming"] },
      links: [
        agent(A, [B], { flags: { artifact_streaming: true } }),
        agent(B, [], { flags: { artifact_streaming: true } }),
      ],
    }),
    refusedChain(
      "the last card is malformed",
      ["Chain", "MalformedCard"],
      { links: [agent(A, [B]), agent(B, [], { flags: { send_message: false } })] },
      "card_malformed@1",
    ),
    refusedChain(
      "several links fail",
      ["Chain", "AllReported"],
      {
        requirements: { ...PAUSES, capabilities: ["multi_tenant"] },
        links: [agent(A, [B], PAUSING), agent(B, [D], PAUSING), agent(C, [])],
      },
      ...([`${UNDECLARED}@0`, "chain_unknown@1", `${UNDECLARED}@2`] as const),
      "delegate_undeclared@2",
    ),
  ],
};
