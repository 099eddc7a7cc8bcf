import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
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

/** Keeps a message with the task that it begins, unless it has begun one before. */
export async function keepMessage(
  db: Kysely<StoreTables>,
  message: TaskMessage,
  task: string,
  tasks: Tasks,
): Promise<Earlier | undefined> {
  const { numInsertedOrUpdatedRows: fresh = 0n } = await db
    .insertInto("message")
    .values({ key: keyOf(message), hash: message.hash, task: JSON.stringify(task) })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .executeTakeFirstOrThrow();
  return fresh > 0n ? undefined : earlierOf(db, message, tasks);
}

/** What a message has begun before, if one of the same id came from the same party. */
export async function earlierOf(
  db: Kysely<StoreTables>,
  message: TaskMessage,
  tasks: Tasks,
): Promise<Earlier | undefined> {
  const row = await db
    .selectFrom("message")
    .select(["hash", "task"])
    .where("key", "=", keyOf(message))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { task: tasks.sound(() => textOf(row.task)), same: row.hash === message.hash };
}

function keyOf({ principal, invoker, id }: TaskMessage): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, invoker, id]))
    .digest("base64url");
}
