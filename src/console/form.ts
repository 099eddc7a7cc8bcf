import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { contentType } from "../http/body.js";
import { type FaultWriter, type HttpFault, invalidRequest } from "../http/fault.js";

/** Largest form, in bytes. It suffices for several hundred fields. */
const MAX_BYTES = 128 * 1024;
const MAX_FIELDS = 2000;
const TYPE = "application/x-www-form-urlencoded";

/** A parsed form. Reading a field as a single value throws if the form has several fields with this name. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(text = "") {
    this.#fields = new URLSearchParams(text);
  }

  /**
   * Returns the only value of a field; an empty string if the field is absent.
   *
   * @throws FormError if the field has several values.
   */
  text(name: string): string {
    const values = this.#fields.getAll(name);
    if (values.length > 1) throw new FormError(`the form has "${name.slice(0, 64)}" twice`);
    return values[0] ?? "";
  }

  all(name: string): readonly string[] {
    return this.#fields.getAll(name);
  }

  /** Returns the fields that are not empty, except those in `names`, as a URL-encoded string. */
  without(names: readonly string[]): string {
    const kept = [...this.#fields].filter(([name, value]) => value !== "" && !names.includes(name));
    return new URLSearchParams(kept).toString();
  }

  /** Returns the distinct names of the fields. */
  names(): readonly string[] {
    return [...new Set(this.#fields.keys())];
  }
}

/** Thrown for a form that no page of this server can have sent. */
export class FormError extends Error {
  override readonly name = "FormError";
}

/** Returns middleware that reads forms up to a size limit. {@link formOf} then returns the form. */
export function readForms(answer: FaultWriter): readonly (RequestHandler | ErrorRequestHandler)[] {
  const read = express.text({ type: TYPE, limit: MAX_BYTES, inflate: false });
  const check: RequestHandler = (req, res, next) => {
    if (req.method !== "POST") return next();
    const { body }: { body: unknown } = req;
    if (typeof body !== "string") {
      return answer(res, invalidRequest("there is no form"));
    }
    if (body.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) {
      return answer(res, invalidRequest(`the form has more than ${MAX_FIELDS} fields`));
    }
    req.body = new Form(body);
    return next();
  };
  const refuseUnreadable: ErrorRequestHandler = (
    error: { readonly type?: unknown },
    _req,
    res,
    next,
  ) => {
    const fault = faultOf(error.type);
    if (fault === undefined) return next(error);
    return answer(res, fault);
  };
  return [contentType([TYPE], answer), read, check, refuseUnreadable];
}

/**
 * Returns the form of a request.
 *
 * @throws FormError if the request has none.
 */
export function formOf(req: { readonly body?: unknown }): Form {
  if (req.body instanceof Form) return req.body;
  throw new FormError("there is no form");
}

function faultOf(type: unknown): HttpFault | undefined {
  if (type === "entity.too.large") {
    const message = `the form has more than ${MAX_BYTES} bytes`;
    return { status: 413, reason: "too_large", message };
  }
  if (type === "encoding.unsupported") return invalidRequest("the form must not be compressed");
  return typeof type === "string" ? invalidRequest("the form cannot be read") : undefined;
}
