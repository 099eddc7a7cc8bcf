// Opens approvals, and renews the user code of an open approval.

import { encodeBase64url } from "../../bytes/base64.js";
import { checkApprovalRule, checkLifetime } from "./approval-rules.js";
import { digestOf } from "./digests.js";
import { approvalEvent } from "./events.js";
import type { Approval, ApprovalRule, ApprovalSubject } from "./records.js";
import { everyRecord, type PartyDraft, type PartyStore, takeTurn } from "./store.js";
import { hashOfUserCode, newUserCode, ShownCodes } from "./user-codes.js";

/** A request to be decided, with its approvers and its lifetime. */
export interface ApprovalRequest {
  readonly subject: ApprovalSubject;
  readonly rule: ApprovalRule;
  readonly method: Approval["method"];
  /** Seconds until the request expires. */
  readonly lifetime: number;
}

/** An approval as returned to its requester. */
export interface OpenedApproval {
  readonly approval: Approval;
  /**
   * `XXXX-XXXX`, for the user to enter. Absent if the approvers find the request in their list, or if the
   * request is settled.
   */
  readonly userCode?: string;
}

/** The result of opening an approval in its own transaction. */
export type OpenedAlone =
  | { readonly ok: true; readonly pending: OpenedApproval }
  | {
      readonly ok: false;
      readonly denial: { readonly code: "too_many_pending"; readonly message: string };
    };

/** Thrown if one request id is used for two different requests. */
export class RequestReusedError extends Error {
  override readonly name = "RequestReusedError";
}

export class ApprovalOpening {
  readonly #store: PartyStore;
  readonly #clock: () => number;
  readonly #random: (length: number) => Uint8Array;
  readonly #seen: (approval: Approval) => Approval;
  readonly #codes = new ShownCodes();

  /** @param seen - Returns the current state of an approval. */
  constructor(
    store: PartyStore,
    clock: () => number,
    random: (length: number) => Uint8Array,
    seen: (approval: Approval) => Approval,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#seen = seen;
  }

  /** @see Approvals.open */
  async open(draft: PartyDraft, request: ApprovalRequest): Promise<OpenedApproval> {
    const { subject, rule, method, lifetime } = request;
    checkApprovalRule(rule, "rule");
    checkLifetime(lifetime, "lifetime");
    const now = this.#clock();
    const digest = digestOf(request);
    const [known] = await draft.approvals.find({ request: subject.request, limit: 1 });
    if (known !== undefined) {
      if (known.digest === digest) return this.reopened(draft, known);
      throw new RequestReusedError(
        known.digest === digestOf({ subject, rule: known.rule })
          ? "other people approve this request now than when it was made under this id"
          : "another request has been made under this id",
      );
    }
    const approval: Approval = {
      id: `approval_${encodeBase64url(this.#random(16))}`,
      digest,
      subject,
      state: "pending",
      rule,
      method,
      decisions: [],
      created: now,
      updated: now,
      expires: now + lifetime * 1000,
    };
    return this.#kept(draft, approval, "approval.opened");
  }

  /** @see Approvals.openAlone */
  async openAlone(request: ApprovalRequest, most: number): Promise<OpenedAlone> {
    const { agent, principal, request: id } = request.subject;
    return this.#store.change(async (draft): Promise<OpenedAlone> => {
      const now = this.#clock();
      await takeTurn(draft, ["capabilities", principal ?? "", agent.id], now);
      const query = { agent: agent.id, state: "pending", openAt: now } as const;
      const waiting = await everyRecord(draft.approvals, query);
      // Count the approvals of each user separately. Users of one agent, such as an OAuth client, then do not
      // block each other.
      const open = waiting.filter(
        (one) => one.subject.principal === principal && this.#seen(one).state === "pending",
      );
      const same = open.some(({ subject }) => subject.request === id);
      if (same || open.length < most) return { ok: true, pending: await this.open(draft, request) };
      const message = `${open.length} requests of this caller wait for an approval, the maximum`;
      return { ok: false, denial: { code: "too_many_pending", message } };
    });
  }

  /** @see Approvals.reopened */
  async reopened(draft: PartyDraft, approval: Approval): Promise<OpenedApproval> {
    if (approval.state !== "pending" || approval.method !== "user_code") return { approval };
    const userCode = this.#codes.of(approval);
    if (userCode !== undefined) return { approval, userCode };
    return this.#kept(draft, { ...approval, updated: this.#clock() }, "approval.code_renewed");
  }

  async #kept(draft: PartyDraft, given: Approval, change: string): Promise<OpenedApproval> {
    let approval = given;
    let userCode: string | undefined;
    if (given.method === "user_code") {
      userCode = newUserCode(this.#random);
      const codeHash = hashOfUserCode(userCode) ?? "";
      approval = { ...given, codeHash };
      this.#codes.show(approval, userCode, this.#clock());
    }
    await draft.put("approvals", approval);
    draft.note(approvalEvent(approval, change, this.#clock()));
    return { approval, ...(userCode === undefined ? {} : { userCode }) };
  }
}
