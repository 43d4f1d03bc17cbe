// A value that cannot print. Whatever serialises it (template, JSON, util.inspect, structuredClone) gets "[secret]".
import { inspect } from 'node:util'

export class Secret<T> {
  /** A private field is no property: no reflection, serialiser or inspector of the language finds it. */
  readonly #value: T

  constructor(value: T) {
    this.#value = value
    Object.freeze(this)
  }

  /** The only way in. The value must not outlive `fn` in anything that is logged or stored. */
  use<R>(fn: (value: T) => R): R {
    return fn(this.#value)
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
