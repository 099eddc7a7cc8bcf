import type { Section } from "./row.js";

export const REGISTRY: Section = {
  title: "Hosts, agents and approvals",
  rows: [
    {
      what: "`approval.verification_uri`",
      reference: "`/device/capabilities?agent_id=…&code=…` of the application",
      ours: "the approvals console, with the user code alone",
      reason: "our decision",
      why: "where the user approves is each server's own",
      places: [{ path: /^approval\.verification_uri/ }],
    },
    {
      what: "a public key of the wrong length",
      reference: "accepted; nothing can ever be signed with it",
      ours: "400 `invalid_public_key`",
      reason: "bug of theirs",
      why: "it is no key",
      places: [
        {
          step: /key/,
          path: "outcome",
          reference: /^(200|400|401 )/,
          ours: "400 invalid_public_key",
        },
      ],
    },
    {
      what: "an `agent_id` that is empty, in a query",
      reference: "400, as if it were not there",
      ours: "404 `agent_not_found`",
      reason: "gap in the text",
      why: "there is no such agent",
      places: [
        {
          endpoint: /agent\/status/,
          step: /empty/,
          path: "outcome",
          reference: "400 invalid_request",
          ours: "404 agent_not_found",
        },
      ],
    },
    {
      what: "a claim by another host than the agent's",
      reference: "opens an approval, and shows the agent with its grants",
      ours: "403 `unauthorized`; a JWT of the agent or of its host claims",
      reason: "bug of theirs",
      why: "any user who knows an agent's id could end it, and link its host to himself",
      places: [
        {
          endpoint: /agent\/claim/,
          path: "outcome",
          reference: /^(200|400 unsupported_mode|409 agent_claimed)/,
          ours: "403 unauthorized",
        },
      ],
    },
    {
      what: "an agent that is claimed already",
      reference: "409 `agent_claimed` for a claim, 403 otherwise",
      ours: "403 `agent_claimed`",
      reason: "our decision",
      why: "each code has one status",
      places: [{ path: "outcome", reference: "409 agent_claimed", ours: "403 agent_claimed" }],
    },
    {
      what: "markup in a name",
      reference: "taken out",
      ours: "kept, and shown as the text that it is",
      reason: "our decision",
      why: "a page escapes what it shows; a name that the server changes is another name",
      places: [{ endpoint: /register/, path: "name" }],
    },
    {
      what: "`user_id` of an agent of a linked host that waits for its first approval",
      reference: "the host's user",
      ours: "null",
      reason: "our decision",
      why: "the agent acts for the user once the user has approved it",
      places: [{ path: "user_id", reference: "string", ours: "null" }],
    },
    {
      what: "a rejected or claimed agent's grants",
      reference: "those granted at once stay active",
      ours: "revoked",
      reason: "bug of theirs",
      why: "the agent is at an end",
      places: [{ step: /denied: status|claimed: status/, path: /^agent_capability_grants/ }],
    },
    {
      what: "status of an autonomous agent that a user may claim",
      reference: "pending, though it can go on working",
      ours: "active",
      reason: "gap in the text",
      why: "it is active until it is claimed",
      places: [{ step: /claim: status while/, path: "status" }],
    },
    {
      what: "`GET /agent/session`",
      reference: "the session of their framework",
      ours: "404",
      reason: "gap in the text",
      why: "the text has introspection",
      places: [{ step: /status: session/, path: "outcome", reference: "200", ours: "404" }],
    },
    {
      what: "another operation on an agent that is not active",
      reference: "403 `agent_pending` for `rotate-key`, whatever its state",
      ours: "403 with the code of its state",
      reason: "bug of theirs",
      why: "the text has the codes",
      places: [
        {
          endpoint: /rotate-key/,
          path: "outcome",
          reference: "403 agent_pending",
          ours: /^403 agent_/,
        },
      ],
    },
  ],
};
