import type { Section } from "./row.js";

export const KEYS: Section = {
  title: "Keys",
  rows: [
    {
      what: "rotation of an agent's key",
      text: "`{agent_id, public_key}` by a Host JWT; the new key signs nothing (5.8)",
      reference: "so",
      ours: "so; `proof` may be there. Without it, another agent of the host can have the key until a JWT under it",
      why: "a key whose possession was not proven reserves nothing",
      shown: "keys.test.ts",
    },
    {
      what: "rotation of a host's key",
      text: "`{public_key}` by a Host JWT under the current key; the new key signs nothing (5.9)",
      reference: "so, by the host's id as `iss` alone, which its SDK does not send",
      ours: "so; `proof` may be there. Without it, the key is proven by the first Host JWT under it that names an agent of the host; until then `list` refuses it, and a registration opens a new host",
      why: "a party could give another's public key as its own, and the other would pass for that party",
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
      text: "nothing: a user registers a host before by the server's own means (2.8)",
      reference: "`POST /host/enroll` with a key that is taken without a signature",
      ours: "the same; `proof` may be there. Without it, the host's first registration waits for its user",
      why: "as above",
      places: [
        {
          step: /enrolment: without a proof, an agent/,
          path: /^(status|agent_capability_grants|approval)/,
        },
      ],
    },
    {
      what: "the old key after a host's rotation",
      text: "ends at once; the record stays (5.9)",
      reference: "401 `agent_not_found`: the host's id has become the new thumbprint",
      ours: "401 `invalid_jwt`: the host keeps its id",
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
    {
      what: "a key that another host or agent of the host has",
      text: "nothing for rotation",
      reference: "taken",
      ours: "409 `key_in_use`",
      why: "two parties with one key could not be distinguished",
      shown: "keys.test.ts",
    },
    {
      what: "a malformed public key: without `kty`, of the wrong length, no point of the curve, or of small order",
      text: "400 `invalid_request` for what is malformed, `unsupported_algorithm` for another algorithm (5.13)",
      reference: "accepted, or 400 `unsupported_algorithm`",
      ours: "400 `invalid_public_key`",
      why: "nothing is ever signed under it, or anyone can sign under it",
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
