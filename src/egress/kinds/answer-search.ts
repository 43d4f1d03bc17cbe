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
/** The bytes of a stream wait for a look. */
const LOOK_MS = 2_000

export type CreateAnswerSearch = (of: SearchOfAnswer) => AnswerSearch

export function createAnswerSearches({ editions, look, now, log }: AnswerSearchParts): CreateAnswerSearch {
  return ({ credential, own, edition, since }) => {
    const { id } = credential
    let known = edition
    let lookedAt = since
    let newest: Sought | undefined
    let sought: ReturnType<AnswerSearch['sought']> = [own.sought]

    function isDue(): boolean {
      const told = editions.newest(id)
      return told === undefined || isNewer(told, known) || now() - lookedAt >= LOOK_AFTER_MS
    }

    /** @returns false where something took the place of what is sought, and nobody here can say what */
    async function catchUp(): Promise<boolean> {
      const told = editions.newest(id)
      const mustFind = told !== undefined && isNewer(told, known)
      // Where the store says nothing nobody mints or rotates, and it is asked again as soon as it would be anyway.
      lookedAt = now()
      try {
        const standing = await within(LOOK_MS, look(credential, known.version))
        if (!standing) return !mustFind
        editions.replace(id, told, standing.edition)
        return !isNewer(standing.edition, known) || (await take(standing))
      } catch (err) {
        log.warn({ credential: id, err }, 'whether a credential was replaced could not be looked up')
        return !mustFind
      }
    }

    async function take({ edition: found, open }: Standing): Promise<boolean> {
      try {
        const opened = await open()
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
