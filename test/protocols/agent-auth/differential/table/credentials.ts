import type { Section } from "./row.js";

export const CREDENTIALS: Section = {
  title: "JWTs",
  rows: [
    {
      what: "no credentials",
      text: "401 `authentication_required` at `/capability/list`; defines no code for other endpoints",
      reference:
        "401 `unauthorized`, or `invalid_jwt` at registration, claim and host key rotation",
      ours: "401 `authentication_required` on every endpoint",
      why: "one code for one meaning: `unauthorized` is a 403 in the specification, for a known party that lacks permission",
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
      what: "a Bearer token that is not a JWT",
      text: "401 `invalid_jwt` (5.13)",
      reference: "401 `unauthorized`, as for a request without a token",
      ours: "401 `invalid_jwt`",
      why: "our server judges a string that is sent as a credential as a JWT",
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
      what: "a Host JWT on an endpoint for agents, or an Agent JWT on an endpoint for hosts",
      text: "must be refused for its `typ` (4.2, 4.3, 4.5.1)",
      reference: "401 `unauthorized`",
      ours: "401 `invalid_jwt`",
      why: "`unauthorized` is a 403 in the specification, for a known party that lacks permission",
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
      text: "only Host JWTs (5.5, 5.7); an agent is revoked by its host (2.6)",
      reference: "accepts it",
      ours: "accepts it, but only for the agent itself",
      why: "an agent without access to its host's key can get new tokens, and can end its registration",
      shown: "managing.test.ts",
    },
    {
      what: "an Agent JWT at `/agent/rotate-key`",
      text: "only Host JWTs (5.8)",
      reference: "400 without `agent_id`, although the published SDK sends no `agent_id`",
      ours: "replaces the agent's own key",
      why: "the published SDK rotates keys in this way; the host can still rotate the key again, or revoke the agent",
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
      text: "403 `unauthorized` for a party without permission (5.13)",
      reference: "`/agent/status` ignores `agent_id`",
      ours: "403 `unauthorized`, or 404 `agent_not_found`",
      why: "the answer must be about the agent that the request names",
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
      what: "a request about an agent, without `agent_id`",
      text: "the property is required (5.5 to 5.8)",
      reference: "400; at `/agent/status`, an agent's own JWT is enough",
      ours: "400 `invalid_request`; an agent's own JWT is enough on every endpoint",
      why: "an agent's JWT names the agent",
      shown: "managing.test.ts",
    },
    {
      what: "`/capability/list` and `describe` with an invalid JWT",
      text: "401 `invalid_jwt` on every endpoint (5.13); a server that lists without credentials must not answer requests without them with 401 (5.2)",
      reference: "the public view, as for a request without a JWT",
      ours: "401 `invalid_jwt`",
      why: "a caller with an invalid credential must not mistake the public view for the view of its own account",
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
      why: "as specified",
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
      text: "the thumbprint of the signing key; must be equal to this thumbprint at first contact (4.2)",
      reference:
        "accepts the host's id, or on some endpoints the `kid` of the host's key; does not compare `iss` with the thumbprint at first contact",
      ours: "accepts only the thumbprint; otherwise 401 `invalid_jwt`",
      why: "as specified",
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
      text: "required: the thumbprint of its host's key (4.3)",
      reference: "accepts only the host's id, or a JWT without `iss`",
      ours: "accepts the thumbprint, the host's id, or a JWT without `iss`",
      why: "the published SDK sends no `iss`, and the clients of the reference send the host's id; `sub` identifies the agent",
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
      reference: "its SDK sends no `iss`",
      ours: "our client sends the host's id that the server returned",
      why: "the reference accepts only the host's id; our server accepts both",
      shown: "client.test.ts",
    },
    {
      what: "a JWT of an unregistered host or agent",
      text: "401 `invalid_jwt` (5.13); 404 `host_not_found` at `/host/revoke`",
      reference: "401 `agent_not_found`",
      ours: "401 `invalid_jwt`; 404 `host_not_found` at `/host/revoke` and `/host/rotate-key`",
      why: "as specified",
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
      text: "required in every Host JWT, unless it has `host_jwks_url` (4.2)",
      reference: "requires it only at first contact",
      ours: "requires `host_public_key` in every Host JWT; otherwise 401 `invalid_jwt`",
      why: "the signature can be verified before any look-up",
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
      text: "an alternative to keys in the JWT (4.1); a server that fetches them filters addresses and limits answers (8.12); a host cannot change between the two after registration (8.7)",
      reference:
        "fetches both URLs, and filters only by host name; a host may change between URL and key",
      ours: "401 `invalid_jwt` for `host_jwks_url`; 400 `invalid_public_key` for `agent_jwks_url`",
      why: "our server fetches no URL that a caller names; the published SDK sends keys only in the JWT",
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
      reference: "does not require it",
      ours: "requires it; otherwise 401 `invalid_jwt`",
      why: "as specified",
      places: [
        { step: /JWT, no exp/, path: "outcome", ours: "401 invalid_jwt" },
        { endpoint: /introspect/, step: /JWT, no exp/, path: /^/ },
      ],
    },
    {
      what: "difference of clocks",
      text: "should allow up to 30 seconds for `exp` and `iat`; must not allow more than 30 seconds for `iat` (8.2)",
      reference: "allows none",
      ours: "allows 30 seconds for `exp`, `iat` and `nbf`",
      why: "as specified",
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
      text: "should be at most 60 seconds (4.3, 8.2); a maximum above which a server must refuse the JWT is not defined",
      reference: "the JWT ends 60 seconds after `iat`, whatever `exp` says",
      ours: "the same, plus 30 seconds for the difference of clocks",
      why: "the server must remember a used `jti` as long as it would accept the JWT",
      shown: "jwt.test.ts",
    },
    {
      what: "the header `alg`",
      text: "`EdDSA`; in discovery, `Ed25519` names the key type (4.1, 5.1)",
      reference: "accepts only `EdDSA`",
      ours: "accepts `EdDSA` and `Ed25519`",
      why: "RFC 9864 calls the same algorithm `Ed25519`, and so does discovery",
      places: [{ step: /alg by its curve/, path: /^/, reference: /^/ }],
    },
    {
      what: "`aud`",
      text: "exactly the issuer; at execution, the capability's location or `default_location` (4.3, 8.18), although 4.5 demands the issuer at execution too",
      reference:
        "accepts the issuer, the URL of executions and its own `Host` header, on every endpoint",
      ours: "accepts exactly the issuer; at execution also the URL of executions",
      why: "a JWT for one purpose must not work for another; execution accepts both readings of the specification",
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
      text: "must be a string (4.2, 4.3); a JWT must not be used at several servers (8.18)",
      reference: "accepts an array if any entry matches",
      ours: "accepts an array with one entry, and refuses longer arrays",
      why: "the first server could replay the JWT at the other servers",
      places: [{ step: /aud a list(?! of one)/, path: /^/, reference: /^/ }],
    },
    {
      what: "an Agent JWT for a capability's location, sent to this server",
      text: "must be refused (4.3)",
      reference: "accepts the JWT if it names only that capability",
      ours: "401 `invalid_jwt`; only introspection accepts it",
      why: "a JWT for one service must not work at another",
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
      text: "required, and valid once (4.6, 8.4)",
      reference:
        "only at registration, claim and host key rotation: requires `jti`, and accepts it once",
      ours: "on all endpoints: requires `jti` (otherwise 401 `invalid_jwt`), and accepts it once (then 401 `jti_replay`)",
      why: "otherwise, an attacker could replay an intercepted Host JWT",
      places: [
        { step: /JWT, no jti/, path: "outcome", reference: /^[24]/, ours: "401 invalid_jwt" },
        { step: /JWT, used before/, path: "outcome", ours: "401 jti_replay" },
      ],
    },
    {
      what: "concurrent requests with one JWT",
      text: "an agent may send concurrent requests (2.2); a used `jti` must be refused (4.6)",
      reference: "accepts one request, and refuses the others",
      ours: "accepts one request; the other requests get 401 `jti_replay`",
      why: "the specification contradicts itself; an intercepted JWT must not be replayed",
      shown: "jwt.test.ts",
    },
    {
      what: "`htm`, `htu` and `ath` in a JWT",
      text: "not defined: proof of possession has a header of its own (4.4)",
      reference: "checks them in Agent JWTs, ignores them in Host JWTs; compares `htu` exactly",
      ours: "checks them in both kinds of JWT; compares `htu` as RFC 9449 does: without query and fragment, and normalized",
      why: "a JWT that names its request must work for no other. Our client adds these claims to the JWT of a registration: clients should bind it to the server that they discovered (8.9)",
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
      text: "a server may require them, and should support them for sensitive capabilities (4.4, 8.3, 8.14)",
      reference: "supports neither",
      ours: "supports neither, and ignores `cnf`",
      why: "each JWT is signed with the party's own key for one request, and valid once",
      shown: "jwt.test.ts",
    },
    {
      what: "state of an agent",
      text: "checked before the signature (4.5, steps 6 and 7)",
      reference: "checks it before the signature",
      ours: "checks it after the signature: 401 `invalid_jwt`",
      why: "otherwise, a party without the key could find out which agents are revoked",
      places: [{ path: "outcome", reference: /^40[13] agent_/, ours: "401 invalid_jwt" }],
    },
    {
      what: "`capabilities` of an Agent JWT",
      text: "calls of other capabilities must be refused, so an empty array allows nothing (4.3)",
      reference:
        "executes a default that the JWT does not name, and anything in a batch; the JWT can manage the agent; in introspection, an empty array stands for all",
      ours: "403 `capability_not_granted`; 403 `unauthorized` for managing the agent; introspection of an empty array shows none",
      why: "a narrowed JWT executes only the capabilities that it names, and cannot manage the agent: no rotation, request, revocation or claim",
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
      reference:
        "401 `agent_not_found`, or 403 `agent_revoked`; the agent's key can be registered again",
      ours: "403 `host_revoked`",
      why: "as specified",
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
      what: "a call of an expired agent",
      text: "403 `agent_expired` (2.3, 4.5, 5.13)",
      reference: "reactivates it: 200",
      ours: "403 `agent_expired` until `POST /agent/reactivate`",
      why: "as specified: the host must renew the agent; the agent's key alone is not enough",
      places: [{ step: /expired: /, path: "outcome", reference: "200", ours: "403 agent_expired" }],
    },
  ],
};
