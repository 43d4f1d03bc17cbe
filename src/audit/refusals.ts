// Which refused call is a security event, and on whose chain: that of the account whose key or capability was shown, even if it
// opens nothing any more; else that of the installation.
import type { RefusedCall } from '../core/refusal-watch.ts'
import type { ErrorCode } from '../core/errors.ts'
import { actorOf } from '../core/actor.ts'
import { hashToken, parseToken } from '../lib/tokens.ts'
import type { NewAuditEvent, Store } from '../store/ports.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'

/** The event of each code. Codes that are not here are mistakes, not attempts at something that is not theirs. */
const EVENTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  key_invalid: 'sign_in.failed',
  capability_invalid: 'sign_in.failed',
  admin_required: 'access.denied',
  operator_required: 'access.denied',
  scope_denied: 'scope.denied',
  target_blocked: 'target.refused',
  permit_invalid: 'permit.rejected',
  permit_used: 'permit.rejected',
  permit_revoked: 'permit.rejected',
  credits_required: 'budget.exhausted',
  calls_spent: 'budget.exhausted',
  budget_spent: 'budget.exhausted',
  secret_reflected: 'secret.reflected',
}

const MAX_HOST_LENGTH = 253

/** @returns the event of a refused call; undefined where it is none */
export async function describeRefusal(
  store: Pick<Store, 'findFormerKey' | 'findCapability'>,
  call: RefusedCall,
  now: number,
): Promise<NewAuditEvent | undefined> {
  const { error, caller, address } = call
  const event = EVENTS[error.code]
  if (event === undefined) return undefined
  const shown = caller ? undefined : await findShown(store, call.tokens)
  const chain = caller && 'accountId' in caller ? caller.accountId : (shown?.accountId ?? INSTALLATION_CHAIN)
  const attempt = error.extras.attempt_id
  return {
    chain,
    at: now,
    event,
    actor: caller
      ? actorOf(caller, call)
      : { kind: 'anonymous', address, door: call.door, tool: call.tool, request_id: call.requestId },
    ...(typeof attempt === 'string'
      ? { subject: { type: 'attempt', id: attempt } }
      : shown && { subject: { type: shown.type, id: shown.id } }),
    detail: {
      code: error.code,
      ...(shown && { state: shown.state }),
      ...(error.reason !== undefined && error.code === 'target_blocked' && { reason: error.reason }),
      ...hostOf(call.input),
    },
  }
}

interface Shown {
  readonly type: 'key' | 'capability'
  readonly id: string
  readonly accountId: string
  readonly state: 'revoked' | 'expired'
}

/** The key or capability behind a token that was refused, where it was made here. */
async function findShown(
  store: Pick<Store, 'findFormerKey' | 'findCapability'>,
  { bearer, capabilityHeader, capabilityArgument }: RefusedCall['tokens'],
): Promise<Shown | undefined> {
  for (const token of [capabilityArgument, capabilityHeader, bearer]) {
    const kind = token === undefined ? undefined : parseToken(token)?.kind
    if (token === undefined || (kind !== 'sk' && kind !== 'cap')) continue
    const hash = hashToken(token)
    const found = kind === 'sk' ? await store.findFormerKey(hash) : await store.findCapability(hash)
    if (found)
      return {
        type: kind === 'sk' ? 'key' : 'capability',
        id: found.id,
        accountId: found.accountId,
        state: found.revokedAt === null ? 'expired' : 'revoked',
      }
  }
  return undefined
}

/** The host that was asked for, and nothing else of the URL. */
function hostOf(input: unknown): { host: string } | Record<string, never> {
  if (typeof input !== 'object' || input === null || !('url' in input) || typeof input.url !== 'string')
    return {}
  const host = URL.parse(input.url)?.hostname
  return host ? { host: host.slice(0, MAX_HOST_LENGTH) } : {}
}
