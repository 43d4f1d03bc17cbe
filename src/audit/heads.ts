// Signed heads: the gateway's word, at a moment, for the newest event of a chain and so for all before it. It gives the word only
// for what it has checked: every event since the last head links to the one before, and the last head is where it was.
import { GatewayError } from '../core/errors.ts'
import { type OnFault, uncounted } from '../core/faults.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import { isObject } from '../lib/json.ts'
import type { Logger } from '../lib/log.ts'
import type { KeyRing } from '../receipts/key-ring.ts'
import type { Signer } from '../receipts/ports.ts'
import { decodeJws, JWS_TYPES } from '../receipts/types.ts'
import { findInvalidity } from '../receipts/validity.ts'
import type { AuditChain, AuditEvent, Store } from '../store/ports.ts'

export interface HeadParts {
  readonly store: Pick<
    Store,
    | 'getAuditChain'
    | 'listAuditEvents'
    | 'listAuditHeads'
    | 'listUnsignedChains'
    | 'recordAuditHead'
    | 'health'
  >
  readonly signer: Signer & Pick<KeyRing, 'verifyOwn' | 'find'>
  readonly baseUrl: string
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
}

/** The gateway's word for a place. */
export interface SignedHead extends Place {
  readonly jws: string
}

export interface Heads {
  /**
   * Signs the newest place of a chain, which may be newer than the one that was read; undefined where the chain does not hold any
   * more, which is logged.
   */
  sign(chain: AuditChain): Promise<SignedHead | undefined>
  /**
   * Looks at a stretch as it was read, and tells the log of what is wrong with it.
   * @param before the place in front of it, where that is known
   */
  isWhole(chain: string, events: readonly AuditEvent[], before: Place | undefined): boolean
  /**
   * Whether a stored head may still prove something: its key was not revoked, and not retired before it was signed, as where a clock was
   * ahead. Whether it is what was signed is for whoever verifies, so that a head that was changed shows.
   */
  isOfWorth(jws: string): boolean
  /**
   * Signs every chain that has grown, and looks at those that this process signed before. One that fails keeps no other from its turn.
   * @param signal ends it between two chains
   * @throws what the first that failed threw, once all had their turn; store_unavailable at once where the store itself is away
   */
  signAll(signal?: AbortSignal): Promise<void>
}

const BATCH = 500
/** Chains whose last place this process remembers, against a database that forgets. */
const MAX_REMEMBERED = 10_000
/** Of these, as many are looked at each time, in turn. */
const LOOKED_AT = 200

type Place = Pick<AuditChain, 'seq' | 'hash'>
/** The place before the first event. */
export const BEGINNING: Place = { seq: 0, hash: '' }

