// The permit itself: its claims, how long it holds, and how to find its row.
import { hash, timingSafeEqual } from 'node:crypto'
import { isObject } from '../lib/json.ts'
import type { Mandate } from '../store/ports.ts'
import type { BoundRequest } from './binding.ts'
import { APPROVAL_WINDOW_MS, PERMIT_TTL_MS } from './ports.ts'

export interface PermitClaims {
  readonly iss: string
  /** The gateway that executes it: the same installation. */
  readonly aud: string
  readonly jti: string
  readonly iat: number
  readonly exp: number
  readonly mandate_id: string
  readonly mandate_digest: string
  readonly request: BoundRequest
  readonly credential_id: string
  readonly credential_version: number
  readonly max_cost: number
  readonly single_use: true
  /** A person has to approve it first. */
  readonly approval?: 'required'
}

export interface Lifetime {
  /** The row's expiry; while it waits for a person, until when it can be approved. */
  readonly expiresAt: number
  /** The JWS's expiry, which cannot be changed later: where somebody approves, the latest that this could make it. */
  readonly latest: number
}

/**
 * Milliseconds from preparation; the end never lies beyond the mandate's.
 * @param isApproved whether people are asked first
 */
export function lifetimeOf(mandate: Pick<Mandate, 'expiresAt'>, isApproved: boolean, now: number): Lifetime {
  const until = (time: number) => Math.min(time, mandate.expiresAt)
  if (!isApproved) {
    const expiresAt = until(now + PERMIT_TTL_MS)
    return { expiresAt, latest: expiresAt }
  }
  const expiresAt = until(now + APPROVAL_WINDOW_MS)
  return { expiresAt, latest: until(expiresAt + PERMIT_TTL_MS) }
}

/** Milliseconds to the whole seconds of a JWT (RFC 7519, NumericDate), rounded down. */
export const toSeconds = (time: number) => Math.floor(time / 1000)

/** hex SHA-256 of the compact JWS. */
export const hashPermit = (jws: string): string => hash('sha256', jws, 'hex')

/** Compares two hashes as text in a time that does not tell where they differ. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const COMPACT = /^[\w-]+\.([\w-]+)\.[\w-]+$/
const PERMIT_ID = /^pmt_[0-9a-z]{35}$/

/**
 * Reads the claims of a compact JWS, unverified: enough to find the row that tells whether these very bytes were signed here.
 * @returns undefined where it is no permit of any gateway
 */
export function readClaims(jws: string): PermitClaims | undefined {
  const body = COMPACT.exec(jws)?.[1]
  if (body === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    return isClaims(claims) ? claims : undefined
  } catch {
    return undefined
  }
}

/** The id alone is judged: the row under it says whether these bytes were signed here. */
const isClaims = (value: unknown): value is PermitClaims =>
  isObject(value) && typeof value['jti'] === 'string' && PERMIT_ID.test(value['jti'])
