import { hash } from "node:crypto";
import { isTexts } from "../../../bytes/json.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import { textOf } from "../../../stores/stored-values.js";
import type { TaskDatabase } from "./task-database.js";

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

type KeptMessage = Pick<StoreTables["message"], "key" | "hash">;

/** Keeps a message with the task that it begins, unless it has begun one before. */
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

/** The keys of the messages that have begun something in a task, as its row has them. */
export function keysIn({ messages }: { readonly messages: string | null }): readonly string[] {
  const keys: unknown = messages === null ? [] : JSON.parse(messages);
  if (isTexts(keys)) return keys;
  throw new TypeError("these are no keys of messages");
}

/** What a message has begun before, if one of the same id came from the same party. */
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

/** A message as it is kept: under a hash of who sent it and of its id. */
export function keptMessage({ principal, invoker, id, hash: asked }: TaskMessage): KeptMessage {
  return {
    key: hash("sha256", JSON.stringify([principal, invoker, id]), "base64url"),
    hash: asked,
  };
}
