// Resources that capabilities can name, and the interface of a source of resources. Queries and matching are in
// filter.ts; the sources themselves are in src/sources.

import type { Scalar } from "../../caveats/scalar.js";

/** Something that a capability can name by a handle. */
export interface Resource {
  /** The issuer's own name for it, such as a path; at most 512 bytes of UTF-8. Callers only see handles. */
  readonly name: string;
  /** The name that callers see. */
  readonly displayName: string;
  /** The collection that it is in; for a collection itself, its own name. */
  readonly collection: string;
  /** `item`, or `collection` for the collection itself, which a capability names to allow adding to it. */
  readonly kind: "item" | "collection";
  /** The fields that filters can use. */
  readonly fields: { readonly [field: string]: Scalar };
}

/** One condition on a field: an exact value, or operators that must all hold. */
export type FieldCondition =
  | Scalar
  | {
      readonly in?: readonly Scalar[];
      /** Inclusive. Numbers, or strings such as dates, which are compared by UTF-16 code units. */
      readonly min?: number | string;
      readonly max?: number | string;
    };

/** Conditions by field; all must hold. A field that the resource lacks never matches. */
export interface ResourceFilter {
  readonly [field: string]: FieldCondition;
}

/** Selects the resources that a request is about. */
export interface ResourceQuery {
  readonly collection: string;
  readonly filter?: ResourceFilter;
}

/** The reason why a query is refused, with the valid values at that place. */
export interface QueryDenial {
  readonly code: "unknown_collection" | "unknown_field" | "unknown_operator" | "invalid_value";
  /** The place in the query: `collection`, `filter`, `filter.FIELD`, or an unknown property. */
  readonly path: string;
  /** The valid values there, for another try. */
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

/** The source of an issuing agent's resources. It knows nothing of principals; the policy does. */
export interface ResourceSource {
  /** Returns the sorted names of the collections. */
  collections(): Promise<readonly string[]>;
  /**
   * Finds items of one collection.
   *
   * @param query - An untrusted query: its shape has been checked, but not that its collection and fields
   *   exist.
   */
  find(query: ResourceQuery): Promise<QueryResult>;
  /** Returns the item or collection with that name as it is now; `undefined` if it no longer exists. */
  get(name: string): Promise<Resource | undefined>;
  /**
   * Returns a collection's fields if they are fixed, as for a table. Otherwise `undefined`, and denials omit
   * the fields of hidden items.
   */
  declaredFields?(collection: string): readonly string[] | undefined;
  /**
   * Returns the collection to which a name belongs, even if the resource is gone. A caller that may use the
   * whole collection then gets `resource_gone` instead of `policy_denied`.
   */
  collectionOf?(name: string): string | undefined;
  /** Returns the resource name of a collection itself, to be sealed as a handle; `undefined` if it has none. */
  nameOfCollection(collection: string): Promise<string | undefined>;
}
