// Free keys: anybody may have one, and nobody a heap of them. The store counts what a network was given, so that all
// gateways on one database count together; its counters say the network, and are gone after two days.
import { isIPv4, isIPv6 } from 'node:net'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { must } from '../lib/must.ts'
import { Secret } from '../lib/secret.ts'
import type { FreeKey } from './ports.ts'
import type { Store } from '../store/ports.ts'
import { hashToken, newToken } from '../lib/tokens.ts'

export interface FreeKeyParts {
  readonly store: Pick<Store, 'createEmailKey'>
  /** Addresses per key and day; 0: no limit. */
  readonly dailyQuota: number
  /** False where the operator switched limits off. */
  readonly isLimited: boolean
  readonly now: () => number
}

const HOUR_MS = 3600 * 1000
/** The windows follow the clock (UTC) and are named by the beginning of the time as ISO 8601 writes it. */
const WINDOWS = [
  { keys: 5, ms: HOUR_MS, named: '2026-11-21T13'.length, words: 'an hour' },
  { keys: 20, ms: 24 * HOUR_MS, named: '2026-11-21'.length, words: 'a day' },
] as const

/** @returns makes a key for who calls from this address. @throws {GatewayError} rate_limited */
export function createFreeKeys({ store, dailyQuota, isLimited, now }: FreeKeyParts) {
  return async (address: string): Promise<FreeKey> => {
    const createdAt = now()
    const time = new Date(createdAt).toISOString()
    const holder = networkOf(address)
    const token = newToken('ek')
    const key = { id: newId('ek', createdAt), createdAt, revokedAt: null, lastSeenDay: time.slice(0, 10) }
    const made = await store.createEmailKey({
      key,
      keyHash: hashToken(token),
      limits: isLimited
        ? WINDOWS.map(({ keys, named }) => ({ holder, period: time.slice(0, named), keys }))
        : [],
    })
    if (!made.ok) throw enough(must(WINDOWS[made.reached], 'the window that the store calls full'), createdAt)
    return {
      id: key.id,
      createdAt,
      dailyQuota: dailyQuota === 0 ? null : dailyQuota,
      token: new Secret(token),
    }
  }
}

function enough({ keys, ms, words }: (typeof WINDOWS)[number], at: number): GatewayError {
  const seconds = Math.ceil((ms - (at % ms)) / 1000)
  return new GatewayError(
    'rate_limited',
    `At most ${keys} free keys ${words} for one network. Use the key that you have, or try again in ${seconds} s.`,
    { extras: { retry_after_seconds: seconds } },
  )
}

/** The network that one person is likely to hold: IPv4 /24, IPv6 /48. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const v4 = mapped ?? address
  if (isIPv4(v4)) return `${v4.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(address)) return 'unknown'
  const [head = '', tail = ''] = address.replace(/%.*$/s, '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::')
    ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
    : []
  const groups = [...left, ...gap, ...right]
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
  return `${groups.join(':')}::/48`
}
