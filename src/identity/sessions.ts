// Sessions of people who signed in.
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { Secret } from '../lib/secret.ts'
import { hashToken, newToken, parseToken } from '../lib/tokens.ts'
import type { Session, Store } from '../store/ports.ts'
import type { Sessions } from './ports.ts'

/** A working day. */
export const SESSION_MS = 12 * 3_600_000
/** A session that is used is written down as used so often at most. */
const TOUCH_MS = 60_000
const MOST_TOUCHED = 10_000

/** A session is opened with a token of its own at each sign-in, so nobody can hand somebody a session that is signed in later. */
export function createSessions({ store, now }: { store: Store; now: () => number }): Sessions {
  const touched = new Map<string, number>()

  function touch(id: string): void {
    const at = now()
    if (at - (touched.get(id) ?? 0) < TOUCH_MS) return
    if (touched.size >= MOST_TOUCHED) touched.clear()
    touched.set(id, at)
    // Nothing hangs on it but the time that people read.
    store.touchSession({ id, now: at }).catch(() => touched.delete(id))
  }

  return {
    async find(token) {
      const found = parseToken(token)?.kind === 'ss' ? await store.findSession(hashToken(token)) : undefined
      if (!found || found.expiresAt <= now()) return undefined
      touch(found.sessionId)
      return found
    },
    async open({ personId, accountId, method, from }) {
      const at = now()
      const token = newToken('ss')
      const session: Session = {
        id: newId('ses', at),
        personId,
        accountId,
        method,
        ...from,
        createdAt: at,
        seenAt: at,
        freshAt: at,
        expiresAt: at + SESSION_MS,
        revokedAt: null,
      }
      await store.insertSession({ session, tokenHash: hashToken(token) })
      return { session, token: new Secret(token) }
    },
    async freshen(sessionId) {
      if (!(await store.freshenSession({ id: sessionId, now: now() }))) throw sessionNotFound()
    },
    list: (accountId, personId, page) => store.listSessions({ accountId, personId, now: now() }, page),
    ofPerson: async (personId) => (await store.listSessions({ personId, now: now() }, { limit: 100 })).items,
    async end({ accountId, sessionId, personId }) {
      const ended = await store.endSession({ id: sessionId, accountId, personId, now: now() })
      if (!ended) throw sessionNotFound()
      return ended
    },
    endOthers: ({ personId, accountId, sessionId }) =>
      store.endOtherSessions({ personId, accountId, exceptId: sessionId, now: now() }),
    async switchTo({ sessionId, personId, accountId }) {
      if (!(await store.switchSession({ id: sessionId, personId, accountId, now: now() })))
        throw new GatewayError('account_not_found', 'You are no member of an account of this id.')
    },
  }
}

const sessionNotFound = () =>
  new GatewayError('session_not_found', 'There is no session of this id that is still open.')
