import { isScalar, type Scalar } from "../../caveats/scalar.js";

/** UTF-16 code units of a field's or a collection's name. */
export const MAX_NAME_LENGTH = 256;
/** UTF-16 code units of a text in a field or a condition. */
export const MAX_TEXT_LENGTH = 1024;
/** UTF-8 bytes of a resource's name. */
export const MAX_RESOURCE_NAME_BYTES = 512;

/** Whether a value can be a field's: a scalar; of texts, one of at most 1024 code units. */
export function isFilterable(value: unknown): value is Scalar {
  return isScalar(value) && (typeof value !== "string" || value.length <= MAX_TEXT_LENGTH);
}
