import type { Message, SendMessageRequest, Task } from "@a2a-js/sdk";
import { ServerCallContext } from "@a2a-js/sdk/server";
import type { Admission } from "../../agent/admission.js";
import type { Caller } from "../../agent/caller.js";
import type { Clearance, SkillInvocation } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import type { Operation } from "../../agent/skill.js";
import { beside } from "../../bytes/beside.js";
import type { Json } from "../../bytes/json.js";
import { shareTaskAccess, type TaskAccess } from "../../stores/tasks/task-access.js";
import type { Earlier } from "../../stores/tasks/task-store.js";
import type { Binding, Fault } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import type { PresentedReading } from "./presented.js";
import type { TaskRequest } from "./task-request.js";

/** What a message was given leave for, before anything runs. */
export type Leave =
  | { readonly kind: "skill"; readonly clearance: Clearance; readonly invocation: SkillInvocation }
  | {
      readonly kind: "operation";
      readonly clearance: Clearance<Operation>;
      readonly agent: IssuingAgent;
    }
  | {
      readonly kind: "text";
      readonly admission: Admission;
      readonly request: Extract<TaskRequest, { kind: "text" }>;
    };

/** What is known of a request besides what the SDK keeps. */
export interface Call {
  readonly caller: Caller;
  readonly binding: Binding;
  readonly presented: PresentedReading;
  /** What it presents, verified, once anything is asked of it. */
  authentic?: readonly AuthenticatedCapability[];
  /** What the request asks for besides its message. */
  readonly asked?: Json;
  /** The request as it was read when leave was asked for: what runs is this one. */
  request?: SendMessageRequest;
  /** Tasks that the message refers to and its caller sees: what runs learns of no others. */
  references?: readonly string[];
  /** The answer to a message that runs nothing. */
  reply?: Message | Task;
  /** Which tasks it may see, once it is let in. */
  access?: TaskAccess;
  /** When the first of its capabilities expires, once it is let in: milliseconds since 1970. */
  expires?: number;
  /** Authenticates its caller once more, and then asks, where a stream goes on. @throws Refused or an A2AError. */
  readonly askAgain?: (ask: () => Promise<void>) => Promise<void>;
  leave?: Leave;
  /** Gives back the slot that the caller's work has taken. */
  release?: () => void;
  /** Lets the next message into the task that this one continues. */
  settled?: () => void;
  /** The task that runs in this request, as it was stored last: read from here, and not once more. */
  stored?: Task;
  /** What the same message began before: nothing has run then. */
  earlier?: Earlier;
  /** What was thrown when the task could not be begun: nothing has run then. */
  failure?: { readonly error: unknown; readonly task: string };
  /** Calls back once the caller listens no more. */
  whenClosed?: (then: () => void) => void;
  /** Says in the answer's headers when to try again: the SDK's handlers keep none of an error's. */
  tryAgainAfter?: (seconds: number) => void;
  /** What is answered in the place of whatever fails from now on. */
  instead?: Fault;
}

// Beside the context rather than in its state, where nothing distinguishes one value's type from another's.
const calls = beside<ServerCallContext, Call>();

/** A context to ask for leave in, before the SDK has made its own; and for what does not come by the SDK. */
export function contextFor(call: Call, tenant = ""): ServerCallContext {
  const context = new ServerCallContext({
    user: { isAuthenticated: true, userName: call.caller.principal },
    requestedExtensions: [EXTENSION_URI],
    requestedVersion: "1.0",
    ...(tenant === "" ? {} : { tenant }),
  });
  calls.set(context, call);
  return context;
}

/**
 * Hands over to the SDK's context what came out when leave was asked for.
 *
 * @returns Whether it did: a context that has a call already keeps it.
 */
export function adopt(to: ServerCallContext, from: ServerCallContext): boolean {
  if (to === from) return true;
  if (calls.get(to) !== undefined) return false;
  const call = callOf(from);
  calls.set(to, call);
  shareTaskAccess(to, from);
  for (const uri of from.activatedExtensions ?? []) to.addActivatedExtension(uri);
  return true;
}

/**
 * What is known of a request besides what the SDK keeps.
 *
 * @throws TypeError for a context that nothing has asked for leave in.
 */
export function callOf(context: ServerCallContext): Call {
  const call = calls.get(context);
  if (call === undefined) throw new TypeError("context has no authenticated caller");
  return call;
}

/**
 * Gives up what a call holds, where nothing has run: its slot, its task, its leave.
 *
 * @param code - Why, as a refusal is called in the ledger.
 */
export function giveUp(
  { leave, caller, release, settled }: Call,
  agent: IssuingAgent,
  code: string,
): void {
  release?.();
  settled?.();
  if (leave !== undefined && leave.kind !== "text") agent.forgo(leave.clearance, caller, code);
}
