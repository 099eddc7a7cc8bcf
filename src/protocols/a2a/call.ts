import type { Message, SendMessageRequest, Task, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { A2AError } from "@a2a-js/sdk/errors";
import type { ServerCallContext, User } from "@a2a-js/sdk/server";
import type { Request } from "express";
import type { Admission } from "../../agent/admission.js";
import type { Caller } from "../../agent/caller.js";
import type { Clearance, SkillInvocation } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability, Presented } from "../../agent/presented.js";
import type { Operation } from "../../agent/skill.js";
import type { Json } from "../../bytes/json.js";
import type { Connection } from "./connection.js";
import type { Binding } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import type { Outline } from "./outline.js";
import type { TaskRequest } from "./task-request.js";
import { setTaskAccess, type TaskView } from "./tasks/task-access.js";

/** A parsed request and its caller. Immutable. */
export interface Call {
  readonly caller: Caller;
  readonly binding: Binding;
  readonly outline: Outline;
  /** Empty if the request names no tenant. */
  readonly tenant: string;
  readonly capabilities: readonly Presented[];
  /** True if the caller declares ambient authority; `capabilities` is then empty. */
  readonly declared: boolean;
  /** The parameter `attenuations` of `a2a/task/send`; null if the request has none. */
  readonly asked: Json;
  readonly connection: Connection;
}

/** A call with the result of verifying each presented token. */
export interface AuthenticCall extends Call {
  readonly capabilities: readonly AuthenticatedCapability[];
}

/** The view of the tasks that a call may see, and the time when the view expires. */
export interface Sight extends TaskView {
  /** Earliest expiry among the call's capabilities, in milliseconds since 1970; `Infinity` without capabilities. */
  readonly expires: number;
}

/** The gate's decision that a message or a skill call may run. */
export type Permit = SkillPermit | OperationPermit | TextPermit;

export interface SkillPermit {
  readonly kind: "skill";
  readonly clearance: Clearance;
  readonly invocation: SkillInvocation;
}

interface OperationPermit {
  readonly kind: "operation";
  readonly clearance: Clearance<Operation>;
  readonly agent: IssuingAgent;
}

export interface TextPermit {
  readonly kind: "text";
  readonly admission: Admission;
  readonly request: Extract<TaskRequest, { kind: "text" }>;
}

/** Functions that free the slot and the task of a running call. Calling either of them twice has no effect. */
export interface Held {
  /** Frees the call's slot in the limit of running work per caller. */
  readonly release: () => void;
  /** Lets the task accept its next message. */
  readonly freeTask: () => void;
}

/** An admitted call; `need` is its kind. */
export type Admitted =
  /** A method about capabilities. It only requires an authenticated caller. */
  | { readonly need: "caller"; readonly call: Call }
  | { readonly need: "card"; readonly call: Call }
  | { readonly need: "task"; readonly call: AuthenticCall; readonly sight: Sight }
  | AdmittedSkill
  | AdmittedMessage
  | AnsweredMessage;

/** A skill that runs immediately, without a task. */
export interface AdmittedSkill {
  readonly need: "skill";
  readonly call: AuthenticCall;
  readonly permit: SkillPermit;
  readonly held: Held;
}

/** An admitted message that the executor has to run. */
export interface AdmittedMessage {
  readonly need: "message";
  readonly call: AuthenticCall;
  readonly sight: Sight;
  readonly permit: Permit;
  readonly held: Held;
  /** The cleared request. The executor runs exactly this request. */
  readonly request: SendMessageRequest;
  readonly message: Message;
  /** Ids of the referenced tasks that the caller may see. The executor gets no other references. */
  readonly references: readonly string[];
}

/** A message that is answered without running anything. */
export interface AnsweredMessage {
  readonly need: "answer";
  readonly call: AuthenticCall;
  /** `undefined` if the answer is not a task. */
  readonly sight: Sight | undefined;
  readonly request: SendMessageRequest;
  readonly reply: Message | Task;
  /** The push configuration in the request; `undefined` if there is none, or the message has not started the task. */
  readonly receiver: TaskPushNotificationConfig | undefined;
}

/**
 * The SDK's user for an admitted call. The call is in a private field, so that only {@link admittedOf} can read
 * it and no log prints it.
 */
class AdmittedUser implements User {
  readonly isAuthenticated = true;
  readonly userName: string;
  readonly #admitted: Admitted;

  constructor(admitted: Admitted) {
    this.userName = admitted.call.caller.principal;
    this.#admitted = admitted;
  }

