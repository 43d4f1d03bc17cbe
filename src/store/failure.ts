// A failure in an engine, in words that may leave the store. A driver's text can quote rows, hosts and
// passwords, so it goes no further than `cause`, of which the log prints the stack only.
import { type ErrorCode, GatewayError } from '../core/errors.ts'

/** A failure as data: what the SQLite worker posts to the main thread. */
export interface Failure {
  readonly code: ErrorCode
  readonly detail: string
  readonly reason: string | undefined
}

const UNIQUE = {
  code: 'state_conflict',
  detail: 'Something with this identity exists already. Read it, or use another name.',
} as const
const UNAVAILABLE = {
  code: 'store_unavailable',
  detail:
    'The store could not take this just now; it is not known whether it did. Read the state, then try again.',
} as const
const INTERNAL = {
  code: 'internal',
  detail: 'The store refused this. Give the operator the request_id.',
} as const

const NOT_TEXT = {
  code: 'input_invalid',
  detail:
    'A text of the input holds the character U+0000, which cannot be stored or looked up. Leave it out.',
} as const

// SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE
const SQLITE_DUPLICATE = new Set([1555, 2067])
// BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN
const SQLITE_ENVIRONMENT = new Set([5, 6, 7, 8, 10, 11, 13, 14])

/** @param thrown whatever a driver threw; an error of ours is told as it is */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof GatewayError)
    return { code: thrown.code, detail: thrown.message, reason: thrown.reason }
  const number = property(thrown, 'errcode')
  if (typeof number === 'number') {
    const reason = `sqlite ${number}`
    if (SQLITE_DUPLICATE.has(number)) return { ...UNIQUE, reason }
    // The low byte is the primary code; the rest says where in the file it happened.
    return { ...(SQLITE_ENVIRONMENT.has(number & 255) ? UNAVAILABLE : INTERNAL), reason }
  }
  const code = property(thrown, 'code')
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
    const reason = `postgres ${code}`
    if (code === '23505') return { ...UNIQUE, reason }
    // PostgreSQL has no NUL in its texts; it is the one character of a JSON string that it refuses.
    if (code === '22021') return { ...NOT_TEXT, reason }
    // Classes: 08 connection, 25 wrong transaction state (read-only after a failover), 53 resources, 57 operator, 58 system; and a lock that
    // somebody else kept for longer than the operator has his server wait.
    return { ...(/^(08|25|53|55P03|57|58|40)/.test(code) ? UNAVAILABLE : INTERNAL), reason }
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return { ...UNAVAILABLE, reason: code }
  // pg reports a lost connection or an exhausted pool as a bare Error.
  if (thrown instanceof Error && /connection|timeout|terminat|ended/i.test(thrown.message))
    return { ...UNAVAILABLE, reason: 'connection' }
  return { ...INTERNAL, reason: thrown instanceof Error ? thrown.name : typeof thrown }
}

/** The failure as the error that callers see; `cause` goes to the log alone. */
export function toStoreError(failure: Failure, cause?: unknown): GatewayError {
  const { code, detail, reason } = failure
  return new GatewayError(code, detail, {
    ...(cause === undefined ? {} : { cause }),
    ...(reason === undefined ? {} : { reason }),
    ...(code === 'store_unavailable' ? { extras: { retry_after_seconds: 2 } } : {}),
  })
}

/** @returns 503 store_unavailable; the gateway is shutting down */
export const storeClosed = () =>
  new GatewayError('store_unavailable', 'The gateway is shutting down. Try again in a moment.', {
    reason: 'closed',
    extras: { retry_after_seconds: 5 },
  })

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined
