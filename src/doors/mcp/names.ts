// A connection is shown one spelling of the tool names, chosen here (contract, section 2). Calls accept both, always.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { DOT_REFUSING_CLIENTS } from '../../data/dot-refusing-clients.ts'

export type Spelling = 'dotted' | 'portable'
export type NamesSetting = 'auto' | Spelling

export interface SpellingHints {
  /** Value of `?names=`, when present. */
  readonly query: string | undefined
  /** `clientInfo.name` of initialize or of the request's `_meta`. */
  readonly clientName: string | undefined
  readonly userAgent: string | undefined
  /** Settled by an earlier `initialize` of this session. */
  readonly session: Spelling | undefined
}

const isSpelling = (text: string | undefined): text is Spelling => text === 'dotted' || text === 'portable'

/** The connection's own wish first, then the operator's, then what is known of the client. */
export function chooseSpelling(setting: NamesSetting, hints: SpellingHints): Spelling {
  if (isSpelling(hints.query)) return hints.query
  if (hints.query === undefined && setting !== 'auto') return setting
  if (refusesDots(hints.clientName) || refusesDots(hints.userAgent)) return 'portable'
  return hints.session ?? 'dotted'
}

function refusesDots(client: string | undefined): boolean {
  if (client === undefined) return false
  const name = client.slice(0, 256).toLowerCase()
  return DOT_REFUSING_CLIENTS.some(({ match }) => name.includes(match))
}

/** The value of `?names=` in a raw query; undefined where it is not there. */
export const namesQuery = (query: string): string | undefined =>
  query === '' ? undefined : (new URLSearchParams(query).get('names') ?? undefined)

/** Whether `?names=` may have this value: none, `auto` or a spelling. */
export const isNamesQuery = (value: string | undefined): boolean =>
  value === undefined || value === 'auto' || isSpelling(value)

/** Session ids of the 2025 era: they carry the spelling and a signature, so that no replica keeps anything. */
export interface SessionIds {
  issue(spelling: Spelling): string
  /** Undefined when the id was not issued under this key. */
  read(id: string): Spelling | undefined
}

const MAX_REMEMBERED = 2048

/** @param key of the signature; replicas share it, so that any of them knows an id */
export function createSessionIds(key: Buffer): SessionIds {
  // Checking a signature costs more than all the rest of a small call, and a client repeats its id in every one.
  const known = new Map<string, Spelling>()
  const sign = (body: string) => createHmac('sha256', key).update(body).digest('base64url').slice(0, 22)
  const remember = (id: string, spelling: Spelling) => {
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(id, spelling)
    return spelling
  }
  return {
    issue(spelling) {
      const body = `${spelling[0]}${randomBytes(16).toString('base64url')}`
      const id = `${body}.${sign(body)}`
      remember(id, spelling)
      return id
    },
    read(id) {
      const seen = known.get(id)
      if (seen) return seen
      const [, body, signature] = /^([dp][\w-]{22})\.([\w-]{22})$/.exec(id) ?? []
      if (body === undefined || signature === undefined) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(body)))) return undefined
      return remember(id, body.startsWith('p') ? 'portable' : 'dotted')
    },
  }
}
