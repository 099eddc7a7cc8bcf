import {
  createKeyring,
  createRevocationList,
  importKeyring,
  type Keyring,
  type RevocationList,
} from "../../../src/issuer/index.js";
import {
  createRevocationFeed,
  type FollowRevocationsOptions,
  followRevocations,
  type RevocationFeed,
  type RevocationFollower,
} from "../../../src/protocols/revocations/index.js";
import { NOW } from "../../caveats/support.js";

export { NOW };
export const AT = "2030-01-01T00:00:00Z";
export const SERVICE = "documents";

/** A feed and a service that follows the feed, with a common clock, and the answers that the feed has sent. */
export interface Pair {
  readonly root: Keyring;
  readonly own: Keyring;
  readonly list: RevocationList;
  readonly feed: RevocationFeed;
  readonly follower: RevocationFollower;
  readonly requests: Request[];
  readonly answers: Response[];
  now: number;
  /** Makes the answers that the service gets in place of the feed's; `undefined` to pass on the feed's answers. */
  between: ((request: Request) => Promise<Response> | Response) | undefined;
}

export function pair({
  list = createRevocationList(),
  ...options
}: Partial<FollowRevocationsOptions> & { readonly list?: RevocationList } = {}): Pair {
  const root = createKeyring();
  const own = importKeyring(root.serviceKeys(SERVICE));
  const clock = (): number => made.now;
  const feed = createRevocationFeed({ keys: root, revocations: list, clock });
  const requests: Request[] = [];
  const answers: Response[] = [];
  const made: { now: number; between: Pair["between"] } = { now: NOW, between: undefined };
  const follower = followRevocations({
    url: "https://agent.example/revocations",
    keys: own,
    clock,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request);
      const answer = await (made.between ?? ((one) => feed.fetch(one)))(request);
      answers.push(answer.clone());
      return answer;
    },
    ...options,
  });
  return Object.assign(made, { root, own, list, feed, follower, requests, answers });
}
