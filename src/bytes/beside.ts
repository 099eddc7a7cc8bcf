/** A value beside an object of another module: seen through this alone, and gone with the object. */
export interface Beside<Owner extends object, Value> {
  get(owner: Owner): Value | undefined;
  set(owner: Owner, value: Value): void;
}

/**
 * As a `WeakMap` for many short-lived objects, at a tenth of its time: V8 keeps each value of a `WeakMap` until
 * it collects the whole heap, also where the object is long gone. The value is a private field of the object,
 * which no copy of it has. An object that is to be frozen gets it before: engines may refuse frozen ones.
 */
export function beside<Owner extends object, Value>(): Beside<Owner, Value> {
  class Field extends Given {
    #value: Value;

    constructor(owner: object, value: Value) {
      super(owner);
      this.#value = value;
    }

    static get(owner: object): Value | undefined {
      return Object(owner) === owner && #value in owner ? owner.#value : undefined;
    }

    static set(owner: object, value: Value): void {
      if (#value in owner) owner.#value = value;
      else new Field(owner, value);
    }
  }
  return Field;
}

/** What extends this puts its private fields onto the object that it is given. */
class Given {
  constructor(owner: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the only way to do that
    return owner;
  }
}
