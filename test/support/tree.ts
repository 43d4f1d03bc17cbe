// Reading into parsed JSON by path, for tests: undefined where the path ends early.

export type Json = Record<string, unknown>

export function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((inner, key) => (inner as Json | null | undefined)?.[key], value)
}

/** Keys of the object at the path. */
export const keysAt = (value: unknown, ...keys: readonly string[]) =>
  Object.keys((at(value, ...keys) ?? {}) as Json)
