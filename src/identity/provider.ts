// Signing in through an identity provider (OpenID Connect, authorization code with PKCE). The gateway asks it who somebody is and in which
// groups, and nothing else: whoever may do what is decided by the roles of those groups, at each sign-in anew.
import { createHmac, hash, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { IdentityProviderRecord, IdentityProviderSettings } from '../../schemas/identity-provider.ts'
import { type Role, ROLES } from '../../schemas/role.ts'
import { GatewayError } from '../core/errors.ts'
import { actAs } from '../lib/acting.ts'
import { newId } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import type { VettedFetch } from '../outbound/fetch.ts'
import type { DocumentStore, SignedIn, Store } from '../store/ports.ts'
import type { IdentityProvider, Sessions } from './ports.ts'
import {
  openClientSecret,
  providerDocument,
  sealClientSecret,
  type StoredProvider,
} from './provider-settings.ts'

const library = () => import('openid-client')

/** Time to sign in over there. */
export const PROVIDER_MS = 10 * 60_000
/** How old a sign-in over there may be that shows again that it is somebody. */
const FRESH_SECONDS = 300
const TIMEOUT_SECONDS = 10
/** For how long the provider's metadata counts as read: anybody may begin a sign-in, and each would have it read again. */
const METADATA_MS = 5 * 60_000
const RETURN_PATH = '/console/sign-in/callback'

export interface ProviderParts {
  readonly store: Store
  readonly documents: DocumentStore
  readonly sessions: Sessions
  readonly addresses: { readonly baseUrl: string }
  readonly deriveKey: (purpose: string) => KeyObject
  readonly providerFetch: VettedFetch
  readonly log: Logger
  readonly now: () => number
}

export function createIdentityProvider(parts: ProviderParts): IdentityProvider {
  const { store, documents, sessions, addresses, providerFetch, log, now } = parts
  const key = parts.deriveKey('identity provider')
  const redirectUri = addresses.baseUrl + RETURN_PATH

  const read = async () => (await documents.read(providerDocument)).value.provider
  const record = ({ sealed_client_secret: sealed, ...rest }: StoredProvider): IdentityProviderRecord => ({
    ...rest,
    has_client_secret: sealed !== null,
    redirect_uri: redirectUri,
  })

  async function discover({ issuer, client_id: clientId }: StoredProvider) {
    const { discovery, customFetch, None } = await library()
    const options = { [customFetch]: providerFetch, timeout: TIMEOUT_SECONDS }
    return (await discovery(new URL(issuer), clientId, undefined, None(), options)).serverMetadata()
  }

  let known: { readonly issuer: string; readonly until: number; readonly metadata: Discovered } | undefined
  /** Read once for all who sign in within some minutes; what failed is not kept. */
  function metadataOf(provider: StoredProvider): Discovered {
    const { issuer } = provider
    if (known?.issuer !== issuer || known.until <= now()) {
      const reading = { issuer, until: now() + METADATA_MS, metadata: discover(provider) }
      known = reading
      reading.metadata.catch(() => {
        if (known === reading) known = undefined
      })
    }
    return known.metadata
  }
  type Discovered = ReturnType<typeof discover>

  /** The provider as it is known, and our client there, whose secret is opened for this one use. */
  async function clientAt(provider: StoredProvider) {
    const openid = await library()
    const metadata = await metadataOf(provider)
    const secret = openClientSecret(key, provider)
    const authentication =
      secret === undefined ? openid.None() : secret.use((text) => openid.ClientSecretPost(text))
    const client = new openid.Configuration(metadata, provider.client_id, undefined, authentication)
    client[openid.customFetch] = providerFetch
    client.timeout = TIMEOUT_SECONDS
    return client
  }

  /** What belongs to one request over there, and is in no store: whoever has the key and the state can tell it. */
  const derived = (purpose: string, state: string) =>
    createHmac('sha256', key).update(`${purpose} ${state}`).digest('base64url')
  const holderOf = (browser: string, personId: string | undefined) =>
    `${hash('sha256', browser)} ${personId ?? ''}`

  /** @throws {GatewayError} sign_in_failed where none is offered */
  async function offered(): Promise<StoredProvider> {
    const provider = await read()
    if (!provider?.enabled) throw failed('There is no identity provider here.', 'no_provider')
    return provider
  }

  return {
    async offer() {
      const provider = await read()
      return provider?.enabled ? { name: provider.name } : undefined
    },
    async settings() {
      const provider = await read()
      return provider && record(provider)
    },
    redirectUri,
    async change(settings, clientSecret) {
      const before = await read()
      const isSame = before?.issuer === settings.issuer && before.client_id === settings.client_id
      const sealed =
        clientSecret === undefined
          ? isSame
            ? (before?.sealed_client_secret ?? null)
            : null
          : clientSecret === ''
            ? null
            : sealClientSecret(key, settings, clientSecret)
      const provider: StoredProvider = { ...settings, sealed_client_secret: sealed }
      if (settings.enabled)
        try {
          known = undefined
          await metadataOf(provider)
        } catch (cause) {
          throw new GatewayError(
            'upstream_unreachable',
            'The metadata of this issuer could not be read, or is of another one. Look at the address, at GATEWAY_EGRESS_PORTS, and at ' +
              'GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS where the provider is in a private network.',
            { cause, reason: 'discovery' },
          )
        }
      await documents.update(providerDocument, () => ({ provider }))
      return record(provider)
    },

    async start({ signedIn }) {
      const provider = await offered()
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library()
      const config = await clientAt(provider).catch((cause: unknown) => {
        throw failed(
          'The identity provider does not answer. Try again, or use a passkey.',
          'discovery',
          cause,
        )
      })
      const state = randomBytes(32).toString('base64url')
      const browser = randomBytes(32).toString('base64url')
      const at = now()
      await store.insertChallenge({
        hash: hash('sha256', state, 'buffer'),
        purpose: 'oidc',
        holder: holderOf(browser, signedIn?.personId),
        expiresAt: at + PROVIDER_MS,
        now: at,
      })
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state,
        nonce: derived('nonce', state),
        code_challenge: await calculatePKCECodeChallenge(derived('verifier', state)),
        code_challenge_method: 'S256',
        ...(signedIn && { prompt: 'login', max_age: '0' }),
      })
      return { url: url.href, browser }
    },

    async finish({ query, browser, signedIn, from }) {
      const provider = await offered()
      const state = query.get('state') ?? ''
      const personId = signedIn?.personId
      const challenge = {
        hash: hash('sha256', state, 'buffer'),
        purpose: 'oidc' as const,
        holder: holderOf(browser, personId),
        now: now(),
      }
      if (browser === '' || !(await store.takeChallenge(challenge)))
        throw failed('This sign-in was not begun in this browser, or is too old. Begin again.', 'state')
      const claims = await exchange(provider, query, state, signedIn)
      const role = roleOf(claims.groups, provider)
      if (role === undefined)
        throw failed(
          'You signed in at your identity provider, and none of your groups is let in here. Ask an owner.',
          'no_group',
        )
      const accountId = await store.firstAccount()
      if (accountId === undefined) throw failed('This gateway has no account yet.', 'no_account')
      const at = now()
      const newcomer = { id: newId('per', at), name: claims.name, createdAt: at, disabledAt: null }
      const acting = { kind: 'person', address: from.address, door: 'console' } as const
      const enter = () =>
        store.signInThroughProvider({
          issuer: provider.issuer,
          subject: claims.subject,
          person: newcomer,
          accountId,
          role,
          admin: true,
          now: at,
        })
      // Of two first sign-ins at once one is refused by the store: it then finds the person that the other has made.
      const known = await actAs(acting, () => enter().catch(enter))
      if (!known.ok)
        throw failed('An owner removed you here. They let you in again with an invitation.', 'removed')
      if (signedIn) {
        if (known.personId !== signedIn.personId)
          throw failed('You signed in over there as somebody else.', 'other_person')
        await actAs({ ...acting, id: known.personId }, () => sessions.freshen(signedIn.sessionId))
        return undefined
      }
      const { token } = await actAs({ ...acting, id: known.personId }, () =>
        sessions.open({ personId: known.personId, accountId, method: 'oidc', from }),
      )
      const opened = await token.use((text) => sessions.find(text))
      if (!opened) throw failed('This session was ended as it began.', 'ended')
      return { signedIn: opened, token }
    },
  }

  /** Who the provider says it is. @throws {GatewayError} sign_in_failed */
  async function exchange(
    provider: StoredProvider,
    query: URLSearchParams,
    state: string,
    signedIn: SignedIn | undefined,
  ): Promise<{ subject: string; name: string; groups: readonly string[] }> {
    const { authorizationCodeGrant, fetchUserInfo } = await library()
    try {
      const config = await clientAt(provider)
      const url = new URL(redirectUri)
      url.search = query.toString()
      const tokens = await authorizationCodeGrant(config, url, {
        expectedState: state,
        expectedNonce: derived('nonce', state),
        pkceCodeVerifier: derived('verifier', state),
        idTokenExpected: true,
        ...(signedIn && { maxAge: FRESH_SECONDS }),
      })
      const claims = tokens.claims()
      if (!claims) throw new Error('no id token')
      const isWhole = claims[provider.groups_claim] !== undefined && typeof claims['name'] === 'string'
      const more =
        isWhole || config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await fetchUserInfo(config, tokens.access_token, claims.sub)
      const all: Readonly<Record<string, unknown>> = { ...more, ...claims }
      return {
        subject: claims.sub,
        name: nameOf(all, claims.sub),
        groups: textsOf(all[provider.groups_claim]),
      }
    } catch (cause) {
      log.info(
        { reason: cause instanceof Error ? cause.message : 'failed' },
        'sign-in at the provider failed',
      )
      throw failed(
        'The answer of the identity provider was not accepted. Begin again on the sign-in page.',
        'exchange',
        cause,
      )
    }
  }
}

const failed = (words: string, reason: string, cause?: unknown) =>
  new GatewayError('sign_in_failed', words, { reason, ...(cause !== undefined && { cause }) })

/** The role of the groups that may most; undefined where they may nothing. */
export function roleOf(
  groups: readonly string[],
  { roles, default_role: rest }: Pick<IdentityProviderSettings, 'roles' | 'default_role'>,
): Role | undefined {
  const given = roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  return ROLES.find((role) => given.includes(role)) ?? rest ?? undefined
}

const textsOf = (claim: unknown): readonly string[] =>
  (Array.isArray(claim) ? claim : [claim]).filter((entry): entry is string => typeof entry === 'string')

/** A name that people know each other by. */
function nameOf(claims: Readonly<Record<string, unknown>>, subject: string): string {
  const names = ['name', 'preferred_username', 'email'].map((claim) => claims[claim])
  const name = names.find((text): text is string => typeof text === 'string' && text.trim() !== '')
  return (name ?? subject).trim().slice(0, 100)
}
