import { checkFilter, matches, unknownCollection } from "../../src/agent/resources/filter.js";
import type {
  QueryResult,
  Resource,
  ResourceQuery,
  ResourceSource,
} from "../../src/agent/resources/resource.js";

/** Resources in memory, for tests with many small worlds. A collection's name ends in a slash. */
export class Shelf implements ResourceSource {
  readonly items: readonly Resource[];
  readonly #fields: readonly string[];

  constructor(items: readonly Resource[], fields: readonly string[]) {
    this.items = items;
    this.#fields = fields;
  }

  async collections(): Promise<readonly string[]> {
    return [...new Set(this.items.map(({ collection }) => collection))].sort();
  }

  async find({ collection, filter = {} }: ResourceQuery): Promise<QueryResult> {
    const known = await this.collections();
    if (!known.includes(collection)) {
      return { ok: false, denial: unknownCollection(collection, known) };
    }
    const denial = checkFilter(filter, this.#fields);
    if (denial !== undefined) return { ok: false, denial };
    const inside = this.items.filter((item) => item.collection === collection);
    return { ok: true, resources: inside.filter((item) => matches(item, filter)) };
  }

  async get(name: string): Promise<Resource | undefined> {
    const collection = name.slice(0, -1);
    if (!name.endsWith("/")) return this.items.find((item) => item.name === name);
    if (!(await this.collections()).includes(collection)) return undefined;
    return { name, displayName: collection, collection, kind: "collection", fields: {} };
  }

  async nameOfCollection(collection: string): Promise<string | undefined> {
    return (await this.collections()).includes(collection) ? `${collection}/` : undefined;
  }
}

export function item(name: string, fields: Resource["fields"]): Resource {
  const [collection = ""] = name.split("/");
  return { name, displayName: name, collection, kind: "item", fields };
}
