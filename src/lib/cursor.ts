// Places in an order, and cursors that stay true while entries come and go: a cursor names the last entry seen, not how many.
import { createHash } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { parseJson } from './json.ts'

/** The place of an entry in an order: compared part by part, ascending. */
export type Position = readonly [number, number, string]

/** Negative where `a` comes first. */
export function comparePositions(a: Position, b: Position): number {
  return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0)
}

/**
 * The first `count` after `after` in the order of their positions, without sorting the rest.
 * @param after undefined: from the beginning
 */
export function takeFirst<T>(
  items: Iterable<T>,
  count: number,
  positionOf: (item: T) => Position,
  after: Position | undefined,
): T[] {
  const taken: { item: T; position: Position }[] = []
  for (const item of items) {
    const position = positionOf(item)
    if (after && comparePositions(position, after) <= 0) continue
    const last = taken.length === count ? taken.at(-1) : undefined
    if (last && comparePositions(last.position, position) <= 0) continue
    const before = taken.findLastIndex((other) => comparePositions(other.position, position) <= 0)
    taken.splice(before + 1, 0, { item, position })
    if (taken.length > count) taken.pop()
  }
  return taken.map(({ item }) => item)
}

/** @param what the order belongs to: a cursor of another list or query is refused */
export function encodeCursor(position: Position, what: string): string {
  return Buffer.from(JSON.stringify([fingerprint(what), ...position])).toString('base64url')
}

/** @throws {GatewayError} input_invalid */
export function decodeCursor(cursor: string, what: string): Position {
  let parts: unknown
  try {
    parts = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'), 2)
  } catch {
    throw badCursor('is not one that this gateway made')
  }
  const [of, first, second, id, ...rest] = Array.isArray(parts) ? (parts as unknown[]) : []
  if (typeof first !== 'number' || typeof second !== 'number' || typeof id !== 'string' || rest.length > 0)
    throw badCursor('is not one that this gateway made')
  if (of !== fingerprint(what)) throw badCursor('belongs to another query')
  return [first, second, id]
}

const fingerprint = (what: string) => createHash('sha256').update(what).digest('base64url').slice(0, 12)

const badCursor = (why: string) =>
  new GatewayError('input_invalid', `The cursor ${why}. Leave it out to start from the beginning.`, {
    extras: { fields: [{ pointer: '/cursor', message: why }] },
  })
