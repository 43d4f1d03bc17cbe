// Free keys: anybody may have one, and nobody a heap of them.
import { isIPv4, isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { Secret } from '../secret.ts'
import type { FreeKey } from '../services.ts'
import type { Store } from '../store/ports.ts'
import { hashToken, newToken } from '../tokens.ts'

export interface FreeKeyParts {
  readonly store: Pick<Store, 'createEmailKey'>
  /** Addresses per key and day; 0: no limit. */
  readonly dailyQuota: number
  /** False where the operator switched limits off. */
  readonly isLimited: boolean
  readonly now: () => number
}

const HOUR_SECONDS = 3600
const WINDOWS = [
  { keys: 5, seconds: HOUR_SECONDS, words: 'an hour' },
  { keys: 20, seconds: 24 * HOUR_SECONDS, words: 'a day' },
] as const

/** @returns makes a key for who calls from this address. @throws {GatewayError} rate_limited */
export function createFreeKeys({ store, dailyQuota, isLimited, now }: FreeKeyParts) {
  const limiters = WINDOWS.map(({ keys, seconds, words }) => ({
    keys,
    words,
    limiter: new RateLimiterMemory({ points: keys, duration: seconds }),
  }))

  async function count(prefix: string): Promise<void> {
    for (const { keys, words, limiter } of limiters)
      try {
        await limiter.consume(prefix)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
        throw new GatewayError(
          'rate_limited',
          `At most ${keys} free keys ${words} for one network. Use the key that you have, or try again in ${seconds} s.`,
          { extras: { retry_after_seconds: seconds } },
        )
      }
  }

  return async (address: string): Promise<FreeKey> => {
    if (isLimited) await count(networkOf(address))
    const createdAt = now()
    const token = newToken('ek')
    const key = { id: newId('ek', createdAt), createdAt, revokedAt: null }
    await store.createEmailKey({ key, keyHash: hashToken(token) })
    return {
      id: key.id,
      createdAt,
      dailyQuota: dailyQuota === 0 ? null : dailyQuota,
      token: new Secret(token),
    }
  }
}

/** The network that one person is likely to hold: IPv4 /24, IPv6 /48. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const v4 = mapped ?? address
  if (isIPv4(v4)) return `${v4.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(address)) return 'unknown'
  const [head = '', tail = ''] = address.split('%')[0]!.split('::')
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
