// What an answer is searched for: the secret that went with its request, and whatever took its place before the answer was here. A request may be
// open for an hour, and whoever made it may have another token minted meanwhile, by a call that an upstream refuses.
import { within } from '../../lib/deadline.ts'
import type { Logger } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { SealedCredential } from '../../store/ports.ts'
import type { LeakGate, LeakVerdict } from '../leak/inspection.ts'
import type { OpenedCredential } from '../opened-credential-cache.ts'
import { type Edition, type Editions, isNewer } from './editions.ts'
import { bothOf } from './signatures.ts'

type Sought = Pick<OpenedCredential, 'sought' | 'gate'>

/** The search of one answer, in one piece or in many. */
export interface AnswerSearch {
  /** Learns first what took the place of the secret. Where that cannot be opened, nothing is searched (`failed`). */
  readonly gate: LeakGate
  /**
   * What is sought as of the last inspection: that of the request, and that of the newest edition where it is something else. The same
   * array for as long as nothing changes.
   */
  sought(): readonly (readonly Secret<string>[])[]
}

/** A credential as the store has it now. */
export interface Standing {
  readonly edition: Edition
  /** @throws where it cannot be opened */
  open(): Promise<Sought>
}

export interface AnswerSearchParts {
  readonly editions: Editions
  /**
   * @param version that was the newest
   * @returns undefined where the credential was revoked, or is gone
   */
  readonly look: (credential: SealedCredential, version: number) => Promise<Standing | undefined>
  readonly now: () => number
  readonly log: Logger
}

export interface SearchOfAnswer {
  readonly credential: SealedCredential
  /** What went with the request. */
  readonly own: Sought
  readonly edition: Edition
  /** When that was read, or sooner; milliseconds since the epoch. */
  readonly since: number
}

/**
 * What other replicas minted or stored is asked for where the last look is as old as this. What this process did itself it knows at
 * once, so that a call that is answered sooner asks for nothing.
 */
const LOOK_AFTER_MS = 1_000
/** The bytes of a stream wait for a look, and as long again for what was found to be opened. */
const LOOK_MS = 2_000

/** One for all answers under a credential, so that a store that hangs is not asked by each piece of each stream. */
interface Look {
  readonly begunAt: number
  /** What was heard before it began: it may not have what was heard since. */
  readonly told: Edition | undefined
  readonly standing: Promise<Standing | undefined>
}

export type CreateAnswerSearch = (of: SearchOfAnswer) => AnswerSearch

export function createAnswerSearches({ editions, look, now, log }: AnswerSearchParts): CreateAnswerSearch {
  const looks = new Map<string, Look>()

  function lookFor(credential: SealedCredential, version: number): Look {
    const { id } = credential
    const told = editions.newest(id)
    const running = looks.get(id)
    if (running && running.told === told && isYoung(running)) return running
    const begun: Look = {
      begunAt: now(),
      told,
      standing: look(credential, version).finally(() => {
        if (looks.get(id) === begun) looks.delete(id)
      }),
    }
    looks.set(id, begun)
    return begun
  }

  /** An older one may hang for itself, where another finds an answer. */
  function isYoung({ begunAt }: Look): boolean {
    const ageMs = now() - begunAt
    return ageMs >= 0 && ageMs < LOOK_MS
  }

  return ({ credential, own, edition, since }) => {
    const { id } = credential
    let known = edition
    let lookedAt = since
    let newest: Sought | undefined
    let sought: ReturnType<AnswerSearch['sought']> = [own.sought]

    function isDue(): boolean {
      const told = editions.newest(id)
      const sinceMs = now() - lookedAt
      // A clock may be set back.
      return told === undefined || isNewer(told, known) || sinceMs >= LOOK_AFTER_MS || sinceMs < 0
    }

    /** @returns false where something took the place of what is sought, and nobody here can say what */
    async function catchUp(): Promise<boolean> {
      const { told, standing: looking } = lookFor(credential, known.version)
      const mustFind = told !== undefined && isNewer(told, known)
      try {
        const standing = await within(LOOK_MS, looking)
        if (!standing) return !mustFind
        editions.replace(id, told, standing.edition)
        return !isNewer(standing.edition, known) || (await take(standing))
      } catch (err) {
        log.warn({ credential: id, err }, 'whether a credential was replaced could not be looked up')
        return !mustFind
      } finally {
        // From here on: where the store hangs, what comes within a second passes without another wait.
        lookedAt = now()
      }
    }

    async function take({ edition: found, open }: Standing): Promise<boolean> {
      try {
        const opened = await within(LOOK_MS, open())
        if (!opened) throw new Error(`it was not open within ${LOOK_MS} ms`)
        if (!isNewer(found, known)) return true
        known = found
        newest = holdsAll(own.sought, opened.sought) ? undefined : opened
        sought = newest ? [own.sought, newest.sought] : [own.sought]
        return true
      } catch (err) {
        log.error({ credential: id, err }, 'what took the place of a secret could not be opened')
        return false
      }
    }

    const search = () => (newest ? bothOf(own.gate(), newest.gate()) : own.gate())
    return {
      gate: {
        prepare: () => own.gate().prepare?.(),
        inspect(response, seen) {
          if (!isDue()) return search().inspect(response, seen)
          return catchUp().then((isKnown) => (isKnown ? search().inspect(response, seen) : UNKNOWN))
        },
      },
      sought: () => sought,
    }
  }
}

const UNKNOWN: LeakVerdict = { ok: false, reason: 'failed' }

/** An edit makes another version of the same secrets. */
const holdsAll = (ours: Sought['sought'], theirs: Sought['sought']) =>
  theirs.every((their) => ours.some((our) => our.use((one) => their.use((other) => one === other))))
