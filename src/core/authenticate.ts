// Decides who is calling from the tokens a door found. A door only finds tokens; it never judges them.
import { GatewayError } from './errors.ts'
import type { Agent, Caller, CallerKind, Operator, Seller } from './caller.ts'
import type { SignedIn, Store } from '../store/ports.ts'
import { hashToken, parseToken, type TokenKind } from '../lib/tokens.ts'

/** Tokens as carried (contract, section 4). */
export interface PresentedTokens {
  /** The token of `Authorization: Bearer`. */
  readonly bearer?: string | undefined
  /** The value of `X-Gateway-Capability`. */
  readonly capabilityHeader?: string | undefined
  /** The tool argument `capability`. */
  readonly capabilityArgument?: string | undefined
  /** The tool argument `email_key`. */
  readonly emailKeyArgument?: string | undefined
  /** The cookie of a person who signed in; the console alone finds it. */
  readonly session?: string | undefined
}

export type AuthenticationStore = Pick<
  Store,
  'findKey' | 'findCapability' | 'findEmailKey' | 'findSession' | 'findAccessToken'
>

const NO_CAPABILITY =
  'Send the capability the operator issued to you (agw_cap_…) as `Authorization: Bearer`, as `X-Gateway-Capability`, ' +
  'or as the tool argument `capability`.'
const NOT_A_SERVICE_KEY =
  'A service key (agw_sk_…) operates the account and is not accepted here. It issues the capability that is: ' +
  'gateway.egress.capabilities.issue. '
const ONLY_SELLER =
  'This service key belongs to a seller and opens the tools of sellers only. Use a key of an operator here.'
const NO_KEY = 'Send a service key (agw_sk_…) as `Authorization: Bearer`.'
const NO_SELLER_KEY =
  'Send the service key (agw_sk_…) of your seller as `Authorization: Bearer`: gateway.marketplace.sellers.register gives one.'
const NO_EMAIL_KEY =
  'Send an email key (agw_ek_…) as `Authorization: Bearer` or as the input member `email_key`: gateway.keys.free makes one. A ' +
  'service key is accepted too, as `Authorization: Bearer`.'
const ONLY_EMAIL = 'An email key (agw_ek_…) is for email verification only.'

/**
 * A seller's key opens the tools of sellers. At a tool for everybody its holder is nobody in particular, as the holder of an email key is.
 * @throws {GatewayError} 401 key_required, key_invalid, capability_required, capability_invalid; 403 admin_required, operator_required
 */
export async function authenticate(
  required: CallerKind,
  tokens: PresentedTokens,
  context: { store: AuthenticationStore; now: number; address: string },
): Promise<Caller> {
  const bearerKind = kindOfBearer(tokens.bearer)
  const capability =
    tokens.capabilityArgument ??
    tokens.capabilityHeader ??
    (bearerKind === 'cap' || bearerKind === 'at' ? tokens.bearer : undefined)
  const key = tokens.session ?? (bearerKind === 'sk' ? tokens.bearer : undefined)
  const access = key === undefined && kindOfBearer(capability) === 'at' ? capability : undefined

  const emailKey = bearerKind === 'ek' ? tokens.bearer : undefined
  // A capability beside it is what counts; alone, it opens nothing but email verification.
  const instead = emailKey !== undefined && required !== 'email' ? `${ONLY_EMAIL} ` : ''

  switch (required) {
    case 'email':
      // The argument was written for this very call.
      if (tokens.emailKeyArgument !== undefined) return emailUser(tokens.emailKeyArgument, context)
      if (key !== undefined) return operator(key, context)
      if (emailKey === undefined) throw new GatewayError('key_required', NO_EMAIL_KEY)
      return emailUser(emailKey, context)
    case 'seller':
      if (access !== undefined) return await operatorFor(access, context)
      if (key === undefined) throw new GatewayError('key_required', instead + NO_SELLER_KEY)
      return holder(key, context)
    case 'capability':
      if (capability === undefined)
        throw new GatewayError(
          'capability_required',
          (key === undefined ? instead : NOT_A_SERVICE_KEY) + NO_CAPABILITY,
        )
      return await agent(capability, context)
    case 'operator':
    case 'admin': {
      if (key === undefined && access === undefined) throw new GatewayError('key_required', instead + NO_KEY)
      const caller =
        key === undefined ? await operatorFor(access ?? '', context) : await operator(key, context)
      if (required === 'admin' && !caller.admin)
        throw new GatewayError('admin_required', "Use the service key of the installation's first account.")
      return caller
    }
    case 'account':
      if (key !== undefined) return operator(key, context)
      if (capability !== undefined) return agent(capability, context)
      throw new GatewayError(
        'key_required',
        `${instead}${NO_KEY} An agent sends its capability instead. ${NO_CAPABILITY}`,
      )
    case 'anyone':
      if (key !== undefined) {
        const caller = await holder(key, context)
        return caller.kind === 'operator' ? caller : anonymous(context)
      }
      if (capability !== undefined) return agent(capability, context)
      // An email key belongs to no account, so its holder is nobody here; a wrong one is refused all the same.
      if (emailKey !== undefined) await emailUser(emailKey, context)
      return anonymous(context)
  }
}

