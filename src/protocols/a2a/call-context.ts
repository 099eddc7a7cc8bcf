import type { Message } from "@a2a-js/sdk";
import { ServerCallContext, type ServerCallContextBuilder, type User } from "@a2a-js/sdk/server";
import type { Admission } from "../../agent/admission.js";
import type { Caller } from "../../agent/caller.js";
import type { Clearance, SkillInvocation } from "../../agent/clearance.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import type { Json } from "../../bytes/json.js";
import type { Earlier } from "../../stores/tasks/task-store.js";
import { type Binding, fault, thrownFault } from "./errors.js";
import { ERROR_CODES, EXTENSION_URI } from "./extension.js";
import type { AuthenticAuthority, PresentedReading } from "./presented.js";
import type { TaskRequest } from "./task-request.js";

/** An authenticated caller, as the SDK knows users, with what its request presents. */
export class CallerUser implements User {
  readonly caller: Caller;
  readonly presented: PresentedReading;
  readonly isAuthenticated = true;

  constructor(caller: Caller, presented: PresentedReading) {
    this.caller = caller;
    this.presented = presented;
  }

  get userName(): string {
    return this.caller.principal;
  }
}

/** What a request was given leave for, before its executor runs. */
export type Leave =
  | { readonly kind: "skill"; readonly clearance: Clearance; readonly invocation: SkillInvocation }
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
  /** The message as it was sent. */
  message?: Message;
  leave?: Leave;
  /** Gives back the slot that the caller's work has taken. */
  release?: () => void;
  /** Lets the next message into the task that this one continues. */
  settled?: () => void;
  /** What the same message began before: nothing has run then. */
  earlier?: Earlier;
  /** What was thrown when the task could not be begun: nothing has run then. */
  failure?: { readonly error: unknown };
  /** Whether it has run, and what it came to could not be stored. */
  unstored?: true;
}

// Beside the context rather than in its state, where nothing tells one value's type from another's.
const calls = new WeakMap<ServerCallContext, Call>();

/** Makes the SDK's context of one request, with the {@link Call} beside it. */
export function contextBuilder(binding: Binding): ServerCallContextBuilder {
  return ({ extensions, user, requestedVersion, tenant }) => {
    if (!(user instanceof CallerUser)) {
      const message = "the request has not been authenticated";
      throw thrownFault(fault(ERROR_CODES.unauthenticated, message, "token_missing"), binding);
    }
    const context = new ServerCallContext({
      user,
      ...(extensions === undefined ? {} : { requestedExtensions: extensions }),
      ...(requestedVersion === undefined ? {} : { requestedVersion }),
      ...(tenant === undefined ? {} : { tenant }),
    });
    const { caller, presented } = user;
    calls.set(context, { caller, binding, presented });
    return context;
  };
}

/**
 * What is known of a request besides what the SDK keeps.
 *
 * @throws TypeError for a context that {@link contextBuilder} did not make.
 */
export function callOf(context: ServerCallContext): Call {
  const call = calls.get(context);
  if (call === undefined) throw new TypeError("this context has no authenticated caller");
  return call;
}

/** A context for a request that did not come through the SDK's handlers. */
export function contextFor(
  caller: Caller,
  { presented, declared }: AuthenticAuthority,
  binding: Binding,
  asked?: Json,
): ServerCallContext {
  const user = new CallerUser(caller, { ok: true, presented: [], declared });
  const context = contextBuilder(binding)({
    ...{ user, headers: {}, extensions: [EXTENSION_URI], requestedVersion: "1.0" },
  });
  const call = { ...callOf(context), authentic: presented };
  calls.set(context, { ...call, ...(asked === undefined ? {} : { asked }) });
  return context;
}
