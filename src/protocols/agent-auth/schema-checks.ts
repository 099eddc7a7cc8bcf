import type { ValidateFunction } from "ajv/dist/2020.js";
import type { CapabilityTerm } from "../../agent/registry/terms.js";
import type { Json } from "../../bytes/json.js";

/** Judges what an execution gave by its capability's output schema: what is wrong, if anything. */
export type OutputCheck = (result: Json) => string | undefined;

/**
 * Compiles the output schemas of capabilities; their input schemas are checked with the call itself.
 *
 * @throws TypeError naming the capability whose schema is wrong.
 * @throws Error if `ajv` is not installed.
 */
export async function outputChecks(
  terms: ReadonlyMap<string, CapabilityTerm>,
): Promise<ReadonlyMap<string, OutputCheck>> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    ...{ strict: true, strictRequired: false, allowUnionTypes: true, ownProperties: true },
    // Compiling what schemas are judged by takes far longer than compiling them.
    ...{ meta: false, validateSchema: false },
  });
  const checks = new Map<string, OutputCheck>();
  for (const [name, { output }] of terms) {
    if (output === undefined) continue;
    let validate: ValidateFunction;
    try {
      validate = ajv.compile(output);
      // Its answer would be a promise, which is as good as yes.
      if ("$async" in validate) throw new TypeError("it is asynchronous");
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`${name}.output: is not a valid JSON Schema: ${why}`, { cause });
    }
    checks.set(name, (result) => (validate(result) ? undefined : ajv.errorsText(validate.errors)));
  }
  return checks;
}
