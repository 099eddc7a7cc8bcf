import type { Section } from "./row.js";

const GRANT =
  /^agent_capability_grants\[\]\.(capability|status|description|input|output|granted_by)$/;
const GRANTS_OF_ONE_NAME = /request, (escalated|constrained)|^generated/;

export const GRANTS: Section = {
  title: "Grants",
  rows: [
    {
      what: "`token` and `token_expires_at` of an active grant",
      text: "nothing",
      reference: "absent",
      ours: "the grant as a capability, made anew for each answer",
      why: "another service can check it without asking us",
      places: [{ path: /\.token(_expires_at)?$/, reference: "–", ours: "string" }],
    },
    {
      what: "`expires_at` of a grant",
      text: "optional (3.3)",
      reference: "absent: grants do not expire",
      ours: "there",
      why: "each capability has an end",
      places: [{ path: "agent_capability_grants[].expires_at", reference: "–", ours: "string" }],
    },
    {
      what: "`location` of a granted capability",
      text: "a field of the capability (2.12)",
      reference: "absent",
      ours: "there",
      why: "that is where its token is taken",
      places: [{ path: "agent_capability_grants[].location", reference: "–" }],
    },
    {
      what: "what a pending grant has",
      text: "`capability` and `status` alone (5.3)",
      reference: "also `reason`: why the agent asked, or a sentence of theirs",
      ours: "`capability` and `status` alone",
      why: "as the text has it",
      places: [{ path: "agent_capability_grants[].reason", reference: "string", ours: "–" }],
    },
    {
      what: "`reason` of a denied grant",
      text: "why it was denied (3.3, 5.5)",
      reference: "why the agent asked",
      ours: "why it was denied",
      why: "as the text has it",
      places: [{ path: "agent_capability_grants[].reason", reference: "–", ours: "string" }],
    },
    {
      what: "a grant that was revoked or has expired",
      text: "a grant is `active`, `pending` or `denied` (3.3)",
      reference: "`revoked`; a call is 403 `grant_revoked`",
      ours: "`denied` with the reason; a call is 403 `capability_not_granted`",
      why: "as the text has it",
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
      what: "a denied grant once its capability, or its agent, is revoked",
      text: "nothing",
      reference: "is named among those revoked, and shown as revoked",
      ours: "stays denied, with the reason",
      why: "it was no authority, and the reason is what the agent needs",
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
      text: "all are revoked, and the host's defaults granted (5.6)",
      reference: "those beyond the defaults are gone",
      ours: "they are shown as denied, with the reason",
      why: "what was revoked stays on record",
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
      text: "`capability` and `status` alone (5.12); constraints must be enforced (4.5)",
      reference: "absent",
      ours: "there",
      why: "a service elsewhere could not enforce them otherwise",
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
      reference: "`active: true` where it names one capability of that location, and no other",
      ours: "`active: true` with the grants whose location is the JWT's `aud`",
      why: "without that a service at a location cannot work",
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
      why: "such a JWT is refused everywhere else",
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
      text: "callers should be authenticated, or rates limited aggressively (5.12)",
      reference: "anyone",
      ours: "anyone with a JWT whose signature holds, which is used up; addresses are limited",
      why: "without such a JWT, the answer is always the same",
      shown: "managing.test.ts",
    },
    {
      what: "`status` of an answer to `request-capability`",
      text: "absent (5.4); the client's tool has it (6.6)",
      reference: "there",
      ours: "there",
      why: "the published SDK waits for an approval only where it says `pending`",
      shown: "requests.test.ts",
    },
    {
      what: "several grants of one capability",
      text: "all grants are shown in a status, and those that were asked for in an answer (5.4, 5.5)",
      reference: "one of them is shown, the active one",
      ours: "all are shown; the answer to a request shows what was asked",
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
          path: /^agent_capability_grants\[\]\.(description|input|output|granted_by)$/,
          ours: "–",
        },
        // A second grant of a default, which ours has covered already.
        {
          endpoint: /introspect/,
          step: /^generated/,
          path: /^agent_capability_grants\[\]\.(capability|status)$/,
          ours: "–",
        },
      ],
    },
    {
      what: "a request that a pending one covers in part",
      text: "nothing",
      reference: "the pending request's approval, without its codes",
      ours: "an approval of its own",
      why: "the user decides about what is asked",
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
      what: "more than the defaults for an autonomous agent",
      text: "the server's policy or an administrator decides (2.2.2); a denied grant should have a reason (5.3)",
      reference: "left out, and the answer does not say so",
      ours: "denied, with the reason",
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
      text: "who granted it (3.3)",
      reference: "the host's user",
      ours: "absent",
      why: "it names the user who approved; no user approves a default",
      places: [{ path: "agent_capability_grants[].granted_by", reference: "string", ours: "–" }],
    },
    {
      what: "a capability twice in one request",
      text: "nothing",
      reference: "granted once, with the constraints of the last",
      ours: "400 `invalid_request`",
      why: "what is dropped may be the limit that was meant",
      places: [{ step: /a capability twice/, path: "outcome", ours: "400 invalid_request" }],
    },
    {
      what: "an unknown constraint operator, `eq` and `const` too",
      text: "must be 400 `unknown_constraint_operator` (2.13)",
      reference: "accepted; refused when the capability is executed, or never",
      ours: "400 `unknown_constraint_operator` with `unknown_operators` when it is asked for",
      why: "as the text has it",
      places: [{ path: "outcome", ours: "400 unknown_constraint_operator" }],
    },
    {
      what: "a constraint without an operator, with an operand of the wrong type, or that allows nothing",
      text: "`min` and `max` take numbers, `in` and `not_in` arrays (2.13)",
      reference: "accepted; a later request may end in 500",
      ours: "400 `invalid_request`",
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
      text: "an exact value, of any type (2.13)",
      reference: "400",
      ours: "accepted",
      why: "JSON has it",
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
      text: "409 `already_granted` if all that is asked for is granted (5.13)",
      reference: "a narrower one is not covered, one on other fields is",
      ours: "exact: covered if everything that it allows is allowed already",
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
  ],
};

