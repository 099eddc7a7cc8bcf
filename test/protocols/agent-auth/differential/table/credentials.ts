import type { Section } from "./row.js";

export const CREDENTIALS: Section = {
  title: "JWTs",
  rows: [
    {
      what: "a Bearer token that is no JWT",
      reference: "as if there were none: 401 `unauthorized`",
      ours: "401 `invalid_jwt`",
      reason: "gap in the text",
      why: "what is sent as a credential is judged as one",
      places: [
        {
          step: /JWT of (two|four) parts/,
          path: "outcome",
          reference: /^(401 unauthorized|200)$/,
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "`GET /capability/list` and `describe` with a JWT that does not hold",
      reference: "as if there were none: the public view",
      ours: "401",
      reason: "our decision",
      why: "a caller whose credential fails must not take the public view for its own",
      places: [
        {
          endpoint: /capability\/(list|describe)/,
          path: "outcome",
          reference: "200",
          ours: /^401 /,
        },
      ],
    },
    {
      what: "`jti` of a Host JWT",
      reference: "needed and used once at registration, claim and host key rotation alone",
      ours: "needed and used once everywhere: 401 `invalid_jwt`, 401 `jti_replay`",
      reason: "bug of theirs",
      why: "a Host JWT that is overheard could be sent again",
      places: [
        { step: /JWT, no jti/, path: "outcome", reference: /^[24]/, ours: "401 invalid_jwt" },
        { step: /JWT, used before/, path: "outcome", ours: "401 jti_replay" },
      ],
    },
    {
      what: "a Host JWT whose `iss` is no registered host",
      reference: "401 `agent_not_found`, or `invalid_jwt` without `iss`",
      ours: "401 `host_not_found`",
      reason: "bug of theirs",
      why: "it is the host that is not found",
      places: [
        {
          path: "outcome",
          reference: /^401 (agent_not_found|invalid_jwt)$/,
          ours: "401 host_not_found",
        },
      ],
    },
    {
      what: "an `iss` at first contact that is not the thumbprint of `host_public_key`",
      reference: "accepted",
      ours: "401 `invalid_jwt`",
      reason: "bug of theirs",
      why: "the text has `iss` be the thumbprint",
      places: [
        {
          endpoint: /register|claim/,
          step: /iss|issuer/,
          path: "outcome",
          reference: /^(200|40[0-9] )/,
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "the host's thumbprint as `iss` of an Agent JWT",
      reference: "401 `invalid_jwt`: the host's id alone will do",
      ours: "accepted, as is the id",
      reason: "bug of theirs",
      why: "the text has `iss` be the thumbprint",
      places: [
        {
          step: /the host's thumbprint|old host's name/,
          path: "outcome",
          reference: "401 invalid_jwt",
          ours: "200",
        },
      ],
    },
    {
      what: "`htm`, `htu` and `ath` of a Host JWT",
      reference: "ignored",
      ours: "checked, as in an Agent JWT: 401 `request_binding_mismatch`",
      reason: "gap in the text",
      why: "a JWT that says what it is for is good for nothing else",
      places: [
        { step: /bound to another method/, path: "outcome", ours: "401 request_binding_mismatch" },
      ],
    },
    {
      what: "state of an agent",
      reference: "judged before the signature",
      ours: "judged after it: 401 `invalid_jwt`",
      reason: "bug of theirs",
      why: "without the key, one could ask which agents are revoked",
      places: [{ path: "outcome", reference: /^40[13] agent_/, ours: "401 invalid_jwt" }],
    },
    {
      what: "`capabilities` of an Agent JWT",
      reference: "a default is executed though the JWT does not name it, and anything in a batch",
      ours: "403 `capability_not_granted`",
      reason: "bug of theirs",
      why: "a narrowed JWT allows what it names",
      places: [
        {
          endpoint: /execute/,
          step: /not in the JWT's|JWT that names/,
          path: "outcome",
          ours: "403 capability_not_granted",
        },
        {
          endpoint: /batch-execute/,
          step: /narrowed|JWT that names/,
          path: "responses[].error.code",
          ours: '"capability_not_granted"',
        },
      ],
    },
    {
      what: "an Agent JWT for a capability's location, sent to this server",
      reference: "accepted where it names that capability alone",
      ours: "401 `invalid_jwt`; introspection takes it",
      reason: "our decision",
      why: "a JWT for one service is not for another",
      places: [
        {
          step: /location|aud a location/,
          path: "outcome",
          reference: "200",
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "host of an agent that is revoked",
      reference: "401 `agent_not_found`, or 403 `agent_revoked`",
      ours: "403 `host_revoked`",
      reason: "bug of theirs",
      why: "the text has the code",
      places: [
        { path: "outcome", reference: /^40[13] agent_/, ours: "403 host_revoked" },
        {
          step: /revoke host: register by its key/,
          path: "outcome",
          reference: "200",
          ours: "403 host_revoked",
        },
      ],
    },
    {
      what: "a call of an agent that has expired",
      reference: "reactivates it: 200",
      ours: "403 `agent_expired` until `POST /agent/reactivate`",
      reason: "our decision",
      why: "expiry is a checkpoint; the host renews the agent; its key alone does not",
      places: [{ step: /expired/, path: "outcome", reference: "200", ours: "403 agent_expired" }],
    },
    {
      what: "`POST /host/rotate-key` and `/agent/claim` without a JWT",
      reference: "401 `invalid_jwt`",
      ours: "401 `unauthorized`",
      reason: "gap in the text",
      why: "as on every other endpoint",
      places: [
        {
          endpoint: /host\/rotate-key|agent\/claim/,
          path: "outcome",
          reference: "401 invalid_jwt",
          ours: "401 unauthorized",
        },
      ],
    },
    {
      what: "a new key, at enrolment and key rotation",
      reference: "taken without a signature under it",
      ours: "400 `invalid_request` without `proof`, a JWT under the new key for this address",
      reason: "bug of theirs",
      why: "a party could give another's public key as its own, and the other would pass for that party",
      places: [
        {
          endpoint: /rotate-key/,
          step: /a key without a proof/,
          path: "outcome",
          reference: "200",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "the old key after `POST /host/rotate-key`",
      reference: "401 `agent_not_found`: the host's id has become the new thumbprint",
      ours: "401 `invalid_jwt`: the host keeps its id",
      reason: "our decision",
      why: "agents and records go on under the id that they know",
      places: [
        {
          step: /rotate-host-key: the old key/,
          path: "outcome",
          reference: "401 agent_not_found",
          ours: "401 invalid_jwt",
        },
      ],
    },
  ],
};
