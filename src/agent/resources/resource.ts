// Resources that capabilities can name, and the interface of a source of resources. Queries and matching are in
// filter.ts; the sources themselves are in src/sources.

import type { Scalar } from "../../caveats/scalar.js";

/** Something that a capability can name by a handle. */
export interface Resource {
  /** The issuer's own name of the resource, such as a path; at most 512 bytes of UTF-8. Callers only see handles. */
  readonly name: string;
  /** The name that callers see. */
  readonly displayName: string;
  /** The collection that contains the resource; for a collection, its own name. */
  readonly collection: string;
  /**
   * `item`, or `collection` for the collection itself. A capability that names a collection can allow adding
   * items to it.
   */
  readonly kind: "item" | "collection";
  /** The fields that filters can use. */
  readonly fields: { readonly [field: string]: Scalar };
}

/** One condition on a field: an exact value, or operators that must all hold. */
export type FieldCondition =
  | Scalar
  | {
      readonly in?: readonly Scalar[];
      /** Inclusive bound. Strings, such as dates, are compared by UTF-16 code units. */
      readonly min?: number | string;
      readonly max?: number | string;
    };

/** Conditions by field; all must hold. A condition on a field that the resource lacks never holds. */
export interface ResourceFilter {
  readonly [field: string]: FieldCondition;
}

/** Selects the resources that a request is about. */
export interface ResourceQuery {
  readonly collection: string;
  readonly filter?: ResourceFilter;
}

/** The reason why a query is refused. */
export interface QueryDenial {
  readonly code: "unknown_collection" | "unknown_field" | "unknown_operator" | "invalid_value";
  /** The place in the query: `collection`, `filter`, `filter.FIELD`, or an unknown property. */
  readonly path: string;
  /** The names that are valid at `path`; empty if `code` is `invalid_value`. */
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

/** The source of an issuing agent's resources. Only the policy decides which principal may use a resource. */
export interface ResourceSource {
  /** Returns the sorted names of the collections. */
  collections(): Promise<readonly string[]>;
  /**
   * Finds items of one collection.
   *
   * @param query - An untrusted query of the right shape. Its collection and fields may not exist.
   */
  find(query: ResourceQuery): Promise<QueryResult>;
  /** Returns the item or collection with that name as it is now; `undefined` if it no longer exists. */
  get(name: string): Promise<Resource | undefined>;
  /**
   * Returns the fields of a collection with fixed fields, such as a table. If it returns `undefined`, denials
   * list only fields of items that the principal may see.
   */
  declaredFields?(collection: string): readonly string[] | undefined;
  /**
   * Returns the collection of a resource name, even if the resource is gone. A caller that may use the whole
   * collection then gets `resource_gone` instead of `policy_denied`.
   */
  collectionOf?(name: string): string | undefined;
  /** Returns the resource name of a collection itself, from which its handle is made; `undefined` if it has none. */
  nameOfCollection(collection: string): Promise<string | undefined>;
}
