import type { Decision } from "../../src/capability/authorize.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { attenuate, type HopInit } from "../../src/index.js";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  type Issuer,
} from "../../src/issuer/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  parseMacaroon,
  readMacaroons,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { Random } from "./random.js";

// The valid tokens from which all inputs are made. They are the same for every seed.

const fixed = new Random(1);
export const NOW: number = Date.parse("2030-01-01T00:00:00Z");
const options = { clock: () => NOW, random: (length: number) => fixed.bytes(length) };
export const keyring: ReturnType<typeof createKeyring> = createKeyring(options);
export const issuer: Issuer = createIssuer({
  name: "documents-agent",
  keys: keyring,
  revocations: createRevocationList(),
  audience: "documents",
  ...options,
});

/** A call that every token of the corpus allows. */
export const ASKED: Invocation = {
  grant: "documents:read",
  operation: "get",
  resourceHandles: ["rh_1"],
  arguments: { amount: 7, to: "acc_ä" },
  invoker: "agent:a",
};

export const FORMATS = ["v1", "v2", "v1json", "v2json"] as const;
type Format = (typeof FORMATS)[number];
/** A macaroon and the discharges bound to it. */
export type Presented = readonly [Macaroon, ...Macaroon[]];

function chain(first: HopInit, ...hops: readonly HopInit[]): Macaroon {
  let { token } = issuer.mint({ grant: "documents:read", operations: ["get", "put"], ...first });
  for (const hop of hops) {
    const child = attenuate(token, hop);
    if (!child.ok) throw new TypeError(child.overreaches.map((one) => one.message).join());
    token = child.token;
  }
  return parseMacaroon(token);
}

function withDischarges(root: Macaroon): Presented {
  const [one, two] = [fixed.bytes(32), fixed.bytes(32)];
  const needing = addThirdPartyCaveat(root, {
    key: one,
    identifier: "is it Alice?",
    location: "https://who.example",
    nonce: fixed.bytes(24),
  });
  const whole = addFirstPartyCaveat(needing, '{"operations":["get"]}');
  const first = addThirdPartyCaveat(
    addFirstPartyCaveat(
      createMacaroon(createRootKey(one), { identifier: "is it Alice?" }),
      '{"expires":"2030-01-01T00:05:00Z"}',
    ),
    { key: two, identifier: "and at work?", nonce: fixed.bytes(24) },
  );
  const second = createMacaroon(createRootKey(two), { identifier: "and at work?", location: "b" });
  return [whole, bindDischarge(whole, first), bindDischarge(whole, second)];
}

const FULL: HopInit = {
  operations: ["get", "put", "list"],
  resourceHandles: ["rh_1", "rh_2"],
  constraints: { amount: { max: 1000 }, to: { in: ["acc_ä", "acc_\u{1f600}"] } },
  audience: ["documents", "mail"],
  invokers: ["agent:a", "agent:b"],
  maxFurtherHops: 9,
  purpose: 'to "test" \\ \u0001 \u2028 ünïcödé',
};

export const CORPUS: readonly Presented[] = [
  [chain({})],
  [chain(FULL)],
  [chain(FULL, { constraints: { amount: { min: 1, not_in: [8] } } }, { operations: ["get"] })],
  [chain({ principal: "user:alice" } as HopInit, ...Array<HopInit>(12).fill({ purpose: "again" }))],
  withDischarges(chain(FULL)),
];

export interface Sample {
  readonly presented: Presented;
  readonly format: Format;
  readonly text: string;
}

/** Every token in every form. */
export const SAMPLES: readonly Sample[] = CORPUS.flatMap((presented) =>
  FORMATS.map((format) => ({ presented, format, text: writeMacaroons(presented, format) })),
);

/** Converts a macaroon in another form to v2, as its holder does before presenting it. */
function converted(text: string): string {
  try {
    const { format, macaroons } = readMacaroons(text);
    return format === "v2" ? text : writeMacaroons(macaroons, "v2");
  } catch {
    return text;
  }
}

/** Decides on a token after converting it to v2. The unconverted token must be refused in every form but v2. */
export function decide(text: string): Decision {
  const presented = converted(text);
  if (presented !== text && issuer.authorize(text, ASKED).allowed) {
    throw new Error(`allowed in another form than v2: ${text}`);
  }
  return issuer.authorize(presented, ASKED);
}

/**
 * Returns all signed content with the signatures: equal content means the same token. Locations are not signed,
 * and the order of discharges does not matter.
 */
export function signedContent([root, ...discharges]: Presented): string {
  return [contentOf(root), ...discharges.map(contentOf).sort()].join("\n");
}

function contentOf({ identifier, caveats, signature }: Macaroon): string {
  const links = caveats.map((caveat) =>
    caveat.kind === "first-party"
      ? hex(caveat.identifier)
      : `${hex(caveat.identifier)}+${hex(caveat.verificationId)}`,
  );
  return `${hex(identifier)}:${links.join()}:${hex(signature)}`;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
