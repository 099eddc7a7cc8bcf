import type { Section } from "./row.js";

export const FRAME: Section = {
  title: "Requests and errors",
  rows: [
    {
      what: "error of a malformed request",
      reference: '400 `{message, code: "VALIDATION_ERROR"}`, 415 `{message, code}`',
      ours: "400 and 415 `{error, message}`: `invalid_request`, or the code of what is wrong",
      reason: "bug of theirs",
      why: "the text has one shape for all errors; theirs comes from their framework",
      places: [
        { path: "outcome", reference: "400", ours: /^400 / },
        { path: "outcome", reference: "415", ours: "415 unsupported_media_type" },
      ],
    },
    {
      what: "order of checks",
      reference: "at registration, claim and key rotation the body first, then the JWT",
      ours: "the JWT first, on every endpoint",
      reason: "our decision",
      why: "a body costs nothing before its sender is known",
      places: [
        { path: "outcome", reference: /^4(00|15)/, ours: /^401 / },
        {
          endpoint: /list|describe/,
          path: "outcome",
          reference: /^404/,
          ours: /^401 /,
        },
      ],
    },
    {
      what: "which of several faults is answered",
      reference: "the body's first, whatever is wrong with the agent",
      ours: "a key is read when it is needed",
      reason: "gap in the text",
      why: "either will do",
      places: [
        {
          step: /two faults|public_key/,
          path: "outcome",
          reference: /^4/,
          ours: "404 agent_not_found",
        },
      ],
    },
    {
      what: "size and depth of a body",
      reference: "no limit",
      ours: "413 `payload_too_large`; 400 for one that is too deep",
      reason: "bug of theirs",
      why: "the server bounds what a sender can make it hold",
      places: [
        { step: /a big body/, path: "outcome", ours: "413 payload_too_large" },
        { step: /a deep body/, path: "outcome", ours: "400 invalid_request" },
      ],
    },
    {
      what: "a charset other than UTF-8",
      reference: "ignored: the body is read as UTF-8",
      ours: "400 `invalid_request`",
      reason: "our decision",
      why: "what the sender wrote is not what would be read",
      places: [{ step: /charset=latin1/, path: "outcome", ours: "400 invalid_request" }],
    },
    {
      what: "a text that is too long or empty, or a name with control characters",
      reference: "cut, cleaned, or taken as it is",
      ours: "400 `invalid_request`",
      reason: "our decision",
      why: "the sender learns of it, and no text takes more than its share of memory",
      places: [
        {
          step: /odd text|an empty text|blank|long/,
          path: "outcome",
          ours: "400 invalid_request",
        },
      ],
    },
    {
      what: "unknown path",
      reference: "404 without a body",
      ours: "404 with a JSON body",
      reason: "our decision",
      why: "our server serves several protocols, and answers what no protocol has in one way",
      places: [
        { step: /an unknown path|session/, path: "", reference: "nothing" },
        { step: /an unknown path|session/, path: /^error/, reference: "–" },
      ],
    },
    {
      what: "another method",
      reference: "404 without a body",
      ours: "405 `method_not_allowed`",
      reason: "our decision",
      why: "as HTTP has it",
      places: [{ step: /another method/, path: "outcome", reference: "404", ours: /^405/ }],
    },
    {
      what: "a slash at the end of a path, or capital letters in it",
      reference: "404",
      ours: "as without",
      reason: "our decision",
      why: "the HTTP server treats all its paths so",
      places: [{ step: /a slash at the end|another case/, path: /^/, reference: /^/ }],
    },
    {
      what: "`WWW-Authenticate` on 401",
      reference: "on some endpoints",
      ours: "on all",
      reason: "bug of theirs",
      why: "the challenge is how a client finds the discovery document",
      places: [{ path: "(WWW-Authenticate)", reference: "–", ours: "AgentAuth" }],
    },
  ],
};
