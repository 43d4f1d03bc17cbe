// Sessions of people who signed in.
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { Secret } from '../lib/secret.ts'
import { hashToken, newToken, parseToken } from '../lib/tokens.ts'
import type { Session, Store } from '../store/ports.ts'
import type { Sessions } from './ports.ts'

/** A working day. */
export const SESSION_MS = 12 * 3_600_000

export function createSessions({ store, now }: { store: Store; now: () => number }): Sessions {
  const later = async () => {
    throw new GatewayError('tool_unavailable', 'Not built yet.')
  }
  return {
    async find(token) {
      const found = parseToken(token)?.kind === 'ss' ? await store.findSession(hashToken(token)) : undefined
      return found && found.expiresAt > now() ? found : undefined
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
    freshen: later,
    list: later,
    end: later,
  }
}
