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

/** A request that has been read, and who makes it. Nothing in it changes. */
export interface Call {
  readonly caller: Caller;
  readonly binding: Binding;
  readonly outline: Outline;
  /** Empty without one. */
  readonly tenant: string;
  /** What it presents. */
  readonly capabilities: readonly Presented[];
  /** Whether its caller declares that it uses ambient authority; nothing is presented then. */
  readonly declared: boolean;
  /** What it asks for beside its message: the attenuations of `a2a/task/send`. */
  readonly asked: Json;
  readonly connection: Connection;
}

/** The same, each token that it presents verified. */
export interface AuthenticCall extends Call {
  readonly capabilities: readonly AuthenticatedCapability[];
}

/** Which tasks a call may see, and until when. */
export interface Sight extends TaskView {
  /** When the first of its capabilities expires, as milliseconds since 1970; `Infinity` without any. */
  readonly expires: number;
}

/** What a message was given permission for, before anything runs. */
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

/** What a caller's work takes up until it is over. Each function counts once, however often it is called. */
export interface Held {
  /** Gives back the slot of the work. */
  readonly release: () => void;
  /** Lets the next message into the task that the work goes on with. */
  readonly freeTask: () => void;
}

/** A call that the gate has let in, by what it may do. */
export type Admitted =
  /** A method about capabilities, which needs a caller alone. */
  | { readonly need: "caller"; readonly call: Call }
  | { readonly need: "card"; readonly call: Call }
  | { readonly need: "task"; readonly call: AuthenticCall; readonly sight: Sight }
  | AdmittedSkill
  | AdmittedMessage
  | AnsweredMessage;

/** A skill that runs at once, without a task. */
export interface AdmittedSkill {
  readonly need: "skill";
  readonly call: AuthenticCall;
  readonly permit: SkillPermit;
  readonly held: Held;
}

/** A message that runs. */
export interface AdmittedMessage {
  readonly need: "message";
  readonly call: AuthenticCall;
  readonly sight: Sight;
  readonly permit: Permit;
  readonly held: Held;
  /** The request as it was read when permission was asked for: what runs is this one. */
  readonly request: SendMessageRequest;
  readonly message: Message;
  /** Tasks that the message refers to and its caller sees: what runs learns of no others. */
  readonly references: readonly string[];
}

/** A message that runs nothing. */
export interface AnsweredMessage {
  readonly need: "answer";
  readonly call: AuthenticCall;
  /** Absent where the answer is no task. */
  readonly sight: Sight | undefined;
  readonly request: SendMessageRequest;
  readonly reply: Message | Task;
  /** Where the progress of a task is to go that this message has begun. */
  readonly receiver: TaskPushNotificationConfig | undefined;
}

/**
 * The caller as the SDK's contexts have it, with what the gate has let in: found by {@link admittedOf} alone, and in
 * nothing that is printed.
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

/** What the gate has let in; `undefined` for a context that was not made for such a call. */
export function admittedOf({ user }: ServerCallContext): Admitted | undefined {
  return AdmittedUser.admitted(user);
}

/** The message that a context was made for. @throws TypeError if the gate has let none in. */
export function messageOf(context: ServerCallContext): AdmittedMessage {
  const admitted = admittedOf(context);
  if (admitted?.need === "message") return admitted;
  throw new TypeError("the gate has let no message in with this context");
}

/** Who makes the call that a context was made for. @throws TypeError if the gate has not let it in. */
export function callOf(context: ServerCallContext): Call {
  const admitted = admittedOf(context);
  if (admitted === undefined) throw new TypeError("this context has no authenticated caller");
  return admitted.call;
}

const STRANGER: User = { isAuthenticated: false, userName: "" };

/** Calls that one gate has let in, from there to the operation that each makes once. */
export class AdmittedCalls {
  readonly #users = new WeakMap<Request, User>();
  readonly #waiting = new WeakSet<Admitted>();

  /** Lets a call make its operation. @returns The user that the operation's context must have. */
  add(admitted: Admitted): User {
    this.#waiting.add(admitted);
    return new AdmittedUser(admitted);
  }

  /** The same for a request that goes on to the SDK's handlers. */
  addFor(req: Request, admitted: Admitted): void {
    this.#users.set(req, this.add(admitted));
  }

  /** Gives the SDK's handlers the user of a request: a stranger unless the gate has let it in. Refuses nothing. */
  readonly userBuilder = async (req: Request): Promise<User> => this.#users.get(req) ?? STRANGER;

  /**
   * Takes up the call that a context was made for, for its one operation.
   *
   * @throws A2AError unless the gate has let in such a call, and it was not taken up before.
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

  /** Gives a call up that nothing has taken up. @param code - Why, as a refusal is called in the ledger. */
  drop(admitted: Admitted, agent: IssuingAgent, code: string): void {
    if (this.#waiting.delete(admitted)) giveUp(admitted, agent, code);
  }
}

/** What an operation of the SDK needs. */
export type OperationName = "message" | "task" | "card";

/** A call that may make an operation: of messages, also those that are answered already. */
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

/** Whether the answer to a call says that the extension was in use. */
function usesExtension({ need, call }: Admitted): boolean {
  if (need === "card") return false;
  return call.capabilities.length > 0 || call.outline.inMessage !== undefined;
}

/** Without `before` in front, no operation is done. */
function notLetIn(): A2AError {
  return new A2AError(
    "this request has not come through the guard: mount its `before` in front of the SDK's handler, and give that " +
      "the guard's `userBuilder`",
  );
}

/**
 * Gives up what a call holds, where nothing has run: its slot, its task, its permit.
 *
 * @param code - Why, as a refusal is called in the ledger.
 */
export function giveUp(admitted: Admitted, agent: IssuingAgent, code: string): void {
  if (admitted.need !== "message" && admitted.need !== "skill") return;
  const { permit, held, call } = admitted;
  held.release();
  held.freeTask();
  if (permit.kind !== "text") agent.forgo(permit.clearance, call.caller, code);
}
