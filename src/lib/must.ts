// Invariants that the types cannot see. A value that a caller, a stranger or the store may leave out is no invariant: it is
// handled, not asserted.

/**
 * @param missing says what is not there, for the log: "the first of a list that was found not to be empty"
 * @throws {TypeError} where the invariant does not hold, which is a defect of the gateway
 */
export function must<T>(value: T | null | undefined, missing: string): T {
  if (value === undefined || value === null) throw new TypeError(`missing: ${missing}`)
  return value
}
