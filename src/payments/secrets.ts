// Decides whether a payment holds something that only its buyer can know. Once it is mined, the chain tells everybody its
// authorization and signature, and anybody may ask us for the prices; so neither is a secret, and two things are: the
// challenge of the very 402 that was paid, and an identifier that the buyer drew at random.
import { createHmac, type KeyObject, randomFillSync, timingSafeEqual } from 'node:crypto'
import { isObject } from '../lib/json.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { readIdentifier } from './extensions.ts'
import { OFFER_RECEIPT } from './offers.ts'
import type { Payment } from './ports.ts'

const RANDOM_BYTES = 16
const TAG_BYTES = 8
/** Challenges are as long as this, in base64url. */
export const CHALLENGE_CHARACTERS = ((RANDOM_BYTES + TAG_BYTES) * 4) / 3

export interface Secrets {
  /** A new challenge: 128 random bits, and a tag by which every replica knows that they are ours. */
  mint(): string
  /** The part of a payment that only its buyer can know; null where all of it can be read on the chain or guessed. */
  of(payment: Pick<Payment, 'extensions'>): PaymentClaim['secret']
}

/** One call of the system for random bytes costs 1 us, so the bytes of many challenges are drawn at once. */
const pool = Buffer.alloc(RANDOM_BYTES * 256)
let used = pool.length

function drawRandom(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += RANDOM_BYTES
  return pool.subarray(used - RANDOM_BYTES, used)
}

/** @param key of this installation, for this purpose alone */
export function createSecrets(key: KeyObject): Secrets {
  const tagOf = (random: Uint8Array) =>
    createHmac('sha256', key).update(random).digest().subarray(0, TAG_BYTES)

  /** What a client wrote there by itself may be the same in every payment of its users. */
  function isMinted(value: unknown): boolean {
    if (typeof value !== 'string' || value.length !== CHALLENGE_CHARACTERS) return false
    const bytes = Buffer.from(value, 'base64url')
    if (bytes.length !== RANDOM_BYTES + TAG_BYTES) return false
    return timingSafeEqual(tagOf(bytes.subarray(0, RANDOM_BYTES)), bytes.subarray(RANDOM_BYTES))
  }

  return {
    mint() {
      const random = drawRandom()
      return Buffer.concat([random, tagOf(random)]).toString('base64url')
    },
    of(payment) {
      if (isMinted(challengeOf(payment.extensions[OFFER_RECEIPT]))) return 'challenge'
      const identifier = readIdentifier(payment)
      return identifier !== null && isUnguessable(identifier) ? 'identifier' : null
    },
  }
}

function challengeOf(extension: unknown): unknown {
  const info = isObject(extension) ? extension['info'] : undefined
  return isObject(info) ? info['challenge'] : undefined
}

const MIN_CHARACTERS = 20
const MIN_DISTINCT = 10
const MIN_CHANGES = 6

/**
 * Whether an identifier looks drawn at random, as a UUID, hex, ULID, nanoid or base64url: long, of many characters, with digits
 * and letters mixed. Order numbers, dates and counters do not. Entropy cannot be proven from one text, so doubt counts
 * against it, and a buyer who is refused wrongly (1 UUID in 1,800, 1 ULID in 26) signs for the result instead.
 */
export function isUnguessable(identifier: string): boolean {
  const text = identifier.replaceAll(/[-_]/g, '')
  const kinds = text.replaceAll(/[0-9]/g, '0').replaceAll(/[a-z]/g, 'a').replaceAll(/[A-Z]/g, 'A')
  const changes = [...kinds].filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length
  return identifier.length >= MIN_CHARACTERS && new Set(text).size >= MIN_DISTINCT && changes >= MIN_CHANGES
}
