/**
 * Publishes an issuer's revocation list, and follows it in services that have no root key. Runs in every
 * JavaScript runtime.
 *
 * @module proviso/revocations
 */

export { ClientError, type ClientErrorCode } from "../../client/client-error.js";
export { AgentFault } from "../../client/fault.js";
export type { FeedAnswer, FeedQuestion } from "./answer.js";
export { createRevocationFeed, type RevocationFeed, type RevocationFeedOptions } from "./feed.js";
export { type FollowRevocationsOptions, followRevocations } from "./follow.js";
export type { RevocationFollower } from "./follower.js";
export type { PublishedRevocations } from "./publication.js";
