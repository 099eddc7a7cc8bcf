import { assertMembers } from "../../checks/members.js";
import { readUrl } from "../../client/address.js";
import { Keyring } from "../../issuer/keyring.js";
import { RevocationFollower } from "./follower.js";
import { assertMaxAge, DEFAULT_MAX_AGE } from "./statement.js";

export interface FollowRevocationsOptions {
  /** The feed's URL, such as `https://agent.example/revocations`. */
  readonly url: string;
  /** The service's own keys: a keyring, or a function that returns the current one. */
  readonly keys: Keyring | (() => Keyring);
  /** Maximum number of seconds for which an answer is trusted; 300 unless given. The issuer may set a shorter time. */
  readonly maxAge?: number | undefined;
  /**
   * Seconds between two requests, at most a third of `maxAge`. Unless given, 30 or a third of `maxAge`,
   * whichever is less.
   */
  readonly interval?: number | undefined;
  /** `true` to allow plain HTTP to other machines. */
  readonly insecure?: boolean | undefined;
  /** Sends the requests; the global `fetch` unless given. */
  readonly fetch?: typeof fetch | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS = ["url", "keys", "maxAge", "interval", "insecure", "fetch", "clock"];
const INTERVAL = 30;

/**
 * Follows an issuer's revocation list, for a service that has only its own keys. Requests the list immediately,
 * then every `interval` seconds. Accepts only answers that the issuer made for this service. Before the first
 * answer, and whenever the last answer is too old, every check is refused as `revocation_stale`.
 *
 * @throws TypeError if an option is wrong, or the keys are not those of a service.
 * @throws ClientError `address_invalid` or `address_insecure` if the URL cannot be used.
 *
 * @example
 * ```ts
 * import { createIssuer, createKeyring, createRevocationList, importKeyring } from "proviso/issuer";
 * import { createRevocationFeed, followRevocations } from "proviso/revocations";
 *
 * // At the issuer.
 * const root = createKeyring();
 * const list = createRevocationList();
 * const agent = createIssuer({ name: "agent", keys: root, revocations: list });
 * const feed = createRevocationFeed({ keys: root, revocations: list });
 * const { token } = agent.mint({ grant: "files", operations: ["get"], service: "files.example" });
 *
 * // At the service, which has this JWK Set alone.
 * const keys = importKeyring(root.serviceKeys("files.example"));
 * const revocations = followRevocations({
 *   url: "https://agent.example/revocations",
 *   keys,
 *   fetch: (input, init) => feed.fetch(new Request(input, init)),
 * });
 * const service = createIssuer({ name: "agent", keys, revocations, audience: "files.example" });
 * const call = { grant: "files", operation: "get" };
 * await revocations.refresh();
 * service.authorize(token, call).allowed; // => true
 *
 * const revocation = agent.revocationOf(token);
 * if (revocation.ok) list.add(revocation.entry);
 * await revocations.refresh();
 * service.authorize(token, call).allowed; // => false
 * revocations.close();
 * ```
 */
export function followRevocations(options: FollowRevocationsOptions): RevocationFollower {
  assertMembers(options, OPTIONS, "options");
  const { keys, maxAge = DEFAULT_MAX_AGE, insecure = false } = options;
  const { clock = Date.now, fetch: ask = fetch } = options;
  if (typeof options.url !== "string") throw new TypeError("url must be a string");
  if (!(keys instanceof Keyring) && typeof keys !== "function") {
    throw new TypeError("keys must be a Keyring, or a function that gives one");
  }
  if (typeof ask !== "function") throw new TypeError("fetch must be a function");
  assertMaxAge(maxAge);
  const interval = options.interval ?? Math.min(INTERVAL, maxAge / 3);
  if (!Number.isFinite(interval) || interval <= 0 || interval > maxAge / 3) {
    throw new TypeError(`interval must be seconds, and ${maxAge / 3} (a third of maxAge) at most`);
  }
  const cargo = "requests for the revocation list";
  const url = readUrl(options.url, "url", { insecure, cargo });
  const present = keys instanceof Keyring ? () => keys : keys;
  if (present().service === undefined) {
    throw new TypeError("keys must be a service's own: what Keyring.serviceKeys gives");
  }
  const follower = new RevocationFollower({ url, keys: present, maxAge, interval, ask, clock });
  follower.start();
  return follower;
}
