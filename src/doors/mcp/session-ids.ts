// Session ids of the 2025 era. They carry what `initialize` settled and a signature, so that no replica keeps anything.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Spelling } from './names.ts'
import type { Selection } from './selection.ts'

export interface Session {
  readonly spelling: Spelling
  /** The part of the list that `initialize` asked for. */
  readonly selection: Selection | undefined
}

export interface SessionIds {
  issue(session: Session): string
  /** Undefined when the id was not issued under this key. */
  read(id: string): Session | undefined
}

const MAX_REMEMBERED = 2048
/** Nobody fills the memory with ids of many tools: those are checked each time. */
const MAX_REMEMBERED_LENGTH = 256

/** `d` or `p`, 16 random bytes, the text of the selection behind `~`, and the signature. */
const FORM = /^(([dp])[\w-]{22}(?:~([a-z_-]*\+[a-z_-]*))?)\.([\w-]{22})$/

/**
 * @param key of the signature; replicas share it, so that any of them knows an id
 * @param restore the selection of a text that was signed
 */
export function createSessionIds(key: Buffer, restore: (text: string) => Selection): SessionIds {
  // Checking a signature costs more than all the rest of a small call, and a client repeats its id in every one.
  const known = new Map<string, Session>()
  const sign = (body: string) => createHmac('sha256', key).update(body).digest('base64url').slice(0, 22)
  const remember = (id: string, session: Session) => {
    if (id.length > MAX_REMEMBERED_LENGTH) return session
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(id, session)
    return session
  }
  return {
    issue(session) {
      const { spelling, selection } = session
      const body = `${spelling === 'dotted' ? 'd' : 'p'}${randomBytes(16).toString('base64url')}${selection ? `~${selection.text}` : ''}`
      const id = `${body}.${sign(body)}`
      remember(id, session)
      return id
    },
    read(id) {
      const seen = known.get(id)
      if (seen) return seen
      const [, body, letter, text, signature] = FORM.exec(id) ?? []
      if (body === undefined || signature === undefined) return undefined
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(body)))) return undefined
      return remember(id, {
        spelling: letter === 'p' ? 'portable' : 'dotted',
        selection: text === undefined ? undefined : restore(text),
      })
    },
  }
}