export const EXECUTIONS: Section = {
  title: "Executions",
  rows: [
    {
      what: "answers at once, later and in a stream",
      text: "all three are possible (2.15, 5.11)",
      reference: "all three, as the application has it",
      ours: "at once: 200 `{data}`",
      why: "what takes longer is a task over A2A",
      shown: "executing.test.ts",
    },
    {
      what: "`denials` of a refused execution; `violations` and `location` in a batch",
      text: "errors may have more fields (5.13); it has no batch",
      reference: "absent",
      ours: "each reason with code, rule and what was expected",
      why: "the same reasons as everywhere else in proviso",
      places: [
        { path: /(^|\.)denials\[\]/, reference: "–" },
        { path: /error\.violations\[\]/, reference: "–" },
        { path: /error\.location$/, reference: "–" },
      ],
    },
    {
      what: "arguments that fail the input schema",
      text: "should be 400 `invalid_request` (5.2.1)",
      reference: "executed",
      ours: "400 `invalid_request`",
      why: "as the text has it: the schema is the promise on which callers and capability rest",
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
      text: "an active grant is a must (5.11)",
      reference: "the host's defaults are granted on the spot",
      ours: "403 `capability_not_granted`",
      why: "as the text has it",
      shown: "executing.test.ts",
    },
    {
      what: "execution of a capability that has a location",
      text: "at its location (2.12, 2.15)",
      reference: "executed here too",
      ours: "400 `invalid_request` with the location",
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
      text: "must be 403 `capability_not_granted` (2.12)",
      reference: "404 `capability_not_found`",
      ours: "403 `capability_not_granted`",
      why: "as the text has it",
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
      what: "an empty name of a capability",
      text: "400 `invalid_request` for a missing or malformed one (5.11)",
      reference: "404 `capability_not_found`",
      ours: "400 `invalid_request`",
      why: "as the text has it",
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
      what: "an argument that is missing where values are excluded by `not_in`",
      text: "nothing but that an exact value must be supplied (2.13)",
      reference: "allowed",
      ours: "403 `constraint_violated`",
      why: "every operator needs its argument, so that a default behind it cannot be one of them",
      places: [
        { endpoint: /execute/, path: "outcome", reference: "200", ours: "403 constraint_violated" },
        { endpoint: /execute/, path: /^violations\[\]/, reference: "–" },
      ],
    },
    {
      what: "`constraint` of a violation of an exact value",
      text: "the constraint; there is no `eq` (2.13, 5.11)",
      reference: '`{"eq": value}`',
      ours: "the value",
      why: "this is how the constraint was written",
      places: [{ path: "violations[].constraint", reference: /^\{"eq"/ }],
    },
  ],
};
