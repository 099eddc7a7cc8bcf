import { hmac } from "../build/bytes.js";
import {
  type Ask,
  allowed,
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  ID,
  identifier,
  KEY_A,
  KEY_B,
  type Key,
  refused,
  type Setup,
} from "./check-test.js";
import { listed, RETRIEVE } from "./revocation-parts.js";

const URL_NAME = "https://files.example:8443/v1";
const LONGEST = "a".repeat(255);
const HOP = '{"audience":["files"],"expires":"2026-01-01T01:00:00Z"}';

/** Derives the key for one service (section 10). */
function derived(service: string, { kid, secret }: Key = KEY_A): Key {
  return { kid: `${kid}@${service}`, secret: hmac(secret, `proviso-service-key-v1 ${service}`) };
}

/** Returns the setup of a token that is signed with the given key. Its hops name no audience. */
function under({ kid, secret }: Key, audience?: string): Setup {
  const ask: Ask = audience === undefined ? {} : { audience };
  return { identifier: identifier({ kid }), secret, ask };
}

const FILES = derived("files");
const AT_FILES: Setup = { ...under(FILES, "files"), keys: [FILES] };

/** Defines a test of a key id whose service name is invalid, although its root key exists. */
function noService(about: string, service: string): CheckTest {
  return refused(
    `${about} for a service's name`,
    ["ServiceKey", "WrongIssuer"],
    under(derived(service), service),
    "unknown_key",
  );
}

