import type { Section } from "./row.js";

const GRANT =
  /^agent_capability_grants\[\]\.(capability|status|description|input|output|granted_by)$/;
const GRANTS_OF_ONE_NAME = /request, (escalated|constrained)|^generated/;

export const GRANTS: Section = {
  title: "Grants",
  rows: [
    {
      what: "`token` and `token_expires_at` of an active grant",
      text: "not defined",
      reference: "absent",
      ours: "the grant as a capability; each answer has a new token of this capability",
      why: "another service can check the grant without asking our server",
      places: [{ path: /\.token(_expires_at)?$/, reference: "–", ours: "string" }],
    },
    {
      what: "`expires_at` of a grant",
      text: "optional (3.3)",
      reference: "absent: grants do not expire",
      ours: "present",
      why: "each capability expires",
      places: [{ path: "agent_capability_grants[].expires_at", reference: "–", ours: "string" }],
    },
    {
      what: "`location` of a granted capability",
      text: "a field of the capability (2.12)",
      reference: "absent",
      ours: "present",
      why: "the token is accepted at that location",
      places: [{ path: "agent_capability_grants[].location", reference: "–" }],
    },
    {
      what: "properties of a pending grant",
      text: "only `capability` and `status` (5.3)",
      reference: "also `reason`: why the agent asked, or a fixed sentence",
      ours: "only `capability` and `status`",
      why: "as specified",
      places: [{ path: "agent_capability_grants[].reason", reference: "string", ours: "–" }],
    },
    {
      what: "`reason` of a denied grant",
      text: "why it was denied (3.3, 5.5)",
      reference: "why the agent asked",
      ours: "why it was denied",
      why: "as specified",
      places: [{ path: "agent_capability_grants[].reason", reference: "–", ours: "string" }],
    },
    {
      what: "a revoked or expired grant",
      text: "a grant is `active`, `pending` or `denied` (3.3)",
      reference: "the grant is `revoked`; a call gets 403 `grant_revoked`",
      ours: "the grant is `denied`, with the reason; a call gets 403 `capability_not_granted`",
      why: "as specified",
      places: [
        {
          path: "agent_capability_grants[].status",
          reference: '"revoked"',
          ours: '"denied"',
        },
        {
          endpoint: /capability\/execute/,
          path: "outcome",
          reference: "403 grant_revoked",
          ours: "403 capability_not_granted",
        },
        {
          endpoint: /batch-execute/,
          path: "responses[].error.code",
          reference: '"grant_revoked"',
          ours: '"capability_not_granted"',
        },
      ],
    },
    {
      what: "a denied grant whose capability or agent is revoked later",
      text: "does not say",
      reference: "lists the grant among the revoked grants, and shows it as revoked",
      ours: "keeps the grant denied, with the reason",
      why: "the grant never gave authority, and the agent needs the reason",
      places: [
        {
          endpoint: /revoke-capability/,
          path: /^(revoked|grant_ids)/,
          reference: /^(–|string|\[".*)$/,
        },
      ],
    },
    {
      what: "grants after reactivation",
      text: "all are revoked, and the host's defaults are granted (5.6)",
      reference: "removes grants beyond the defaults",
      ours: "shows the revoked grants as denied, with the reason",
      why: "revoked grants stay on record",
      places: [
        {
          step: /reactivated: status|^generated/,
          path: /^agent_capability_grants\[\]/,
          ours: '"denied"',
        },
        { step: /reactivated: status/, path: "agent_capability_grants[].capability" },
      ],
    },
    {
      what: "`constraints` in introspection",
      text: "only `capability` and `status` (5.12); but constraints must be enforced (4.5)",
      reference: "absent",
      ours: "present",
      why: "otherwise, a service at a location could not enforce the constraints",
      places: [
        {
          endpoint: /introspect/,
          path: "agent_capability_grants[].constraints",
          reference: "–",
          ours: /^\{/,
        },
      ],
    },
    {
      what: "introspection of a JWT for a location",
      text: "valid by 4.3, with all grants unless `capabilities` names some (5.12); invalid by 4.5, step 3",
      reference: "`active: true` if the JWT names exactly one capability of that location",
      ours: "`active: true` with the grants whose location is the JWT's `aud`",
      why: "otherwise, a service at a location could not use introspection",
      places: [
        {
          endpoint: /introspect/,
          step: /for a location|aud a location/,
          path: /^/,
        },
      ],
    },
    {
      what: "introspection of a JWT without `jti` or `aud`, with another host's `iss`, or for several servers",
      text: "`active: false` (4.5, 5.12)",
      reference: "`active: true`",
      ours: "`active: false`",
      why: "all other endpoints refuse such a JWT",
      places: [
        {
          endpoint: /introspect/,
          step: /(no|without) (jti|aud)|iss of|bound (to|with)|aud a list/,
          path: /^/,
        },
      ],
    },
    {
      what: "who may introspect",
      text: "callers should be authenticated, or their rate strictly limited (5.12)",
      reference: "any caller",
      ours: "any caller with a JWT with a valid signature, which is used up; 30 times a minute from one address unless configured",
      why: "callers without such a JWT always get the same answer; section 8.13 demands a rate limit for callers without credentials",
      shown: "managing.test.ts",
    },
    {
      what: "`status` of an answer to `request-capability`",
      text: "absent (5.4), but present in the client's tool (6.6)",
      reference: "present",
      ours: "present",
      why: "the published SDK waits for an approval only if `status` is `pending`",
      shown: "requests.test.ts",
    },
    {
      what: "several grants of one capability",
      text: "a status shows all grants, an answer those that were requested (5.4, 5.5)",
      reference: "shows only the active grant",
      ours: "a status shows all grants; the answer to a request shows the requested grant",
      why: "an agent that sends a request needs to know which grants wait for approval",
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
          path: /^agent_capability_grants\[\]\.(description|input|output|granted_by)$/,
          ours: "–",
        },
        // The reference grants a default capability a second time; our server treats it as already granted.
        {
          endpoint: /introspect/,
          step: /^generated/,
          path: /^agent_capability_grants\[\]\.(capability|status)$/,
          ours: "–",
        },
      ],
    },
    {
      what: "a request that a pending request covers in part",
      text: "does not say",
      reference: "returns the pending request's approval, without its codes",
      ours: "opens a separate approval",
      why: "the user decides exactly about the requested grants",
      places: [
        {
          endpoint: /request-capability/,
          step: GRANTS_OF_ONE_NAME,
          path: /^approval\.(user_code|verification_uri)/,
          reference: "–",
        },
      ],
    },
    {
      what: "an autonomous agent that requests more than the defaults",
      text: "the server's policy or an administrator decides (2.2.2); a denied grant should have a reason (5.3)",
      reference: "omits the other grants from the answer",
      ours: "denies the other grants, with the reason",
      why: "the agent must know which grants it did not get",
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
      text: "the user who granted it (3.3)",
      reference: "the host's user",
      ours: "absent",
      why: "`granted_by` names the user who approved, and no user approves a default",
      places: [{ path: "agent_capability_grants[].granted_by", reference: "string", ours: "–" }],
    },
    {
      what: "a capability that occurs twice in one request",
      text: "does not say",
      reference: "grants it once, with the constraints of the last entry",
      ours: "400 `invalid_request`",
      why: "the ignored entry could have the limit that the sender meant",
      places: [{ step: /a capability twice/, path: "outcome", ours: "400 invalid_request" }],
    },
    {
      what: "an unknown constraint operator, such as `eq` or `const`",
      text: "must be 400 `unknown_constraint_operator` (2.13)",
      reference: "accepts the constraint; at execution, refuses the call or ignores the constraint",
      ours: "400 `unknown_constraint_operator` with `unknown_operators`, at the request",
      why: "as specified",
      places: [{ path: "outcome", ours: "400 unknown_constraint_operator" }],
    },
    {
      what: "a constraint without an operator, with an operand of the wrong type, or that allows nothing",
      text: "`min` and `max` have numbers, `in` and `not_in` have arrays (2.13)",
      reference: "accepts the constraint; a later request may get 500",
      ours: "400 `invalid_request`",
      why: "a user who approves such a constraint cannot know its meaning",
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
      text: "exact values may have any type (2.13)",
      reference: "400",
      ours: "accepts it",
      why: "null is a JSON value",
      places: [
        {
          step: /constraint/,
          path: "outcome",
          reference: "400",
          ours: /^(200|409 already_granted)$/,
        },
      ],
    },
    {
      what: "whether an active grant covers a request",
      text: "409 `already_granted` if everything requested is granted (5.13)",
      reference:
        "a grant does not cover a narrower request, but covers a request that limits other fields",
      ours: "exact: a grant covers a request if every call that the request would allow is allowed already",
      why: 'a grant with `{amount: {max: 10}}` does not allow every call that `{currency: "USD"}` does',
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
  ],
};

export const EXECUTIONS: Section = {
  title: "Executions",
  rows: [
    {
      what: "answers to an execution: immediate, later, or as a stream",
      text: "all three are possible (2.15, 5.11)",
      reference: "all three kinds, as the application chooses",
      ours: "only immediate: 200 `{data}`. Our client also accepts `completed`; for a later answer it reports that it does not wait",
      why: "longer work is a task over A2A, so executions need neither polling nor streams",
      shown: "client.test.ts",
    },
    {
      what: "`denials` of a refused execution; `violations` and `location` in a batch",
      text: "errors may have more fields (5.13); batches are not defined",
      reference: "absent",
      ours: "each reason with code, rule and expected value",
      why: "as in every refusal of proviso",
      places: [
        { path: /(^|\.)denials\[\]/, reference: "–" },
        { path: /error\.violations\[\]/, reference: "–" },
        { path: /error\.location$/, reference: "–" },
      ],
    },
    {
      what: "arguments that do not match the input schema",
      text: "should be 400 `invalid_request` (5.2.1)",
      reference: "executes the call",
      ours: "400 `invalid_request`",
      why: "as specified: callers and capabilities rely on the schema",
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
      what: "an execution without an active grant",
      text: "requires an active grant (5.11)",
      reference: "grants the host's defaults at the call",
      ours: "403 `capability_not_granted`",
      why: "as specified",
      shown: "registration.test.ts",
    },
    {
      what: "execution of a capability that has a location",
      text: "at its location (2.12, 2.15)",
      reference: "executes the capability at this server too",
      ours: "400 `invalid_request`, naming the location",
      why: "the service at the location executes it, and checks the token",
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
      what: "execution of a capability that is no longer offered",
      text: "must be 403 `capability_not_granted` (2.12)",
      reference: "404 `capability_not_found`",
      ours: "403 `capability_not_granted`",
      why: "as specified",
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
      what: "an empty capability name",
      text: "400 `invalid_request` if the name is missing or malformed (5.11)",
      reference: "404 `capability_not_found`",
      ours: "400 `invalid_request`",
      why: "as specified",
      places: [
        {
          endpoint: /capability\/execute/,
          step: /empty text|odd text|a text/,
          path: "outcome",
          reference: "404 capability_not_found",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "a grant of a capability that is no longer offered, in status and introspection",
      text: "such grants become inoperative (2.12)",
      reference: "shows the grant as active",
      ours: "shows the grant as denied, and omits it from introspection, until the capability is offered again",
      why: "as specified: otherwise, a service that relies on introspection would still allow calls",
      places: [
        {
          endpoint: /status/,
          path: "agent_capability_grants[].status",
          reference: '"active"',
          ours: '"denied"',
          step: /removed/,
        },
        {
          endpoint: /introspect/,
          path: /^agent_capability_grants\[\]\.(capability|status)$/,
          ours: "–",
          step: /removed/,
        },
      ],
    },
    {
      what: "a missing argument that is limited by `not_in`",
      text: "does not say; for an exact value, the argument must be supplied (2.13)",
      reference: "allows the call",
      ours: "403 `constraint_violated`",
      why: "every operator requires its argument, because the default value of a missing argument could be an excluded value",
      places: [
        { endpoint: /execute/, path: "outcome", reference: "200", ours: "403 constraint_violated" },
        { endpoint: /execute/, path: /^violations\[\]/, reference: "–" },
      ],
    },
    {
      what: "`constraint` in a violation of an exact value",
      text: "the constraint; there is no `eq` (2.13, 5.11)",
      reference: '`{"eq": value}`',
      ours: "the value",
      why: "the value is the constraint as it was written",
      places: [{ path: "violations[].constraint", reference: /^\{"eq"/ }],
    },
  ],
};
