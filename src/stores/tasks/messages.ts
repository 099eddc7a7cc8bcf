import { hash } from "node:crypto";
import type { Kysely } from "kysely";
import { isTexts } from "../../bytes/json.js";
import { fixedQuery } from "../../storage/fixed-query.js";
import type { StoreTables } from "../database.js";
import { textOf } from "../sound.js";
import type { Tasks } from "./tasks.js";

/** A message that asks for something to run. */
export interface TaskMessage {
  /** The user on whose behalf, and the agent that sends it. */
  readonly principal: string;
  readonly invoker: string;
  /** Unique among the messages of that party. */
  readonly id: string;
  /** A hash of what it asks for. */
  readonly hash: string;
}

/** What a message of the same id has begun before. */
export interface Earlier {
  /** The id of the task. */
  readonly task: string;
  /** Whether it asked for the same. */
  readonly same: boolean;
}

const insertMessage = fixedQuery<StoreTables, StoreTables["message"], unknown>((db, later) =>
  db
    .insertInto("message")
    .values({ key: later("key"), hash: later("hash"), task: later("task") })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .compile(),
);

const selectMessage = fixedQuery<StoreTables, { readonly key: string }, MessageRow>((db, later) =>
  db.selectFrom("message").select(["hash", "task"]).where("key", "=", later("key")).compile(),
);

type KeptMessage = Pick<StoreTables["message"], "key" | "hash">;
type MessageRow = Pick<StoreTables["message"], "hash" | "task">;

/** Keeps a message with the task that it begins, unless it has begun one before. */
export async function keepMessage(
  db: Kysely<StoreTables>,
  message: KeptMessage,
  task: string,
  tasks: Tasks,
): Promise<Earlier | undefined> {
  const row = { ...message, task: JSON.stringify(task) };
  const { numAffectedRows: fresh = 0n } = await insertMessage(db, row);
  return fresh > 0n ? undefined : earlierOf(db, message, tasks);
}

/** The keys of the messages that have begun something in a task, as its row has them. */
export function keysIn({ messages }: { readonly messages: string | null }): readonly string[] {
  const keys: unknown = messages === null ? [] : JSON.parse(messages);
  if (isTexts(keys)) return keys;
  throw new TypeError("these are no keys of messages");
}

/** What a message has begun before, if one of the same id came from the same party. */
export async function earlierOf(
  db: Kysely<StoreTables>,
  { key, hash }: KeptMessage,
  tasks: Tasks,
): Promise<Earlier | undefined> {
  const { rows } = await selectMessage(db, { key });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { task: tasks.sound(() => textOf(row.task)), same: row.hash === hash };
}

/** A message as it is kept: under a hash of who sent it and of its id. */
export function keptMessage({ principal, invoker, id, hash: asked }: TaskMessage): KeptMessage {
  return {
    key: hash("sha256", JSON.stringify([principal, invoker, id]), "base64url"),
    hash: asked,
  };
}
