// A value that cannot print. Whatever serialises it (template, JSON, util.inspect, structuredClone) gets "[secret]".
import { inspect } from 'node:util'

const values = new WeakMap<Secret<unknown>, unknown>()

export class Secret<T> {
  constructor(value: T) {
    values.set(this, value)
    Object.freeze(this)
  }

  /** The only way in. The value must not outlive `fn` in anything that is logged or stored. */
  use<R>(fn: (value: T) => R): R {
    return fn(values.get(this) as T)
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [Symbol.toPrimitive](): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