  static admitted(user: User | undefined): Admitted | undefined {
    return user instanceof AdmittedUser ? user.#admitted : undefined;
  }
}

/** Returns the admitted call of a context; `undefined` if the context has none. */
export function admittedOf({ user }: ServerCallContext): Admitted | undefined {
  return AdmittedUser.admitted(user);
}

/**
 * Returns the admitted message of a context.
 *
 * @throws TypeError if no message was admitted.
 */
export function messageOf(context: ServerCallContext): AdmittedMessage {
  const admitted = admittedOf(context);
  if (admitted?.need === "message") return admitted;
  throw new TypeError("the gate has let no message in with this context");
}

/**
 * Returns the caller of a context.
 *
 * @throws TypeError if no call was admitted.
 */
export function callOf(context: ServerCallContext): Call {
  const admitted = admittedOf(context);
  if (admitted === undefined) throw new TypeError("this context has no authenticated caller");
  return admitted.call;
}

const STRANGER: User = { isAuthenticated: false, userName: "" };

/** Calls admitted by one gate. Each call may perform one operation. */
export class AdmittedCalls {
  readonly #users = new WeakMap<Request, User>();
  readonly #waiting = new WeakSet<Admitted>();

  /**
   * Adds an admitted call.
   *
   * @returns The user for the SDK context in which the call is performed.
   */
  add(admitted: Admitted): User {
    this.#waiting.add(admitted);
    return new AdmittedUser(admitted);
  }

  /** Adds an admitted call whose request goes on to the SDK's handlers. */
  addFor(req: Request, admitted: Admitted): void {
    this.#users.set(req, this.add(admitted));
  }

  /**
   * Returns the SDK's user for a request; an unauthenticated user if the gate has not admitted the request.
   * Never throws.
   */
  readonly userBuilder = async (req: Request): Promise<User> => this.#users.get(req) ?? STRANGER;

  /**
   * Takes the admitted call of a context, for the one operation that the call may perform.
   *
   * @throws A2AError if the gate has not admitted the call for this operation, or the call was taken before.
   */
  take<Of extends OperationName>(operation: Of, context: ServerCallContext): OperationCall<Of> {
    const admitted = admittedOf(context);
    if (admitted === undefined || !isFor(operation, admitted)) throw notLetIn();
    if (!this.#waiting.delete(admitted)) throw notLetIn();
    const sight = sightOf(admitted);
    if (sight !== undefined) setTaskAccess(context, sight.access);
    if (usesExtension(admitted)) context.addActivatedExtension(EXTENSION_URI);
    return admitted;
  }

  /**
   * Gives up an admitted call unless an operation has taken it.
   *
   * @param code - The refusal code for the ledger.
   */
  drop(admitted: Admitted, agent: IssuingAgent, code: string): void {
    if (this.#waiting.delete(admitted)) giveUp(admitted, agent, code);
  }
}

/** The kind of admitted call that an operation of the SDK needs. */
export type OperationName = "message" | "task" | "card";

/**
 * The type of the calls that {@link AdmittedCalls.take} returns for an operation. A call for `message` may be one that
 * is answered without running anything.
 */
export type OperationCall<Of extends OperationName> = Of extends "message"
  ? AdmittedMessage | AnsweredMessage
  : Extract<Admitted, { readonly need: Of }>;

function isFor<Of extends OperationName>(
  operation: Of,
  admitted: Admitted,
): admitted is OperationCall<Of> {
  const { need } = admitted;
  return need === operation || (operation === "message" && need === "answer");
}

function sightOf(admitted: Admitted): Sight | undefined {
  return "sight" in admitted ? admitted.sight : undefined;
}

/** Returns whether the answer must say that the extension was used. */
function usesExtension({ need, call }: Admitted): boolean {
  if (need === "card") return false;
  return call.capabilities.length > 0 || call.outline.inMessage !== undefined;
}

/** The error if a request reaches the handler without passing through `before`. */
function notLetIn(): A2AError {
  return new A2AError(
    "this request has not come through the guard: mount its `before` in front of the SDK's handler, and give that " +
      "the guard's `userBuilder`",
  );
}

/**
 * Releases the slot, the task and the permit of a call that has not run.
 *
 * @param code - The refusal code for the ledger.
 */
export function giveUp(admitted: Admitted, agent: IssuingAgent, code: string): void {
  if (admitted.need !== "message" && admitted.need !== "skill") return;
  const { permit, held, call } = admitted;
  held.release();
  held.freeTask();
  if (permit.kind !== "text") agent.forgo(permit.clearance, call.caller, code);
}
