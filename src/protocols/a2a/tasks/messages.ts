import { hash } from "node:crypto";
import { isTexts } from "../../../bytes/json.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import { textOf } from "../../../stores/stored-values.js";
import type { TaskDatabase } from "./task-database.js";

/** A message that starts work. */
export interface TaskMessage {
  /** The user on whose behalf the message is sent. */
  readonly principal: string;
  readonly invoker: string;
  /** The message id, which is unique among the messages of this party. */
  readonly id: string;
  /** A hash of the message's request. */
  readonly hash: string;
}

/** The task that an earlier message with the same id has started. */
export interface Earlier {
  /** The id of the task. */
  readonly task: string;
  /** True if the earlier message had the same request. */
  readonly same: boolean;
}

type KeptMessage = Pick<StoreTables["message"], "key" | "hash">;

/**
 * Stores a message with the task that it starts.
 *
 * @returns The task of an earlier message with the same id; `undefined` if there is none. Nothing is stored if
 *   there is an earlier message.
 */
export async function keepMessage(
  db: StoreQueries,
  message: KeptMessage,
  task: string,
  tasks: TaskDatabase,
): Promise<Earlier | undefined> {
  const { numInsertedOrUpdatedRows: fresh = 0n } = await db
    .insertInto("message")
    .values({ ...message, task: JSON.stringify(task) })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .executeTakeFirstOrThrow();
  return fresh > 0n ? undefined : earlierOf(db, message, tasks);
}

/** Returns the keys of the messages that have started work in a task, as stored in the task's row. */
export function keysIn({ messages }: { readonly messages: string | null }): readonly string[] {
  const keys: unknown = messages === null ? [] : JSON.parse(messages);
  if (isTexts(keys)) return keys;
  throw new TypeError("these are no keys of messages");
}

/**
 * Returns the task started by an earlier message with the same id from the same party; `undefined` if there is
 * none.
 */
export async function earlierOf(
  db: StoreQueries,
  { key, hash }: KeptMessage,
  tasks: TaskDatabase,
): Promise<Earlier | undefined> {
  const row = await db
    .selectFrom("message")
    .select(["hash", "task"])
    .where("key", "=", key)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { task: tasks.readStored(() => textOf(row.task)), same: row.hash === hash };
}

/** Returns the stored form of a message. Its key is a hash of the sender and the message id. */
export function keptMessage({ principal, invoker, id, hash: asked }: TaskMessage): KeptMessage {
  return {
    key: hash("sha256", JSON.stringify([principal, invoker, id]), "base64url"),
    hash: asked,
  };
}
