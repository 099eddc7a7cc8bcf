import { isJsonObject, isTexts, type Json, type JsonObject } from "../../../bytes/json.js";
import { ENVELOPE } from "../messages.js";
import { hasSdkResult } from "./types.js";

/** Properties that every answer has. A result's property with one of these names is left out of the answer. */
export const TAKEN: readonly string[] = [...ENVELOPE, "version", "req_id", "correlation_id"];

/**
 * Formats an answer for the SDK's client. The result of a tool or a skill is in `data`. The properties of any other
 * result are properties of the answer itself.
 *
 * @param milliseconds - The duration of the call.
 */
export function sdkAnswer(
  operation: string,
  name: string,
  result: Json,
  milliseconds: number,
): JsonObject {
  if (hasSdkResult(operation)) {
    const data = { success: true, data: result, duration_ms: Math.round(milliseconds) };
    return operation === "tool/call" ? { data: { ...data, tool_name: name } } : { name, data };
  }
  if (!isJsonObject(result)) return { data: result };
  return Object.fromEntries(Object.entries(result).filter(([member]) => !TAKEN.includes(member)));
}

/** Formats a part of an answer, with the type by which the SDK's client recognizes parts. */
export function sdkPart(operation: string, chunk: Json): JsonObject {
  const type = { "tool/call": "tool/event", "skill/call": "skill/event" }[operation];
  const data = isJsonObject(chunk) ? chunk : { value: chunk };
  return { type: type ?? "invoke/event", kind: "status", data };
}

/** Filters for a list of tools. */
export interface ToolFilter {
  /** A string that the name, the description or a tag must contain, ignoring case; empty for all tools. */
  readonly query: string;
  /** Tags that a tool must have, ignoring case. */
  readonly tags: readonly string[];
}

/**
 * Formats the result of `tool/list` for the SDK's client, after filtering it. {@link sdkAnswer} formats all other
 * results.
 */
export function sdkTools(result: Json, { query, tags }: ToolFilter): JsonObject {
  const listed = isJsonObject(result) ? (result["tools"] ?? []) : result;
  const tools = (Array.isArray(listed) ? listed : []).flatMap(toolOf);
  const wanted = query.toLowerCase();
  const shown = tools.filter((tool) => {
    const own = tagsOf(tool).map((tag) => tag.toLowerCase());
    const texts = [tool["name"], tool["description"], ...own];
    if (!tags.every((tag) => own.includes(tag.toLowerCase()))) return false;
    return texts.some((text) => typeof text === "string" && text.toLowerCase().includes(wanted));
  });
  return { tools: shown };
}

function tagsOf({ tags }: JsonObject): readonly string[] {
  return isTexts(tags) ? tags : [];
}

/** Formats a listed tool for the SDK's client. Returns an empty array if the tool has no name. */
function toolOf(listed: Json): readonly JsonObject[] {
  const tool: JsonObject =
    typeof listed === "string" ? { name: listed } : isJsonObject(listed) ? listed : {};
  const { name, description, input } = tool;
  if (typeof name !== "string") return [];
  return [
    {
      name,
      description: typeof description === "string" ? description : "",
      input_parameters: parametersOf(input),
      tags: tagsOf(tool),
      ...(input === undefined ? {} : { input }),
    },
  ];
}

/** Converts the properties of a schema to the SDK's parameters. */
function parametersOf(schema: Json | undefined): readonly JsonObject[] {
  if (schema === undefined || !isJsonObject(schema)) return [];
  const { properties, required } = schema;
  if (properties === undefined || !isJsonObject(properties)) return [];
  const needed = isTexts(required) ? required : [];
  return Object.entries(properties).map(([name, property]) => ({
    ...parameterOf(name, property),
    required: needed.includes(name),
  }));
}

function parameterOf(name: string, schema: Json): JsonObject {
  const { type, description, enum: values } = isJsonObject(schema) ? schema : {};
  const first = Array.isArray(type) ? type[0] : type;
  const nested = parametersOf(schema);
  return {
    name,
    type: typeof first === "string" ? first : "any",
    description: typeof description === "string" ? description : "",
    // The SDK's client reads only an `enum` of strings. For any other `enum`, it would drop the whole list of tools.
    ...(isTexts(values) ? { enum: values } : {}),
    ...(nested.length === 0
      ? {}
      : { properties: Object.fromEntries(nested.map((one) => [String(one["name"]), one])) }),
  };
}
