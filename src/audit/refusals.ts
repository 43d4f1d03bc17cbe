// Which refusal is a security event, and on whose chain: that of the account whose token or passkey was shown, even if it opens
// nothing any more; else that of the installation.
import type { RefusedCall } from '../core/refusal-watch.ts'
import type { ErrorCode, ErrorSubject } from '../core/errors.ts'
import { actorOf } from '../core/actor.ts'
import type { Actor } from '../lib/acting.ts'
import { hashToken, parseToken, type TokenKind } from '../lib/tokens.ts'
import type { NewAuditEvent, Store } from '../store/ports.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'

/** The event of each code. Codes that are not here are mistakes, not attempts at something that is not theirs. */
const EVENTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  key_invalid: 'sign_in.failed',
  capability_invalid: 'sign_in.failed',
  sign_in_failed: 'sign_in.failed',
  sign_in_refused: 'sign_in.failed',
  invitation_invalid: 'sign_in.failed',
  admin_required: 'access.denied',
  operator_required: 'access.denied',
  role_required: 'access.denied',
  fresh_sign_in_required: 'access.denied',
  approval_refused: 'access.denied',
  insufficient_scope: 'scope.denied',
  scope_denied: 'scope.denied',
  target_blocked: 'target.refused',
  host_mismatch: 'target.refused',
  transaction_blocked: 'transaction.blocked',
  permit_invalid: 'permit.rejected',
  permit_used: 'permit.rejected',
  permit_revoked: 'permit.rejected',
  credits_required: 'budget.exhausted',
  calls_spent: 'budget.exhausted',
  budget_spent: 'budget.exhausted',
  secret_reflected: 'secret.reflected',
}

const MAX_HOST_LENGTH = 253

type Finding = Pick<Store, 'findFormerKey' | 'findCapability' | 'findAccessToken' | 'findSession'>

/** @returns the event of a refused call; undefined where it is none */
export async function describeRefusal(
  store: Finding,
  call: RefusedCall,
  now: number,
): Promise<NewAuditEvent | undefined> {
  const { error, caller } = call
  const event = EVENTS[error.code]
  if (event === undefined) return undefined
  const shown = caller ? undefined : (error.about ?? (await findShown(store, call.tokens, now)))
  const chain = caller && 'accountId' in caller ? caller.accountId : (shown?.accountId ?? INSTALLATION_CHAIN)
  const attempt = error.extras.attempt_id
  const subject = shown ?? error.about
  return {
    chain,
    at: now,
    event,
    actor: actorBehind(call, shown),
    ...(typeof attempt === 'string'
      ? { subject: { type: 'attempt', id: attempt } }
      : subject && { subject: { type: subject.type, id: subject.id } }),
    detail: {
      code: error.code,
      ...(shown && 'state' in shown && shown.state !== undefined && { state: shown.state }),
      ...(error.reason !== undefined && error.code === 'target_blocked' && { reason: error.reason }),
      ...hostOf(call.input),
    },
  }
}

/** Whoever shows a token that is good is known by it, whatever it does not open; whoever shows another one is nobody. */
function actorBehind(call: RefusedCall, shown: Shown | ErrorSubject | undefined): Actor {
  if (call.caller) return actorOf(call.caller, call)
  const { address, door, tool, requestId } = call
  const from = { address, door, tool, request_id: requestId }
  if (!shown || !('state' in shown) || shown.state !== undefined) return { kind: 'anonymous', ...from }
  const { type, id } = shown
  return { kind: type === 'key' ? 'service_key' : type, id, ...from }
}

interface Shown {
  readonly type: 'key' | 'capability' | 'connection' | 'person'
  readonly id: string
  readonly accountId: string
  /** Undefined where it is good. */
  readonly state: 'revoked' | 'expired' | undefined
}

/** Who is behind a token that was refused, where it was made here and is still known. */
async function findShown(
  store: Finding,
  { bearer, capabilityHeader, capabilityArgument, session }: RefusedCall['tokens'],
  now: number,
): Promise<Shown | undefined> {
  for (const token of [capabilityArgument, capabilityHeader, bearer, session]) {
    const kind = token === undefined ? undefined : parseToken(token)?.kind
    const found =
      token === undefined || kind === undefined ? undefined : await FIND[kind]?.(store, hashToken(token), now)
    if (found) return found
  }
  return undefined
}

const stateOf = (
  { revokedAt, expiresAt }: { readonly revokedAt: number | null; readonly expiresAt: number },
  now: number,
) => (revokedAt !== null ? 'revoked' : expiresAt <= now ? 'expired' : undefined)

const FIND: Readonly<
  Partial<Record<TokenKind, (store: Finding, hash: Buffer, now: number) => Promise<Shown | undefined>>>
> = {
  async sk(store, hash, now) {
    const key = await store.findFormerKey(hash)
    // Keys run out by being revoked alone.
    return key && { ...key, type: 'key', state: stateOf({ ...key, expiresAt: Infinity }, now) }
  },
  async cap(store, hash, now) {
    const capability = await store.findCapability(hash)
    if (!capability) return undefined
    const { id, accountId } = capability
    return { type: 'capability', id, accountId, state: stateOf(capability, now) }
  },
  async at(store, hash, now) {
    const found = await store.findAccessToken(hash)
    if (!found) return undefined
    const { connection, capability } = found
    const expiresAt = Math.min(found.expiresAt, capability.expiresAt)
    const state = stateOf({ revokedAt: capability.revokedAt, expiresAt }, now)
    return { type: 'connection', id: connection.id, accountId: capability.accountId, state }
  },
  async ss(store, hash, now) {
    const session = await store.findSession(hash)
    if (!session) return undefined
    const { personId: id, accountId, expiresAt } = session
    return { type: 'person', id, accountId, state: stateOf({ revokedAt: null, expiresAt }, now) }
  },
}

/** The host that was asked for, and nothing else of the URL. */
function hostOf(input: unknown): { host: string } | Record<string, never> {
  if (typeof input !== 'object' || input === null || !('url' in input) || typeof input.url !== 'string')
    return {}
  const host = URL.parse(input.url)?.hostname
  return host ? { host: host.slice(0, MAX_HOST_LENGTH) } : {}
}
