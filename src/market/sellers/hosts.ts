// Hosts of sellers: what to publish, whether it is there, and whether it still is. Looks that could not tell are counted; a host that
// was not seen for a day, a proof that is gone and a host that is not public any more pause what is sold from it.
import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { MarketHost, Seller } from '../../store/ports.ts'
import { hostOf, readOrigin } from './document.ts'
import { verifyOwnership } from './ownership.ts'
import { activeSellerOf, eventOf, noPlace, ownWorkUnderWay, type SellerParts } from './parts.ts'
import type { Sellers } from './ports.ts'
import { lookForProof, type ProofVerdict, whyUnprovable } from './proof.ts'
import { toOwnHost } from './wire.ts'

const A_DAY_MS = 24 * 3600 * 1000
/** A host that failed or lapsed is looked at this often. */
const RETRY_MS = 3600 * 1000
const LEAST_FAILURES = 3
/** A proof that has been gone for so long is looked for when its seller asks, and no more by itself. */
const FORGOTTEN_MS = 30 * A_DAY_MS
const HOSTS_A_ROUND = 100
const LOOKS_AT_ONCE = 8
/** Everybody may ask for looks: as many run at a time, and the rest are told to come again. */
const MAX_ASKED = 16

export interface Hosts extends Pick<Sellers, 'claimHost' | 'verifyHost'> {
  /** One round of looks at proofs that are due. @returns how many were looked at */
  recheck(): Promise<number>
}

