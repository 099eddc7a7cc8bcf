import type { Section } from "./row.js";

const GRANT =
  /^agent_capability_grants\[\]\.(capability|status|description|input|output|granted_by)$/;
const GRANTS_OF_ONE_NAME = /request, (escalated|constrained)|^generated/;

export const GRANTS: Section = {
  title: "Grants",
  rows: [
    {
      what: "`token` and `token_expires_at` of an active grant",
      reference: "absent",
      ours: "the grant as a capability, made anew for each answer",
      reason: "our decision",
      why: "another service can check it without asking us",
      places: [{ path: /\.token(_expires_at)?$/, reference: "–", ours: "string" }],
    },
    {
      what: "`expires_at` of a grant",
      reference: "absent: grants do not expire",
      ours: "there",
      reason: "our decision",
      why: "each capability has an end",
      places: [{ path: "agent_capability_grants[].expires_at", reference: "–", ours: "string" }],
    },
    {
      what: "`location` of a granted capability",
      reference: "absent",
      ours: "there",
      reason: "our decision",
      why: "that is where its token is taken",
      places: [{ path: "agent_capability_grants[].location", reference: "–" }],
    },
    {
      what: "`constraints` of a grant that is not active, and in introspection",
      reference: "absent",
      ours: "there",
      reason: "our decision",
      why: "the asker sees what it has asked for; a service that introspects can enforce them",
      places: [{ path: "agent_capability_grants[].constraints", reference: "–", ours: /^\{/ }],
    },
    {
      what: "several grants of one capability",
      reference: "one of them is shown, the active one",
      ours: "all are shown; the answer to a request shows what was asked",
      reason: "bug of theirs",
      why: "what waits for approval is what the asker wants to know about",
      places: [
        { step: GRANTS_OF_ONE_NAME, path: GRANT, reference: "–" },
        { step: GRANTS_OF_ONE_NAME, path: "agent_capability_grants[].constraints" },
        {
          endpoint: /request-capability/,
          step: GRANTS_OF_ONE_NAME,
          path: "agent_capability_grants[].status",
          reference: '"active"',
          ours: '"pending"',
        },
        {
          endpoint: /request-capability/,
          step: GRANTS_OF_ONE_NAME,
          path: /^agent_capability_grants\[\]\.(description|input|output)$/,
          ours: "–",
        },
      ],
    },
    {
      what: "a request that a pending one covers in part",
      reference: "the pending request's approval, without its codes",
      ours: "an approval of its own",
      reason: "bug of theirs",
      why: "the user decides about what is asked",
      places: [
        {
          endpoint: /request-capability/,
          step: GRANTS_OF_ONE_NAME,
          path: /^approval\.(device_code|user_code)/,
          reference: "–",
        },
      ],
    },
    {
      what: "more than the defaults for an autonomous agent",
      reference: "left out, and the answer does not say so",
      ours: "denied, with the reason",
      reason: "bug of theirs",
      why: "the agent must know what it did not get",
      places: [
        { step: /register, autonomous/, path: "agent_capability_grants" },
        { step: /register, autonomous/, path: /^agent_capability_grants\[\]\./, reference: "–" },
        {
          endpoint: /register/,
          step: /^generated/,
          path: "outcome",
          reference: "400 unsupported_mode",
          ours: /^400 /,
        },
      ],
    },
    {
      what: "`granted_by` of a default",
      reference: "the host's user",
      ours: "absent",
      reason: "our decision",
      why: "it names the user who approved; no user approves a default",
      places: [{ path: "agent_capability_grants[].granted_by", reference: "string", ours: "–" }],
    },
    {
      what: "`reason` of a pending grant",
      reference: "why the agent asked, or a sentence of theirs",
      ours: "why the agent asked; absent where it did not say",
      reason: "gap in the text",
      why: "words of the server's own would pass for the agent's",
      places: [{ path: "agent_capability_grants[].reason", reference: "string", ours: "–" }],
    },
    {
      what: "a capability twice in one request",
      reference: "granted once, with the constraints of the last",
      ours: "400 `invalid_request`",
      reason: "bug of theirs",
      why: "what is dropped may be the limit that was meant",
      places: [{ step: /a capability twice/, path: "outcome", ours: "400 invalid_request" }],
    },
    {
      what: "`reason` of a denied grant",
      reference: "why the agent asked",
      ours: "why it was denied",
      reason: "gap in the text",
      why: "the agent knows why it asked",
      places: [{ path: "agent_capability_grants[].reason", reference: "–", ours: "string" }],
    },
    {
      what: "unknown constraint operator, `eq` and `const` too",
      reference: "accepted; refused when the capability is executed, or never",
      ours: "400 `unknown_constraint_operator` with `unknown_operators` when it is asked for",
      reason: "bug of theirs",
      why: "the text has it so, and knows `min`, `max`, `in`, `not_in`",
      places: [{ path: "outcome", ours: "400 unknown_constraint_operator" }],
    },
    {
      what: "constraint without an operator, with an operand of the wrong type, or that allows nothing",
      reference: "accepted; a later request may end in 500",
      ours: "400 `invalid_request`",
      reason: "bug of theirs",
      why: "a user who approves it cannot know what it means",
      places: [
        {
          endpoint: /register|request-capability/,
          step: /constraint/,
          path: "outcome",
          reference: /^(200|409 already_granted|500)$/,
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "null as an exact value",
      reference: "400",
      ours: "accepted",
      reason: "gap in the text",
      why: "JSON has it",
      places: [{ step: /constraint/, path: "outcome", reference: "400", ours: "200" }],
    },
    {
      what: "whether an active grant covers a request",
      reference: "a narrower one is not covered, one on other fields is",
      ours: "exact: covered if everything that it allows is allowed already",
      reason: "bug of theirs",
      why: '`{amount: {max: 10}}` does not allow whatever `{currency: "USD"}` does',
      places: [
        {
          endpoint: /request-capability/,
          path: "outcome",
          reference: "200",
          ours: "409 already_granted",
        },
        {
          endpoint: /request-capability/,
          path: "outcome",
          reference: "409 already_granted",
          ours: "200",
        },
      ],
    },
    {
      what: "grants after reactivation",
      reference: "those beyond the defaults are gone",
      ours: "they are shown as revoked: 403 `grant_revoked`",
      reason: "our decision",
      why: "what was revoked stays on record",
      places: [
        {
          step: /reactivated: status|^generated/,
          path: /^agent_capability_grants\[\]/,
          ours: '"revoked"',
        },
        { step: /reactivated: status/, path: "agent_capability_grants[].capability" },
        {
          endpoint: /capability\/execute/,
          path: "outcome",
          reference: "403 capability_not_granted",
          ours: "403 grant_revoked",
        },
      ],
    },
    {
      what: "introspection of a JWT without `jti` or `aud`, with another host's `iss`, or bound to a request",
      reference: "`active: true`",
      ours: "`active: false`",
      reason: "bug of theirs",
      why: "such a JWT is refused everywhere else",
      places: [
        {
          endpoint: /introspect/,
          step: /(no|without) (jti|aud)|iss of|bound to/,
          path: /^/,
        },
      ],
    },
  ],
};

export const EXECUTIONS: Section = {
  title: "Executions",
  rows: [
    {
      what: "`denials` of a refused execution; `violations` and `location` in a batch",
      reference: "absent",
      ours: "each reason with code, rule and what was expected",
      reason: "our decision",
      why: "the same reasons as everywhere else in proviso",
      places: [
        { path: /(^|\.)denials\[\]/, reference: "–" },
        { path: /error\.violations\[\]/, reference: "–" },
        { path: /error\.location$/, reference: "–" },
      ],
    },
    {
      what: "arguments that fail the input schema",
      reference: "executed",
      ours: "400 `invalid_request`",
      reason: "bug of theirs",
      why: "the schema is the promise on which callers and capability rest",
      places: [
        {
          endpoint: /capability\/execute/,
          path: "outcome",
          reference: /^(200|403 capability_not_granted|403 grant_revoked)$/,
          ours: "400 invalid_request",
        },
        {
          endpoint: /batch-execute/,
          path: "responses[].status",
          reference: '"completed"',
          ours: '"failed"',
        },
        { endpoint: /batch-execute/, path: /^responses\[\]\.data/, ours: "–" },
        { path: "responses[].error.code", ours: '"invalid_request"' },
        { path: "responses[].error.message", reference: "–" },
      ],
    },
    {
      what: "execution of a capability that has a location",
      reference: "executed here too",
      ours: "400 `invalid_request` with the location",
      reason: "our decision",
      why: "its service executes it, and checks the token",
      places: [
        {
          endpoint: /capability\/execute/,
          step: /location|execute the one/,
          path: "outcome",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "a capability that is offered no more",
      reference: "404 `capability_not_found`",
      ours: "403 `capability_not_granted`",
      reason: "bug of theirs",
      why: "the text has it so",
      places: [
        {
          endpoint: /execute/,
          path: "outcome",
          reference: "404 capability_not_found",
          ours: "403 capability_not_granted",
        },
      ],
    },
    {
      what: "an argument that is missing where values are excluded by `not_in`",
      reference: "allowed",
      ours: "403 `constraint_violated`",
      reason: "gap in the text",
      why: "every operator needs its argument, so that a default behind it cannot be one of them",
      places: [
        { endpoint: /execute/, path: "outcome", reference: "200", ours: "403 constraint_violated" },
        { endpoint: /execute/, path: /^violations\[\]/, reference: "–" },
      ],
    },
    {
      what: "`constraint` of a violation of an exact value",
      reference: '`{"eq": value}`',
      ours: "the value",
      reason: "gap in the text",
      why: "the text has no `eq`; this is how the constraint was written",
      places: [{ path: "violations[].constraint", reference: /^\{"eq"/ }],
    },
  ],
};