/** The kind of caller whom these tokens are of, if they are good; undefined where there is none of ours. */
export function callerOf({
  bearer,
  capabilityHeader,
}: PresentedTokens): Extract<CallerKind, 'seller' | 'email' | 'capability'> | undefined {
  const kind = kindOfBearer(bearer)
  // A seller's key is the least that a service key is.
  if (kind === 'sk') return 'seller'
  if (capabilityHeader !== undefined || kind === 'cap' || kind === 'at') return 'capability'
  return kind === 'ek' ? 'email' : undefined
}

/** What every access token allows: what the person picked. */
export const GATEWAY_SCOPE = 'gateway'

/** The scope of an access token that may call tools of operators. */
export const OPERATOR_SCOPE = 'gateway:operator'

/** The person who allowed an assistant to operate, as far as it may. @throws {GatewayError} insufficient_scope */
async function operatorFor(
  token: string,
  context: { store: AuthenticationStore; now: number; address: string },
): Promise<Operator> {
  const { accountId, connection, address } = await agent(token, context)
  if (!connection?.mayOperate || connection.role === 'seller')
    throw new GatewayError(
      'insufficient_scope',
      'The person who connected this assistant did not allow it the tools of operators. Ask them to: they are asked again where you sign in ' +
        `with the scope ${OPERATOR_SCOPE}, or they change the connection in the console.`,
      { extras: { scope: `${GATEWAY_SCOPE} ${OPERATOR_SCOPE}` } },
    )
  const { role, admin } = connection
  return { kind: 'operator', id: connection.id, accountId, admin, role, address, connection }
}

/** Judged by prefix, so that a mistyped key is told it is mistyped and not that it is missing. */
function kindOfBearer(bearer: string | undefined): TokenKind | undefined {
  if (bearer?.startsWith('agw_sk_')) return 'sk'
  if (bearer?.startsWith('agw_cap_')) return 'cap'
  if (bearer?.startsWith('agw_ek_')) return 'ek'
  if (bearer?.startsWith('agw_at_')) return 'at'
  return undefined
}

const anonymous = ({ address }: { address: string }): Extract<Caller, { kind: 'anonymous' }> => ({
  kind: 'anonymous',
  id: 'anonymous',
  address,
})

async function operator(
  token: string,
  context: { store: AuthenticationStore; now: number; address: string },
): Promise<Operator> {
  const caller = await holder(token, context)
  if (caller.kind === 'seller') throw new GatewayError('operator_required', ONLY_SELLER)
  return caller
}

