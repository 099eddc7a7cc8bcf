import { hash } from "node:crypto";
import { isTexts } from "../../../bytes/json.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import { textOf } from "../../../stores/stored-values.js";
import type { TaskDatabase } from "./task-database.js";

/** A message that asks for something to run. */
export interface TaskMessage {
  /** The user on whose behalf it is sent, and the sending agent. */
  readonly principal: string;
  readonly invoker: string;
  /** Unique among the messages of that party. */
  readonly id: string;
  /** A hash of what it asks for. */
  readonly hash: string;
}

/** What an earlier message with the same id has started. */
export interface Earlier {
  /** The id of the task. */
  readonly task: string;
  /** True if that message asked for the same. */
  readonly same: boolean;
}

type KeptMessage = Pick<StoreTables["message"], "key" | "hash">;

/** Stores a message with the task that it starts, unless it has started one already. */
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

/** The keys of the messages that have started something in a task, as stored in its row. */
export function keysIn({ messages }: { readonly messages: string | null }): readonly string[] {
  const keys: unknown = messages === null ? [] : JSON.parse(messages);
  if (isTexts(keys)) return keys;
  throw new TypeError("these are no keys of messages");
}

/** Returns what an earlier message with the same id from the same party has started. */
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

/** The key of a stored message: a hash of its sender and id. */
export function keptMessage({ principal, invoker, id, hash: asked }: TaskMessage): KeptMessage {
  return {
    key: hash("sha256", JSON.stringify([principal, invoker, id]), "base64url"),
    hash: asked,
  };
}