export function createHosts(parts: SellerParts): Hosts {
  const { store, settings, proof, payoutChain, now, target } = parts
  const asked = createSemaphore(MAX_ASKED)
  /** Sellers whose look is under way: nobody takes all the places with slow hosts of its own. */
  const asking = new Set<string>()

  function readHost(origin: string): string {
    const host = hostOf(readOrigin(origin, target))
    const why = whyUnprovable(host)
    if (why !== undefined) throw new GatewayError('input_invalid', `/origin: ${why}`)
    return host
  }

  async function claim(seller: Seller, host: string): Promise<MarketHost> {
    const { limits } = await settings()
    const claimed = await store.claimHost({
      sellerId: seller.id,
      host,
      challenge: randomBytes(24).toString('base64url'),
      limit: limits.hosts_per_seller,
      now: now(),
    })
    if (claimed) return claimed
    throw new GatewayError(
      'state_conflict',
      `A seller has at most ${limits.hosts_per_seller} hosts here. Ask the operator.`,
    )
  }

  async function verify(seller: Seller, host: MarketHost, proofs: readonly string[]) {
    const origin = `https://${host.host}`
    const given = host.signature === null ? proofs : [...proofs, host.signature]
    const [look, signature] = await Promise.all([
      lookForProof(proof, host.host, host.challenge),
      verifyOwnership(origin, seller.payoutAddress, given, payoutChain),
    ])
    const problems = [
      ...(look.is === 'proven' ? [] : look.problems),
      ...(signature.ok ? [] : [SIGNATURE_WORDS[signature.reason](origin, seller.payoutAddress)]),
    ]
    if (look.is !== 'proven' || !signature.ok) return { proven: false, host, problems, resumed: 0 }
    const proven = await store.proveHost({
      sellerId: seller.id,
      host: host.host,
      method: look.method,
      signature: { kind: signature.kind, text: signature.signature, address: seller.payoutAddress },
      event: eventOf('host.proven', now(), { host: host.host }),
      now: now(),
    })
    if (proven.ok) return { proven: true, host: proven.host, problems: [], resumed: proven.resumed }
    return {
      proven: false,
      host,
      problems: [
        'Another seller has proven this host and holds it for as long as its proof is there. If it is yours alone, remove their ' +
          'record or file, wait a day, and verify again.',
      ],
      resumed: 0,
    }
  }

  async function recheckOne(host: MarketHost): Promise<void> {
    const seller = await store.findSeller(host.sellerId)
    if (!seller) return
    const look = await lookForProof(proof, host.host, host.challenge)
    const signature = await verifyOwnership(
      `https://${host.host}`,
      seller.payoutAddress,
      host.signature === null ? [] : [host.signature],
      payoutChain,
    )
    if (look.is === 'proven' && signature.ok) {
      await store.proveHost({
        sellerId: seller.id,
        host: host.host,
        method: look.method,
        signature: { kind: signature.kind, text: signature.signature, address: seller.payoutAddress },
        event: eventOf(host.state === 'proven' ? 'host.still_proven' : 'host.proven', now(), {
          host: host.host,
        }),
        now: now(),
      })
      return
    }
    const isSigned = signature.ok || signature.reason === 'unknown'
    const doubt = look.is === 'unknown' || (look.is === 'proven' && isSigned)
    if (doubt && isSigned) {
      const problem = look.is === 'proven' ? 'chain' : 'unreachable'
      const noted = await store.noteHostFailure({ sellerId: seller.id, host: host.host, problem, now: now() })
      const isLong =
        noted !== undefined &&
        noted.failures >= LEAST_FAILURES &&
        noted.failingSince !== null &&
        now() - noted.failingSince >= A_DAY_MS
      if (!isLong || problem === 'chain') return
    }
    await store.lapseHost({
      sellerId: seller.id,
      host: host.host,
      problem: isSigned ? look.is : 'signature',
      reason: reasonOf(host.host, look, isSigned),
      event: eventOf('host.lapsed', now(), { host: host.host, reason: reasonOf(host.host, look, isSigned) }),
      now: now(),
    })
  }

  return {
    async claimHost(key, origin) {
      const seller = await activeSellerOf(parts, key)
      return toOwnHost(await claim(seller, readHost(origin)), seller)
    },

    async verifyHost(key, origin, proofs) {
      const seller = await activeSellerOf(parts, key)
      const host = await claim(seller, readHost(origin))
      if (asking.has(seller.id)) throw ownWorkUnderWay('A host of yours is being looked at.', 5)
      asking.add(seller.id)
      const release = await asked.acquire(2000)
      try {
        if (!release) throw noPlace('Too many hosts are being looked at.', 5)
        const verified = await verify(seller, host, proofs)
        return { ...verified, host: toOwnHost(verified.host, seller) }
      } finally {
        release?.()
        asking.delete(seller.id)
      }
    },

    async recheck() {
      const { proofs } = await settings()
      const at = now()
      const due = await store.takeHostsToCheck({
        now: at,
        checkedBefore: at - proofs.interval_hours * 3600 * 1000,
        failingBefore: at - RETRY_MS,
        provenSince: at - FORGOTTEN_MS,
        limit: HOSTS_A_ROUND,
      })
      const left = [...due]
      const work = async () => {
        for (let host = left.shift(); host; host = left.shift())
          await recheckOne(host).catch((err: unknown) =>
            parts.log.warn({ err, host: host?.host }, 'the proof of a host could not be looked at'),
          )
      }
      await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work))
      return due.length
    },
  }
}

const SIGNATURE_WORDS = {
  none: (origin: string, by: string) =>
    `Signature: sign the text ${origin} with ${by} (EIP-191 personal_sign) and send it in ownership_proofs.`,
  other_signer: (origin: string, by: string) => `Signature: none of those given is of ${origin} by ${by}.`,
  unknown: () => 'Signature: the chain did not answer whether the contract accepts it. Try again.',
} as const

function reasonOf(host: string, look: ProofVerdict, isSigned: boolean): string {
  if (!isSigned) return `The payout account does not sign for ${host} any more.`
  if (look.is === 'private') return `${host} is not on the public internet any more.`
  if (look.is === 'unknown')
    return `${host} could not be reached for a day to see whether it is still the seller's.`
  return `The proof that ${host} belongs to the seller is gone.`
}