export const serviceKeys: CheckSubject = {
  subject: "keys for one service",
  comment:
    "Sections 7, 8 and 10: what is made under a service's key, at its issuer and at that service",
  tests: [
    allowed("at the issuer, which derives the key", "ServiceKey", under(FILES, "files")),
    allowed("at the service, which has no other key", "ServiceKey", AT_FILES),
    allowed("with the issuer's hop as it writes it", "ServiceKey", { ...AT_FILES, links: [HOP] }),
    allowed("a URL for a service's name", "ServiceKey", under(derived(URL_NAME), URL_NAME)),
    allowed(
      "255 characters for a service's name",
      ["ServiceKey", "Limit"],
      under(derived(LONGEST), LONGEST),
    ),
    allowed("a name of one character", "ServiceKey", under(derived("!"), "!")),
    allowed(
      "a name with capital letters, which has a key of its own",
      "ServiceKey",
      under(derived("Files"), "Files"),
    ),
    refused("another service's name", "ServiceKey", under(FILES, "mail"), "audience_denied@0"),
    refused(
      "the service's name in another case",
      ["ServiceKey", "SetMembership"],
      under(FILES, "Files"),
      "audience_denied@0",
    ),
    refused("no audience", ["ServiceKey", "MissingValue"], under(FILES), "audience_denied@0"),
    refused(
      "no audience at the service itself",
      ["ServiceKey", "MissingValue"],
      { ...under(FILES), keys: [FILES] },
      "audience_denied@0",
    ),
    refused(
      "a hop that names another service does not count",
      ["ServiceKey", "Escalation"],
      { ...under(FILES, "mail"), links: [EXPIRES, '{"audience":["mail"]}'] },
      "audience_denied@0",
    ),
    refused(
      "the key and a hop refuse alike",
      ["ServiceKey", "AllReported"],
      { ...under(FILES, "mail"), links: [HOP] },
      "audience_denied@0",
      "audience_denied@1",
    ),
    refused(
      "the hop alone refuses",
      "ServiceKey",
      { ...AT_FILES, links: [EXPIRES, '{"audience":["mail"]}'] },
      "audience_denied@2",
    ),
    refused(
      "narrowed by a holder",
      "ServiceKey",
      { ...AT_FILES, links: [EXPIRES, RETRIEVE], ask: { audience: "files", operation: "search" } },
      "operation_denied@2",
    ),
    refused(
      "another service's token at a service",
      ["ServiceKey", "WrongIssuer"],
      { ...under(derived("mail"), "files"), keys: [FILES] },
      "unknown_key",
    ),
    refused(
      "a token under the root key at a service",
      ["ServiceKey", "WrongIssuer"],
      { ask: { audience: "files" }, keys: [FILES] },
      "unknown_key",
    ),
    refused(
      "made by a service in another's name",
      ["ServiceKey", "Forged"],
      { ...under(derived("mail"), "mail"), secret: FILES.secret },
      "signature_mismatch",
    ),
    refused(
      "made by a service in the name of one that differs in case",
      ["ServiceKey", "Forged"],
      { ...under(derived("Files"), "Files"), secret: FILES.secret },
      "signature_mismatch",
    ),
    refused(
      "made by a service in the name of the root key",
      ["ServiceKey", "Forged"],
      { identifier: ID, secret: FILES.secret },
      "signature_mismatch",
    ),
    refused(
      "made under the root key in a service's name",
      ["ServiceKey", "Forged"],
      { ...under(FILES, "files"), secret: KEY_A.secret },
      "signature_mismatch",
    ),
    refused(
      "made under a key that is derived without the label",
      ["ServiceKey", "Forged"],
      { ...under(FILES, "files"), secret: hmac(KEY_A.secret, "files") },
      "signature_mismatch",
    ),
    refused(
      "a service derives no other service's key",
      ["ServiceKey", "Forged"],
      { ...under(derived("mail", FILES), "mail"), keys: [FILES] },
      "unknown_key",
    ),
    refused(
      "a root key that is not there",
      ["ServiceKey", "WrongIssuer"],
      under(derived("files", KEY_B), "files"),
      "unknown_key",
    ),
    allowed("the second of two root keys", ["ServiceKey", "KeyRotation"], {
      ...under(derived("files", KEY_B), "files"),
      keys: [KEY_A, KEY_B],
    }),
    allowed("the second of two keys at the service", ["ServiceKey", "KeyRotation"], {
      ...under(derived("files", KEY_B), "files"),
      keys: [FILES, derived("files", KEY_B)],
    }),
    refused(
      "the root key is revoked",
      ["ServiceKey", "Revocation"],
      { ...under(FILES, "files"), ...listed({ kind: "key", id: "key_a" }) },
      "revoked",
    ),
    refused(
      "the root key is revoked, at the service",
      ["ServiceKey", "Revocation"],
      { ...AT_FILES, ...listed({ kind: "key", id: "key_a" }) },
      "revoked",
    ),
    refused(
      "the service's key is revoked",
      ["ServiceKey", "Revocation"],
      { ...under(FILES, "files"), ...listed({ kind: "key", id: "key_a@files" }) },
      "revoked",
    ),
    allowed("another service's key is revoked", ["ServiceKey", "Revocation"], {
      ...under(FILES, "files"),
      ...listed({ kind: "key", id: "key_a@mail" }, { kind: "key", id: "key_a@" }),
    }),
    allowed(
      "a token under the root key, where a service's key is revoked",
      ["ServiceKey", "Revocation"],
      {
        ...listed({ kind: "key", id: "key_a@files" }),
      },
    ),
    refused(
      "revoked, in another name and over its operations",
      ["ServiceKey", "AllReported"],
      {
        ...under(FILES),
        ...listed({ kind: "key", id: "key_a" }),
        links: [EXPIRES, RETRIEVE],
        ask: { audience: "mail", operation: "search" },
      },
      "revoked",
      "audience_denied@0",
      "operation_denied@2",
    ),
    noService("nothing", ""),
    noService("a space", "the files"),
    noService("another @", "files@mail"),
    noService("a letter beyond ASCII", "dätei"),
    noService("a control character", "files\u007f"),
    noService("256 characters", `${LONGEST}a`),
    refused(
      "no root key before the @",
      ["ServiceKey", "WrongIssuer"],
      under({ kid: "@files", secret: FILES.secret }, "files"),
      "unknown_key",
    ),
  ],
};
