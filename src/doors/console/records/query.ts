// What an address narrows a table by. What is no filter is left out: an address that somebody shortened still shows something.

/** One of the words that a filter knows. */
export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly T[],
): T | undefined {
  const given = query.get(name)
  return known.find((word) => word === given)
}

const MAX_TEXT = 253

/** A text that must be met exactly; no longer than a host can be. */
export function text(query: URLSearchParams, name: string): string | undefined {
  const given = query.get(name)?.trim().slice(0, MAX_TEXT)
  return given === '' ? undefined : given
}

const DAY_MS = 86_400_000
const toDay = (given: string | null): number | undefined => {
  if (given === null || !/^\d{4}-\d{2}-\d{2}$/.test(given)) return undefined
  const at = Date.parse(`${given}T00:00:00Z`)
  return Number.isNaN(at) ? undefined : at
}

/** From the first moment of `since` (UTC) to the last one of `until`. */
export function days(query: URLSearchParams): {
  readonly since?: number | undefined
  readonly until?: number | undefined
} {
  const last = toDay(query.get('until'))
  return { since: toDay(query.get('since')), until: last === undefined ? undefined : last + DAY_MS }
}

/** Where the page begins: what the one before it named as `next`. */
export function cursor(query: URLSearchParams): string | undefined {
  const given = query.get('before')
  return given !== null && /^[\w~-]{1,64}$/.test(given) ? given : undefined
}
