// Reads and verifies one macaroon, ours beside npm "macaroon", in one run and in turns. Prints medians
// of the rounds and their ratio. Run with: npm run bench
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { attenuate } from "proviso";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  verifyMacaroon,
} from "proviso/macaroon";

const load = createRequire(import.meta.url);
const peer = load("macaroon");
const { version: peerVersion } = load("macaroon/package.json");
const { version } = load("../package.json");

const ROUNDS = 15;
const secret = new Uint8Array(createHash("sha256").update("bench").digest());
const key = createRootKey(secret);

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/**
 * Operations per second.
 * @param {() => void} operation
 * @param {number} count
 */
function rate(operation, count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) operation();
  return (count / (performance.now() - start)) * 1000;
}

/** @param {number} count */
function macaroonWith(count) {
  let macaroon = createMacaroon(key, {
    identifier: "a capability of some ordinary length, 40 bytes",
  });
  for (let i = 0; i < count; i++) {
    macaroon = addFirstPartyCaveat(
      macaroon,
      `{"nonce":"AAAAAAAAAAAAAAA${i % 10}","operations":["get","put"]}`,
    );
  }
  return macaroonToBytes(macaroon, "v2");
}

console.log(
  `Node ${process.version}, proviso ${version}, macaroon ${peerVersion}, medians of ${ROUNDS} rounds`,
);
for (const caveats of [3, 20]) {
  const bytes = macaroonWith(caveats);
  const ours = () => {
    const [macaroon] = macaroonsFromBytes(bytes).macaroons;
    if (!verifyMacaroon(macaroon, key, { check: () => true }).ok) throw new Error("refused");
  };
  const theirs = () => peer.importMacaroon(bytes).verify(secret, () => null);
  const count = caveats > 10 ? 400 : 1500;
  rate(ours, count);
  rate(theirs, count);
  const ourRates = [];
  const theirRates = [];
  const ratios = [];
  for (let round = 0; round < ROUNDS; round++) {
    const a = rate(ours, count);
    const b = rate(theirs, count);
    ourRates.push(a);
    theirRates.push(b);
    ratios.push(a / b);
  }
  console.log(
    `read and verify, ${caveats} caveats: proviso ${Math.round(median(ourRates))}/s, ` +
      `macaroon ${Math.round(median(theirRates))}/s, ratio ${median(ratios).toFixed(2)}`,
  );
}

const issuer = createIssuer({
  name: "bench",
  keys: createKeyring(),
  revocations: createRevocationList(),
});
let { token } = issuer.mint({
  grant: "g",
  operations: ["get", "put"],
  resourceHandles: ["rh_1", "rh_2"],
});
for (const hop of [{ operations: ["get"] }, { resourceHandles: ["rh_1"] }]) {
  const result = attenuate(token, hop);
  if (!result.ok) throw new Error("not narrowed");
  token = result.token;
}
const invocation = { grant: "g", operation: "get", resourceHandles: ["rh_1"] };
const whole = [];
const narrowing = [];
for (let round = 0; round < ROUNDS; round++) {
  whole.push(rate(() => void issuer.authorize(token, invocation), 1500));
  narrowing.push(rate(() => void attenuate(token, { operations: ["get"] }), 1500));
}
console.log(`authorize, 3 hops, text in, decision out: ${Math.round(median(whole))}/s`);
console.log(`attenuate, 3 hops, text in, text out, with lint: ${Math.round(median(narrowing))}/s`);
