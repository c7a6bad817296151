/**
 * A value as it comes back out of the ledger: what JSON keeps of `T`. Live and replayed alike the body gets the stored
 * form, so the types say it: nothing returned is `null`. What JSON can't hold (a Date, a Map, a function, a BigInt) is
 * refused at run time with INVALID_OUTPUT, and its type is a sentence that says so.
 *
 * @example Stored<{ at: Date }> // { at: NotStorable<Date> }: return at.toISOString() instead
 */
export type Stored<T> = unknown extends T
  ? T // unknown, and any
  : T extends undefined | void
    ? null
    : T extends string | number | boolean | null
      ? T
      : T extends Unstorable
        ? NotStorable<T>
        : T extends readonly unknown[]
          ? { [K in keyof T]: Stored<T[K]> }
          : { [K in keyof T]: StoredProperty<T[K]> };

// A property that is undefined is left out, which reads the same.
type StoredProperty<T> = unknown extends T ? T : T extends undefined ? undefined : Stored<T>;

type Unstorable =
  | bigint
  | symbol
  | ((...args: any[]) => unknown)
  | (abstract new (...args: any[]) => unknown)
  | Date
  | RegExp
  | Error
  | Promise<unknown>
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<object, unknown>
  | WeakSet<object>
  | ArrayBuffer
  | ArrayBufferView;

/** What is printed where a value is used that was never stored. */
export interface NotStorable<T> {
  readonly error: 'A step stores what its body returns as JSON, which cannot hold this: return plain data';
  readonly returned: T;
}
