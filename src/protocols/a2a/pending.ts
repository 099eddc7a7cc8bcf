import type { OpenedApproval } from "../../agent/approvals/opening.js";
import { formatTime } from "../../caveats/time.js";

/** One grant that waits for an approval. */
export interface PendingGrant {
  readonly grant: string;
  readonly operations: readonly string[];
  /** How many resources are asked for; absent where none are named. */
  readonly resources?: number;
}

/** What has been asked for and waits until people have decided. It holds no token. */
export interface PendingAnswer {
  /** What `a2a/capabilities/collect` takes, and the id of the task that waits for it. */
  readonly approvalId: string;
  /** Until when they may decide: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
  /** Seconds to wait between two looks. */
  readonly interval: number;
  readonly grants: readonly PendingGrant[];
  /** Where people decide about it. */
  readonly verificationUri?: string;
  /** What the user is to enter there, where the approval is found by a code. */
  readonly userCode?: string;
}

/** Seconds between two looks at an approval. */
const INTERVAL = 2;

/** What waits for an approval, as the asker gets it. */
export function pendingAnswer(
  { approval, userCode }: OpenedApproval,
  verificationUri: string | undefined,
): PendingAnswer {
  const { id, expires, subject } = approval;
  return {
    ...{ approvalId: id, expires: formatTime(expires), interval: INTERVAL },
    grants: subject.asked.map(({ grant, operations, resources }) => ({
      ...{ grant, operations },
      ...(resources === undefined ? {} : { resources: resources.length }),
    })),
    ...(verificationUri === undefined ? {} : { verificationUri }),
    ...(userCode === undefined ? {} : { userCode }),
  };
}