/** Signs the newest places of chains, each after a look at what came since the place before. */
export function createHeads(parts: HeadParts): Heads {
  const { store, signer, baseUrl, now, log, onFault = uncounted } = parts
  const remembered = new Map<string, Place>()

  function remember(chain: string, place: Place): void {
    remembered.delete(chain)
    remembered.set(chain, place)
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
  }

  function report(chain: string, reason: string): void {
    onFault('audit_broken')
    log.error(
      { event: 'audit_broken', chain, reason },
      'security: the audit log was changed behind the gateway',
    )
  }

  /** The place of the last head that stands: what this process remembers, else what is stored and verifies. */
  async function lastSigned({ chain, signedSeq }: AuditChain): Promise<Place | undefined> {
    const own = remembered.get(chain)
    if (own || signedSeq === 0) return own
    const [stored] = await store.listAuditHeads({ chain, after: signedSeq - 1, upTo: signedSeq })
    const payload = stored && signer.verifyOwn(stored.jws, JWS_TYPES.auditHead)
    // A head of a key that was revoked proves nothing; the chain is then looked at from its beginning.
    return payload && payload['chain'] === chain
      ? { seq: Number(payload['seq']), hash: String(payload['hash']) }
      : undefined
  }

  /** @returns why the chain does not hold; undefined where it does */
  async function findFault(found: AuditChain): Promise<string | undefined> {
    const { chain, seq, hash } = found
    const from = await lastSigned(found)
    if (from && from.seq > seq) return `its end is missing: event ${from.seq} was signed`
    let after = from ? from.seq - 1 : 0
    let last: Place | undefined = after === 0 ? BEGINNING : undefined
    for (;;) {
      const events = await store.listAuditEvents({ chain, after, upTo: seq, limit: BATCH })
      for (const event of events) {
        const fault = findEventFault(event, chain, last)
        if (fault !== undefined) return fault
        // Of the first one that is read nothing else says where it belongs.
        if (!last && event.seq !== from?.seq) return `event ${from?.seq} is missing`
        if (event.seq === from?.seq && event.hash !== from.hash)
          return `event ${event.seq} is not the one that was signed`
        last = event
      }
      after = last?.seq ?? after
      if (events.length < BATCH) break
    }
    return last?.seq === seq && last.hash === hash ? undefined : `event ${seq} is missing or another one`
  }

  /** What was read before another reader had a newer place signed is read again: its end is not missing. */
  async function refresh(found: AuditChain): Promise<AuditChain> {
    for (let chain = found; ;) {
      const own = remembered.get(chain.chain)
      if (!own || own.seq <= chain.seq) return chain
      const again = await store.getAuditChain(chain.chain)
      if (!again || again.seq < own.seq) return again ?? chain
      chain = again
    }
  }

  async function sign(read: AuditChain): Promise<SignedHead | undefined> {
    const found = await refresh(read)
    const { chain, seq, hash } = found
    const fault = await findFault(found)
    if (fault !== undefined) {
      report(chain, fault)
      return undefined
    }
    const at = now()
    const jws = signer.sign(JWS_TYPES.auditHead, {
      iss: baseUrl,
      iat: Math.floor(at / 1000),
      chain,
      seq,
      hash,
    })
    // Two may be signed at once: the newer one is not forgotten for the older.
    if ((remembered.get(chain)?.seq ?? 0) <= seq) remember(chain, { seq, hash })
    return { seq, hash, jws }
  }

  async function signAndKeep({ chain, ...found }: AuditChain): Promise<void> {
    const signed = await sign({ chain, ...found })
    if (signed === undefined) return
    const { seq, hash, jws } = signed
    await store.recordAuditHead({ chain, seq, jws, signedAt: now() })
    // The log is kept elsewhere: whoever empties the database does not empty it. The signature makes the line a witness by itself.
    log.info({ event: 'audit_head', chain, seq, hash, kid: decodeJws(jws).header['kid'], jws }, 'audit head')
  }

  function isWhole(chain: string, events: readonly AuditEvent[], before: Place | undefined): boolean {
    let last = before
    for (const event of events) {
      const fault = findEventFault(event, chain, last)
      if (fault !== undefined) {
        report(chain, fault)
        return false
      }
      last = event
    }
    return true
  }

  /** A chain that did not grow has nothing to sign, but its end may have been cut off. */
  async function lookAt(chain: string, place: Place): Promise<void> {
    // Whatever is found, the others have their turn first.
    if (remembered.get(chain) === place) remember(chain, place)
    const found = (await store.getAuditChain(chain)) ?? { chain, seq: 0, hash: '', signedSeq: 0 }
    const fault = await findFault(await refresh(found))
    if (fault !== undefined) report(chain, fault)
  }

  /** Whether nothing can be asked of the store: it says the same of rows that somebody keeps locked, which are of one chain. */
  const isStoreAway = async (thrown: unknown): Promise<boolean> =>
    thrown instanceof GatewayError && thrown.code === 'store_unavailable' && !(await store.health()).ok

  function isOfWorth(jws: string): boolean {
    try {
      const { header, payload } = decodeJws(jws)
      const key = signer.find(String(header['kid']))
      return !key || findInvalidity(key, payload) === undefined
    } catch {
      return true
    }
  }

  return {
    sign,
    isWhole,
    isOfWorth,
    async signAll(signal) {
      const failures: unknown[] = []
      const attempt = async (chain: string, work: () => Promise<void>): Promise<void> => {
        if (signal?.aborted) return
        try {
          await work()
        } catch (thrown) {
          // Each of the others would wait for a connection, too, and fail with the same.
          if (await isStoreAway(thrown)) throw thrown
          failures.push(thrown)
          log.error({ chain, err: thrown }, 'a chain of the audit log could not be looked at')
        }
      }
      const before = new Map(remembered)
      for (let last = ''; ;) {
        if (signal?.aborted) break
        const chains = await store.listUnsignedChains(last, BATCH)
        for (const chain of chains) {
          await attempt(chain.chain, () => signAndKeep(chain))
          before.delete(chain.chain)
        }
        last = chains.at(-1)?.chain ?? last
        if (chains.length < BATCH) break
      }
      for (const [chain, place] of [...before].slice(0, LOOKED_AT))
        await attempt(chain, () => lookAt(chain, place))
      if (failures.length > 0) throw failures[0]
    },
  }
}

function findEventFault(event: AuditEvent, chain: string, before: Place | undefined): string | undefined {
  const { seq, hash, body } = event
  const at = `event ${seq}`
  let document: unknown
  try {
    document = JSON.parse(body)
    if (!isObject(document) || digestCanonical(document) !== hash) return `${at} was changed`
  } catch {
    return `${at} was changed`
  }
  const { chain: named, seq: place, prev } = document
  if (named !== chain || place !== seq) return `${at} belongs elsewhere`
  const follows = !before || (seq === before.seq + 1 && (prev ?? '') === before.hash)
  if (!follows) return `${at} does not follow the one before`
  return undefined
}
