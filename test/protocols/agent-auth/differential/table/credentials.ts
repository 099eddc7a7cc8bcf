import type { Section } from "./row.js";

export const CREDENTIALS: Section = {
  title: "JWTs",
  rows: [
    {
      what: "no credentials",
      text: "401 `authentication_required` at `/capability/list`; for other endpoints it has no code",
      reference:
        "401 `unauthorized`, or `invalid_jwt` at registration, claim and host key rotation",
      ours: "401 `authentication_required` on every endpoint",
      why: "one code for one thing: `unauthorized` is 403 in the text, for a party that may not",
      places: [
        {
          step: /no credential|Basic credential|without a credential/,
          path: "outcome",
          reference: /^401 (unauthorized|invalid_jwt)$/,
          ours: "401 authentication_required",
        },
      ],
    },
    {
      what: "a Bearer token that is no JWT",
      text: "401 `invalid_jwt` (5.13)",
      reference: "as if there were none: 401 `unauthorized`",
      ours: "401 `invalid_jwt`",
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
      what: "a Host JWT on an endpoint for agents, or an Agent JWT on one for hosts",
      text: "must be refused for its `typ` (4.2, 4.3, 4.5.1)",
      reference: "401 `unauthorized`",
      ours: "401 `invalid_jwt`",
      why: "`unauthorized` is 403 in the text, for a party that may not",
      places: [
        {
          step: /a host$|by the agent|by an agent|typ of the other kind/,
          path: "outcome",
          reference: /^(401 unauthorized|200)$/,
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "an Agent JWT at `/agent/status` and `/agent/revoke`",
      text: "Host JWTs alone (5.5, 5.7); an agent revokes itself through its host (2.6)",
      reference: "taken",
      ours: "taken, for the agent itself alone",
      why: "an agent gets new tokens and ends itself where its host's key is not",
      shown: "managing.test.ts",
    },
    {
      what: "an Agent JWT at `/agent/rotate-key`",
      text: "Host JWTs alone (5.8)",
      reference: "400 without `agent_id`, though the published SDK sends none",
      ours: "gives the agent itself another key",
      why: "the published SDK rotates so; the host can still rotate back or revoke",
      places: [
        {
          endpoint: /rotate-key/,
          step: /by the agent/,
          path: "outcome",
          reference: /^4/,
          ours: "200",
        },
      ],
    },
    {
      what: "an Agent JWT with the `agent_id` of another agent",
      text: "403 `unauthorized` for a party that may not (5.13)",
      reference: "at `/agent/status`, `agent_id` is passed over",
      ours: "403 `unauthorized`, or 404 `agent_not_found`",
      why: "the answer must be about the agent that was asked about",
      places: [
        {
          endpoint: /status/,
          path: "outcome",
          reference: "200",
          ours: /^(403 unauthorized|404 agent_not_found|400 invalid_request)$/,
        },
      ],
    },
    {
      what: "a request about an agent without `agent_id`",
      text: "it is required (5.5 to 5.8)",
      reference: "400; an agent's own JWT will do for it at `/agent/status`",
      ours: "400 `invalid_request`; an agent's own JWT will do for it everywhere",
      why: "the JWT says which agent it is",
      shown: "managing.test.ts",
    },
    {
      what: "`/capability/list` and `describe` with a JWT that does not hold",
      text: "401 `invalid_jwt` on every endpoint (5.13); a server that lists without credentials must not answer requests without them with 401 (5.2)",
      reference: "as if there were none: the public view",
      ours: "401 `invalid_jwt`",
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
      what: "`/capability/list` and `describe` with the JWT of an agent or host that is pending, or of an agent that is rejected or revoked",
      text: "403 with the code of its state (2.3, 4.5, 4.5.1, 5.13)",
      reference: "the public view",
      ours: "403 with the code of its state",
      why: "as the text has it",
      places: [
        {
          endpoint: /capability\/(list|describe)/,
          path: "outcome",
          reference: "200",
          ours: /^403 (agent|host)_/,
        },
      ],
    },
    {
      what: "`iss` of a Host JWT",
      text: "the thumbprint of the key that signs; must equal it at first contact (4.2)",
      reference:
        "the host's id, or the `kid` of its key, not everywhere; not compared at first contact",
      ours: "the thumbprint alone: 401 `invalid_jwt`",
      why: "as the text has it",
      places: [
        { step: /the host's id/, path: "outcome", ours: "401 invalid_jwt" },
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
      what: "`iss` of an Agent JWT",
      text: "the thumbprint of its host's key; required (4.3)",
      reference: "the host's id alone, or none",
      ours: "the thumbprint, the host's id, or none",
      why: "the published SDK sends none, and the reference's own clients the id; `sub` finds the agent",
      places: [
        {
          step: /the host's thumbprint|iss the thumbprint|old host's name/,
          path: "outcome",
          reference: "401 invalid_jwt",
        },
        { endpoint: /list|describe/, step: /iss the thumbprint/, path: /grant_status$/ },
      ],
    },
    {
      what: "`iss` of our client's Agent JWTs",
      text: "the thumbprint of the host's key (4.3)",
      reference: "its SDK sends none",
      ours: "the host's id, as the server gave it",
      why: "the reference takes that alone; our server takes both",
      shown: "client.test.ts",
    },
    {
      what: "a JWT of a host or an agent that is not registered",
      text: "401 `invalid_jwt` (5.13); 404 `host_not_found` at `/host/revoke`",
      reference: "401 `agent_not_found`",
      ours: "401 `invalid_jwt`; 404 `host_not_found` at `/host/revoke` and `/host/rotate-key`",
      why: "as the text has it",
      places: [
        {
          path: "outcome",
          reference: /^401 (agent_not_found|invalid_jwt)$/,
          ours: /^(401 invalid_jwt|404 host_not_found)$/,
        },
      ],
    },
    {
      what: "`host_public_key`",
      text: "required in every Host JWT, unless `host_jwks_url` is there (4.2)",
      reference: "needed at first contact alone",
      ours: "required: 401 `invalid_jwt`",
      why: "so the signature is verified before anything is looked up",
      places: [
        {
          step: /without its host's key/,
          path: "outcome",
          reference: /^/,
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "`host_jwks_url` and `agent_jwks_url`",
      text: "a second way to give keys (4.1); a server that fetches them filters addresses and bounds answers (8.12); the way is fixed at registration (8.7)",
      reference: "fetched, filtered by host name alone; a host may change the way",
      ours: "401 `invalid_jwt`, or 400 `invalid_public_key` for an agent's",
      why: "the server fetches nothing that a caller names; the published SDK uses keys in the JWT alone",
      places: [
        {
          step: /address of its host's keys|address of the agent's keys/,
          path: "outcome",
          ours: /^(401 invalid_jwt|400 invalid_public_key)$/,
        },
      ],
    },
    {
      what: "`exp`",
      text: "required (4.2, 4.3)",
      reference: "not required",
      ours: "required: 401 `invalid_jwt`",
      why: "as the text has it",
      places: [
        { step: /JWT, no exp/, path: "outcome", ours: "401 invalid_jwt" },
        { endpoint: /introspect/, step: /JWT, no exp/, path: /^/ },
      ],
    },
    {
      what: "clocks that differ",
      text: "up to 30 seconds should be allowed for `exp` and `iat`, and no more for `iat` (8.2)",
      reference: "none",
      ours: "30 seconds for `exp`, `iat` and `nbf`",
      why: "as the text has it",
      places: [
        {
          step: /expired a moment ago|a clock that is ahead/,
          path: /^/,
          reference: /^/,
        },
      ],
    },
    {
      what: "lifetime of a JWT",
      text: "should end within 60 seconds (4.3, 8.2); no longest lifetime must be refused",
      reference: "60 seconds after `iat`, whatever `exp` says",
      ours: "the same, and 30 seconds for clocks that differ",
      why: "a used `jti` is remembered for as long as its JWT would be taken",
      shown: "jwt.test.ts",
    },
    {
      what: "the header `alg`",
      text: "`EdDSA`; `Ed25519` is the name of the key type, as discovery says it (4.1, 5.1)",
      reference: "`EdDSA` alone",
      ours: "`EdDSA` and `Ed25519`",
      why: "RFC 9864 names the same algorithm by its curve, and discovery advertises that name",
      places: [{ step: /alg by its curve/, path: /^/, reference: /^/ }],
    },
    {
      what: "`aud`",
      text: "exactly the issuer; at execution the capability's location or `default_location` (4.3, 8.18), though 4.5 says the issuer there too",
      reference:
        "the issuer, the address of executions and its own `Host` header, on every endpoint",
      ours: "exactly the issuer; where it executes, also the address of executions",
      why: "a JWT for one thing is good for nothing else; execution takes what either reading of the text sends",
      places: [
        {
          step: /aud the execute endpoint|aud the origin|aud with a slash/,
          path: /^/,
          reference: /^/,
        },
      ],
    },
    {
      what: "`aud` as an array",
      text: "a string (4.2, 4.3); a JWT must not be used at several servers (8.18)",
      reference: "any of them will do",
      ours: "an array of one stands for it; more are refused",
      why: "the first server could send it on to the others",
      places: [{ step: /aud a list(?! of one)/, path: /^/, reference: /^/ }],
    },
    {
      what: "an Agent JWT for a capability's location, sent to this server",
      text: "must be refused (4.3)",
      reference: "accepted where it names that capability alone",
      ours: "401 `invalid_jwt`; introspection takes it",
      why: "a JWT for one service is not for another",
      places: [
        {
          step: /location|aud a location|another service/,
          path: "outcome",
          reference: /^(200|403)/,
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "`jti` of a Host JWT",
      text: "required, and good once (4.6, 8.4)",
      reference: "needed and used once at registration, claim and host key rotation alone",
      ours: "needed and used once everywhere: 401 `invalid_jwt`, 401 `jti_replay`",
      why: "a Host JWT that is overheard could be sent again",
      places: [
        { step: /JWT, no jti/, path: "outcome", reference: /^[24]/, ours: "401 invalid_jwt" },
        { step: /JWT, used before/, path: "outcome", ours: "401 jti_replay" },
      ],
    },
    {
      what: "requests at once with one JWT",
      text: "an agent may send them (2.2); a `jti` that was seen must be refused (4.6)",
      reference: "refused",
      ours: "refused: 401 `jti_replay`",
      why: "the text says both; what was overheard must not work again",
      shown: "jwt.test.ts",
    },
    {
      what: "`htm`, `htu` and `ath` in a JWT",
      text: "nothing: proof of possession has a header of its own (4.4)",
      reference: "checked in Agent JWTs, ignored in Host JWTs; `htu` letter by letter",
      ours: "checked in both; `htu` without query and fragment, and normalized, as RFC 9449 compares it",
      why: "a JWT that says what it is for is good for nothing else, however its address is spelt; our client so binds the JWT of a registration, which clients should bind at a server that they have discovered (8.9)",
      places: [
        { step: /JWT bound to another/, path: "outcome", ours: "401 request_binding_mismatch" },
        {
          step: /JWT bound with a query/,
          path: "outcome",
        },
      ],
    },
    {
      what: "DPoP and mTLS",
      text: "may be required, and should be supported for what is sensitive (4.4, 8.3, 8.14)",
      reference: "neither",
      ours: "neither: `cnf` is not looked at",
      why: "each JWT is signed by the party's own key for one request, and works once",
      shown: "jwt.test.ts",
    },
    {
      what: "state of an agent",
      text: "judged before the signature (4.5, steps 6 and 7)",
      reference: "judged before the signature",
      ours: "judged after it: 401 `invalid_jwt`",
      why: "our decision: without the key, one could ask which agents are revoked",
      places: [{ path: "outcome", reference: /^40[13] agent_/, ours: "401 invalid_jwt" }],
    },
    {
      what: "`capabilities` of an Agent JWT",
      text: "what is outside must be refused, so an empty array allows nothing (4.3)",
      reference:
        "a default is executed though the JWT does not name it, and anything in a batch; such a JWT manages the agent; an empty array names all in introspection",
      ours: "403 `capability_not_granted`; 403 `unauthorized` where it would manage the agent; none of them in introspection",
      why: "a narrowed JWT executes what it names, and manages nothing: no rotation, request, revocation or claim",
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
        {
          endpoint: /request-capability|rotate-key|revoke|claim/,
          step: /narrowed|JWT that names/,
          path: "outcome",
          ours: "403 unauthorized",
        },
        { endpoint: /introspect/, step: /names no capability/, path: /^agent_capability_grants/ },
      ],
    },
    {
      what: "an agent of a revoked host",
      text: "403 `host_revoked` (5.13)",
      reference: "401 `agent_not_found`, or 403 `agent_revoked`; its key may register again",
      ours: "403 `host_revoked`",
      why: "as the text has it",
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
      text: "403 `agent_expired` (2.3, 4.5, 5.13)",
      reference: "reactivates it: 200",
      ours: "403 `agent_expired` until `POST /agent/reactivate`",
      why: "as the text has it: the host renews the agent; its key alone does not",
      places: [{ step: /expired: /, path: "outcome", reference: "200", ours: "403 agent_expired" }],
    },
  ],
};
