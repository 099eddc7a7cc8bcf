import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { contentType } from "../http/body.js";
import { type FaultWriter, type HttpFault, invalidRequest } from "../http/fault.js";

/** Bytes of a form: some hundred fields. */
const MAX_BYTES = 128 * 1024;
const MAX_FIELDS = 2000;
const TYPE = "application/x-www-form-urlencoded";

/** Parses a form. A field that can only have one value is refused with several. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(text = "") {
    this.#fields = new URLSearchParams(text);
  }

  /** The field's one value; empty if it is absent. @throws FormError */
  text(name: string): string {
    const values = this.#fields.getAll(name);
    if (values.length > 1) throw new FormError(`the form has "${name.slice(0, 64)}" twice`);
    return values[0] ?? "";
  }

  all(name: string): readonly string[] {
    return this.#fields.getAll(name);
  }

  /** The fields that have a value, but for those named; {@link Form} reads it again. */
  without(names: readonly string[]): string {
    const kept = [...this.#fields].filter(([name, value]) => value !== "" && !names.includes(name));
    return new URLSearchParams(kept).toString();
  }

  /** Every name that there is, once. */
  names(): readonly string[] {
    return [...new Set(this.#fields.keys())];
  }
}

/** A form that none of our pages sends. */
export class FormError extends Error {
  override readonly name = "FormError";
}

/** Reads the forms of pages within limits; {@link formOf} has them then. */
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

/** The form that a request sent. @throws FormError if it sent none. */
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
