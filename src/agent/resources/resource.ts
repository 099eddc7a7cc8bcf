// src/agent/resources: what a capability can name. This file has a resource and the interface of a source;
// filter.ts reads queries and matches resources. The sources themselves are in src/sources.

import type { Scalar } from "../../caveats/scalar.js";

/** Something that a capability can name by a handle. */
export interface Resource {
  /** The issuer's own name for it, such as a path; at most 512 bytes of UTF-8. Callers see handles alone. */
  readonly name: string;
  /** The name that callers see. */
  readonly displayName: string;
  /** The collection it is in, or, of a collection, its own name. */
  readonly collection: string;
  /** `item`, or `collection` for the collection itself, which is named to add something to it. */
  readonly kind: "item" | "collection";
  /** The fields to filter on. */
  readonly fields: { readonly [field: string]: Scalar };
}

/** One condition on a field: an exact value, or all of the operators given. */
export type FieldCondition =
  | Scalar
  | {
      readonly in?: readonly Scalar[];
      /** Inclusive; numbers, or texts such as dates, compared by UTF-16 code units. */
      readonly min?: number | string;
      readonly max?: number | string;
    };

/** Conditions by field: all must hold. A field that a resource does not have holds none. */
export interface ResourceFilter {
  readonly [field: string]: FieldCondition;
}

/** Which resources a request is about. */
export interface ResourceQuery {
  readonly collection: string;
  readonly filter?: ResourceFilter;
}

/** The reason why a query cannot be answered, with the known values at that place. */
export interface QueryDenial {
  readonly code: "unknown_collection" | "unknown_field" | "unknown_operator" | "invalid_value";
  /** The place in the query: `collection`, `filter`, `filter.FIELD`, or an unknown property. */
  readonly path: string;
  /** The known values there, for a caller that asks again. */
  readonly known: readonly string[];
  readonly message: string;
}

/** A query, or a filter, that is refused. */
export interface QueryRefusal {
  readonly ok: false;
  readonly denial: QueryDenial;
}

/** The result of a query, or the reason why it failed. */
export type QueryResult =
  | {
      readonly ok: true;
      /** In a stable order. */
      readonly resources: readonly Resource[];
    }
  | QueryRefusal;

/** The source of an issuing agent's resources. It does not know principals; a policy does. */
export interface ResourceSource {
  /** The names of the collections, in order. */
  collections(): Promise<readonly string[]>;
  /**
   * Items of one collection.
   *
   * @param query - As a caller sent it: its shape has been checked, but not that its collection and
   *   fields exist.
   */
  find(query: ResourceQuery): Promise<QueryResult>;
  /** The resource of that name, an item or a collection, as it is now; `undefined` if it is gone. */
  get(name: string): Promise<Resource | undefined>;
  /** A collection's fields if they are fixed, like a table's. Without it, denials omit the fields of hidden items. */
  declaredFields?(collection: string): readonly string[] | undefined;
  /** A name's collection, there or not: who may use all of that gets `resource_gone`, not `policy_denied`. */
  collectionOf?(name: string): string | undefined;
  /** The name of a collection itself, to be sealed as a handle; `undefined` if it has no name. */
  nameOfCollection(collection: string): Promise<string | undefined>;
}
