import type { Section } from "./row.js";

export const KEYS: Section = {
  title: "Keys",
  rows: [
    {
      what: "rotation of an agent's key",
      text: "`{agent_id, public_key}` with a Host JWT; nothing is signed with the new key (5.8)",
      reference: "as specified",
      ours: "as specified, with an optional `proof`. Without it, another agent of the host can register the key until a JWT is signed with it",
      why: "a key without proof of possession reserves nothing",
      shown: "keys.test.ts",
    },
    {
      what: "rotation of a host's key",
      text: "`{public_key}` with a Host JWT under the current key; nothing is signed with the new key (5.9)",
      reference:
        "as specified, but finds the host only by its id as `iss`, which its SDK does not send",
      ours: "as specified, with an optional `proof`. Without it, the first Host JWT under the new key that names an agent of the host proves the key; until then `list` refuses the key, and a registration under it creates a new host",
      why: "otherwise, a party could rotate to the public key of another party, and the server would treat the owner of this key as the first party",
      places: [
        {
          step: /without a proof: list/,
          path: "outcome",
          reference: "200",
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "enrolment by a token",
      text: "not defined: a user registers a host in advance by the server's own means (2.8)",
      reference: "`POST /host/enroll` accepts a key without a signature under the key",
      ours: "the same, with an optional `proof`. Without it, the host's first registration waits for its user",
      why: "as for rotation",
      places: [
        {
          step: /enrolment: without a proof, an agent/,
          path: /^(status|agent_capability_grants|approval)/,
        },
      ],
    },
    {
      what: "the old key after a host's rotation",
      text: "becomes invalid at once; the host's record stays (5.9)",
      reference: "401 `agent_not_found`: the host's id is now the new thumbprint",
      ours: "401 `invalid_jwt`: the host keeps its id",
      why: "agents and records still refer to the host by its id",
      places: [
        {
          step: /rotate-host-key: the old key/,
          path: "outcome",
          reference: "401 agent_not_found",
          ours: "401 invalid_jwt",
        },
      ],
    },
    {
      what: "a new key that another host, or another agent of the host, has",
      text: "does not say for rotation",
      reference: "accepts it",
      ours: "409 `key_in_use`",
      why: "two parties with one key could not be distinguished",
      shown: "keys.test.ts",
    },
    {
      what: "a malformed public key (without `kty`, of the wrong length, not a point of the curve, or of small order)",
      text: "400 `invalid_request` if it is malformed, `unsupported_algorithm` for another algorithm (5.13)",
      reference: "accepts it, or 400 `unsupported_algorithm`",
      ours: "400 `invalid_public_key`",
      why: "under such a key, either nobody or everybody can sign",
      places: [
        {
          step: /key/,
          path: "outcome",
          reference: /^(200|400|401 |403 )/,
          ours: "400 invalid_public_key",
        },
      ],
    },
  ],
};