/** Whoever holds this service key, in the role that the key has. */
async function holder(
  token: string,
  { store, now, address }: { store: AuthenticationStore; now: number; address: string },
): Promise<Operator | Seller> {
  if (token.startsWith('agw_ss_')) return person(token, { store, now, address })
  const key = parseToken(token)?.kind === 'sk' ? await store.findKey(hashToken(token)) : undefined
  if (!key)
    throw new GatewayError(
      'key_invalid',
      'This service key is mistyped, revoked or of another installation. Use one that `agent-gateway keys create` printed here.',
    )
  if (key.role === 'seller') return { kind: 'seller', id: key.id, accountId: key.accountId, address }
  return { kind: 'operator', id: key.id, accountId: key.accountId, admin: key.admin, role: key.role, address }
}

/** Whoever signed in, in the role that they have for the account whose pages they see. */
async function person(
  token: string,
  { store, now, address }: { store: AuthenticationStore; now: number; address: string },
): Promise<Operator | Seller> {
  const session = parseToken(token)?.kind === 'ss' ? await store.findSession(hashToken(token)) : undefined
  if (!session || session.expiresAt <= now)
    throw new GatewayError('sign_in_required', 'You are signed out. Sign in again: what you typed is kept.')
  return callerOfSession(session, address)
}

/** A person who is signed in, as the caller of what they do. */
export function callerOfSession(session: SignedIn, address: string): Operator | Seller {
  const { personId: id, accountId, admin, role } = session
  if (role === 'seller') return { kind: 'seller', id, accountId, address, session }
  return { kind: 'operator', id, accountId, admin, role, address, session }
}

async function emailUser(
  token: string,
  { store, address }: { store: AuthenticationStore; address: string },
): Promise<Caller> {
  const key = parseToken(token)?.kind === 'ek' ? await store.findEmailKey(hashToken(token)) : undefined
  if (!key)
    throw new GatewayError(
      'key_invalid',
      /^agw_(?!ek_)/.test(token)
        ? '`email_key` takes an email key (agw_ek_…) and no other token: gateway.keys.free gives one. A service key goes into ' +
            '`Authorization: Bearer`, never into an argument.'
        : 'This email key is mistyped, revoked or of another installation. gateway.keys.free gives a new one.',
    )
  return { kind: 'email', id: key.id, address }
}

/** An agent with the capability that an operator issued, or an assistant that a person connected. */
async function agent(
  token: string,
  { store, now, address }: { store: AuthenticationStore; now: number; address: string },
): Promise<Agent> {
  const kind = parseToken(token)?.kind
  if (kind === 'at') return assistant(token, { store, now, address })
  const capability = kind === 'cap' ? await store.findCapability(hashToken(token)) : undefined
  if (!capability)
    throw new GatewayError(
      'capability_invalid',
      'This capability is mistyped or was never issued here. Compare it with what the operator gave you, or ask for a new one.',
    )
  if (capability.revokedAt !== null)
    throw new GatewayError(
      'capability_invalid',
      'This capability was revoked. Ask the operator for a new one.',
    )
  if (capability.expiresAt <= now)
    throw new GatewayError(
      'capability_invalid',
      `This capability expired at ${new Date(capability.expiresAt).toISOString()}. Ask the operator for a new one.`,
    )
  return { kind: 'agent', id: capability.id, accountId: capability.accountId, capability, address }
}

async function assistant(
  token: string,
  { store, now, address }: { store: AuthenticationStore; now: number; address: string },
): Promise<Agent> {
  const found = await store.findAccessToken(hashToken(token))
  if (!found)
    throw new GatewayError(
      'capability_invalid',
      'This access token was never issued here, or has long expired. Sign in again.',
    )
  const { capability, connection } = found
  if (capability.revokedAt !== null || capability.expiresAt <= now)
    throw new GatewayError(
      'capability_invalid',
      'The person who connected this assistant ended the connection, or its time is over. Sign in again to ask for a new one.',
    )
  if (found.expiresAt <= now)
    throw new GatewayError(
      'capability_invalid',
      'This access token has expired. Use the refresh token, or sign in again.',
    )
  return {
    kind: 'agent',
    id: capability.id,
    accountId: capability.accountId,
    capability,
    address,
    connection,
  }
}
