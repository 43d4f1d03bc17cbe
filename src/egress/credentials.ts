// Storing credentials: what a provider brings, what an allow-list must say, sealing, replacing and revoking.
import { bindingOf } from './sealing.ts'
import { type ApprovalRule, isAsStrict } from '../../schemas/approval.ts'
import type { CredentialSettings } from '../../schemas/credential-settings.ts'
import type { CredentialMetadata } from '../../schemas/egress.ts'
import type { Scope } from '../../schemas/http.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import { completeKind, injectionOf, refused } from './injection.ts'
import type { Egress, WantedScope } from './ports.ts'
import type { Editions } from './kinds/editions.ts'
import { describeTokens } from './kinds/health.ts'
import { isSigning } from './kinds/kind.ts'
import { REFRESH_TOKEN_PART } from './kinds/living-tokens.ts'
import { type NextText, replaceSecret } from './kinds/replacing.ts'
import { checkSigningKey, completeParts, signingHeaderOf } from './kinds/rules.ts'
import { tokenHostsOf } from './kinds/token-url.ts'
import { checkParts, joinParts } from './placement/parts.ts'
import { placementsOf } from './placement/place.ts'
import { checkSettings, checkTexts } from './placement/settings.ts'
import type { Credential, SealedCredential, Store } from '../store/ports.ts'
import { groupByHolder, toLimits } from './limits/budgets.ts'
import type { SecretParts, TlsTrial, Vault } from './ports.ts'
import { CUSTOM, type Providers } from './providers/index.ts'
import { isHostOf } from './providers/schema.ts'
import { credentialNotFound } from './refusals.ts'
import { checkPrivateTargets, showTarget } from './reach/private-targets.ts'
import { checkTlsIdentity, withoutTlsParts, withoutTlsSettings } from './reach/tls-identity.ts'
import type { SealGate } from './sealing.ts'
import { refuseDeadRule } from './rules/judge.ts'
import { asksNoLess, droppedBy } from './rules/kept.ts'
import { checkEntries } from './scope.ts'
import { toCredentialMetadata } from './wire.ts'

type EditInput = Parameters<Egress['editCredential']>[2]

export interface CredentialParts {
  readonly store: Store
  readonly vault: Vault
  readonly seals: SealGate
  /** Hears of each secret that is replaced here. */
  readonly editions: Pick<Editions, 'note'>
  readonly providers: Providers
  readonly egressPorts: readonly number[]
  readonly allowPrivateCidrs: readonly string[]
  readonly allowSandboxName: boolean
  readonly tryTls: TlsTrial
  readonly now: () => number
  readonly log: Logger
}

export type Credentials = Pick<
  Egress,
  | 'createCredential'
  | 'getCredential'
  | 'tokenHealth'
  | 'listCredentials'
  | 'rotateCredential'
  | 'editCredential'
  | 'revokeCredential'
  | 'deleteCredential'
>

/** Stores, rotates and revokes credentials of an account. Secrets go in sealed, and no method returns one. */
export function createCredentials(parts: CredentialParts): Credentials {
  const { store, vault, seals, tryTls, now } = parts
  const trial = () => ({ now: now(), tryTls })

  async function find(accountId: string, credentialId: string): Promise<SealedCredential> {
    const credential = await store.getCredential(credentialId, accountId)
    if (!credential) throw credentialNotFound()
    return credential
  }

  const withBudgets = async (credential: Credential) =>
    toCredentialMetadata(
      credential,
      credential.isBudgeted ? await store.listBudgets([credential.id], now()) : [],
    )

  return {
    async createCredential(accountId, input): Promise<CredentialMetadata> {
      const { hosts, ...injection } = injectionOf(parts.providers, input)
      const { secret, settings } = completeKind(input, injection.settings, parts.egressPorts)
      await checkSigningKey(settings, secret)
      const { header, scheme } = signingHeaderOf(settings) ?? injection
      const scope = allowListOf(parts, { ...input.scope, hosts: [...hosts] }, settings)
      checkSecret(secret, { header, scheme, settings }, trial())
      checkPrivateTargets(settings.unsafe_private_targets, {
        isAdministrator: input.isAdministrator,
        bounds: parts.allowPrivateCidrs,
        ports: parts.egressPorts,
        scope: { ...scope, hosts: [...scope.hosts, ...tokenHostsOf(settings)] },
      })
      const budgets = toLimits(input.budgets)
      const createdAt = now()
      const credential: Credential = {
        id: newId('cred', createdAt),
        accountId,
        provider: input.provider,
        label: input.label,
        scope,
        header,
        scheme,
        settings,
        version: 1,
        createdAt,
        isBudgeted: budgets.length > 0,
        rotatedAt: null,
        editedAt: null,
        revokedAt: null,
      }
      await seals.run(async () => {
        const sealed = await vault.seal(joinParts(secret, settings), bindingOf(credential))
        await store.insertCredential({ ...credential, sealed }, budgets)
      })
      logGrant(parts.log, credential)
      return withBudgets(credential)
    },

    getCredential: async (accountId, credentialId) => withBudgets(await find(accountId, credentialId)),

    async tokenHealth(accountId, credentials) {
      const minting = credentials.filter(({ settings, revoked_at }) => revoked_at === null && mints(settings))
      const rows = await Promise.all(
        minting.map(({ credential_id }) => store.getMintedTokens(credential_id, accountId)),
      )
      return new Map(
        minting.map(({ credential_id }, at) => [credential_id, describeTokens(rows[at], now())] as const),
      )
    },

    async listCredentials(accountId, page) {
      const { items, next } = await store.listCredentials(accountId, page)
      const holders = items.filter(({ isBudgeted }) => isBudgeted).map(({ id }) => id)
      const budgets = groupByHolder(await store.listBudgets(holders, now()))
      return { items: items.map((item) => toCredentialMetadata(item, budgets.get(item.id) ?? [])), next }
    },

    async rotateCredential(accountId, credentialId, given) {
      const credential = await find(accountId, credentialId)
      if (credential.revokedAt !== null) throw alreadyRevoked()
      const { settings } = credential
      const textOf = (texts: SecretParts) => {
        const { secret } = completeParts(texts, settings, { ports: parts.egressPorts })
        checkSecret(secret, credential, trial())
        return joinParts(secret, settings)
      }
      const text: NextText = mayKeepToken(given, settings)
        ? (token) => textOf(new Map([...given, [REFRESH_TOKEN_PART, token]]))
        : textOf(given)
      await checkSigningKey(settings, given)
      await seals.run(async () => {
        if (!(await replaceSecret(parts, credential, text))) throw changedMeanwhile()
      })
      parts.editions.note(credentialId, { version: credential.version + 1, generation: 0 })
      return withBudgets(await find(accountId, credentialId))
    },

    async editCredential(accountId, credentialId, wishes) {
      const credential = await find(accountId, credentialId)
      if (credential.revokedAt !== null) throw alreadyRevoked()
      const edited = editedOf(parts, credential, wishes)
      const budgets = wishes.budgets && toLimits(wishes.budgets)
      const dropped = droppedBy(credential.settings, edited.settings)
      const text = await vault.open(credential.sealed, bindingOf(credential)).catch((cause: unknown) => {
        throw new GatewayError(
          'credential_unavailable',
          'The stored secret could not be opened, so nothing was changed. Replace the secret, then edit.',
          { cause },
        )
      })
      const stored = await seals.run(async () =>
        store.editCredential({
          id: credentialId,
          accountId,
          fromVersion: credential.version,
          label: edited.label,
          scope: edited.scope,
          settings: edited.settings,
          budgets,
          dropped,
          sealed: await vault.seal(text, bindingOf({ ...edited, version: credential.version + 1 })),
          now: now(),
        }),
      )
      if (!stored) throw changedMeanwhile()
      if (wishes.settings) logGrant(parts.log, edited)
      return {
        ...(await withBudgets(stored)),
        ...(dropped.settings.length > 0 && { dropped_settings: [...dropped.settings] }),
        ...(dropped.rules.length > 0 && { dropped_rules: [...dropped.rules] }),
      }
    },

    async deleteCredential(accountId, credentialId) {
      const deleted = await store.deleteCredential({ id: credentialId, accountId, now: now() })
      if (!deleted) throw credentialNotFound()
    },

    async revokeCredential(accountId, credentialId) {
      const revoked = await store.revokeCredential({ id: credentialId, accountId, now: now() })
      if (!revoked) throw credentialNotFound()
      return withBudgets(revoked)
    },
  }
}

/** The newest refresh token is known to nobody but the gateway, where the provider replaced it: whoever leaves it out means that one. */
const mayKeepToken = (given: SecretParts, { kind }: CredentialSettings) =>
  kind?.type === 'oauth2_refresh_token' && given.size > 0 && !given.has(REFRESH_TOKEN_PART)

function mints(settings: CredentialMetadata['settings']): boolean {
  const { kind } = settings as CredentialSettings
  return kind !== undefined && !isSigning(kind)
}

/** Administrators look for this line. */
function logGrant(log: Logger, { id, accountId, settings }: Credential): void {
  const targets = settings.unsafe_private_targets
  if (targets)
    log.warn(
      { [LogField.account]: accountId, credential_id: id, private_targets: targets.map(showTarget) },
      'private targets were granted to a credential',
    )
}

const alreadyRevoked = () =>
  new GatewayError('state_conflict', 'This credential was revoked. Store a new one.')
const changedMeanwhile = () =>
  new GatewayError(
    'state_conflict',
    'Somebody else changed or revoked this credential at the same moment. Look at it, then decide again.',
  )

/** What a secret is, and where it goes, changes with the secret alone. */
const SEALED_WITH_SECRET = ['kind', 'parts', 'placements'] as const

/**
 * The credential as it would be, checked as a new one is. Its secret stays, and so does what the settings say of that.
 * @throws {GatewayError} input_invalid, admin_required
 */
function editedOf(parts: CredentialParts, credential: SealedCredential, wishes: EditInput): SealedCredential {
  const { label = credential.label, scope: wanted } = wishes
  const settings = { ...(wishes.settings ?? credential.settings) }
  for (const name of SEALED_WITH_SECRET) {
    if (wishes.settings?.[name] !== undefined)
      throw refused(
        'input_invalid',
        `/settings/${name}`,
        'this belongs to the secret: leave it out, or store a new credential',
      )
    if (credential.settings[name] !== undefined)
      Object.assign(settings, { [name]: credential.settings[name] })
  }
  checkApproval(credential.settings.approval, settings.approval, wishes.isOwner)
  checkAsking(credential.settings, settings, wishes.isOwner)
  const hosts = wanted.hosts ?? credential.scope.hosts
  const provider = credential.provider === CUSTOM ? undefined : parts.providers.get(credential.provider)
  const stranger = provider && hosts.find((host) => !isHostOf(provider, host))
  if (stranger !== undefined)
    throw refused('input_invalid', '/hosts', `${stranger} is not a host of ${credential.provider}`)
  const given = {
    hosts: [...hosts],
    path_prefixes: wanted.path_prefixes ?? credential.scope.path_prefixes,
    methods: wanted.methods ?? credential.scope.methods,
  }
  if (credential.provider !== CUSTOM && !provider && wanted.hosts)
    throw refused(
      'input_invalid',
      '/hosts',
      `${credential.provider} is not known here any more: leave this out`,
    )
  const scope = allowListOf(parts, given, settings)
  checkSettings(
    settings.kind ? { ...settings, parts: undefined } : withoutTlsSettings(settings),
    placementsOf({ ...credential, settings }),
  )
  // The client certificate is a part of the secret, which stays.
  checkTlsIdentity({ tls: settings.tls }, new Map(), { now: parts.now(), tryTls: parts.tryTls })
  // What an administrator allowed for one scope is not carried into another by anybody else.
  checkPrivateTargets(settings.unsafe_private_targets, {
    isAdministrator: wishes.isAdministrator,
    bounds: parts.allowPrivateCidrs,
    ports: parts.egressPorts,
    scope: { ...scope, hosts: [...scope.hosts, ...tokenHostsOf(settings)] },
  })
  return { ...credential, label, scope, settings }
}

/**
 * The rule for every request with a credential is not taken away by those whom it is there to hold.
 * @throws {GatewayError} role_required
 */
function checkApproval(before: ApprovalRule | undefined, after: ApprovalRule | undefined, isOwner: boolean) {
  if (!before || isOwner || (after && isAsStrict(after, before))) return
  throw new GatewayError(
    'role_required',
    'Only an owner of the account takes the approval of this credential away, or asks for less of it: send `approval` in `settings` as it is.',
    { extras: { approval: before } },
  )
}

/**
 * The same of rules that ask a person about some requests.
 * @throws {GatewayError} role_required
 */
function checkAsking(before: CredentialSettings, after: CredentialSettings, isOwner: boolean) {
  if (isOwner || asksNoLess(before, after)) return
  throw new GatewayError(
    'role_required',
    'Only an owner of the account takes a rule away by which a person is asked: `settings` replaces all of them, so send `rules` in it with each ' +
      '`ask` as it is, or as a `deny`, and with no new `allow` before it.',
    { extras: { rules: [...(before.rules ?? [])] } },
  )
}

/** Everything that a mistake can be told of before the first request. */
function checkSecret(
  secret: SecretParts,
  credential: Pick<Credential, 'header' | 'scheme' | 'settings'>,
  trial: { readonly now: number; readonly tryTls: TlsTrial },
): void {
  const { settings } = credential
  const placements = placementsOf(credential)
  checkParts(secret, settings.parts)
  checkTlsIdentity(settings, secret, trial)
  if (settings.kind) return checkSettings({ ...settings, parts: undefined }, placements)
  checkSettings(withoutTlsSettings(settings), placements)
  checkTexts(withoutTlsParts(secret), placements)
}

/** An allow-list is required, and every entry of it must be something a canonical request can match. */
function allowListOf(
  parts: CredentialParts,
  given: WantedScope & { hosts: string[] },
  settings: CredentialSettings,
): Scope {
  const { path_prefixes, methods } = given
  if (!path_prefixes) throw refused('input_missing_field', '/path_prefixes', 'name the allowed path prefixes')
  if (!methods) throw refused('input_missing_field', '/methods', 'name the allowed methods')
  const scope = { hosts: unique(given.hosts), path_prefixes: unique(path_prefixes), methods: unique(methods) }
  const verdict = checkEntries(scope, {
    ports: parts.egressPorts,
    allowSandboxName: parts.allowSandboxName,
    allowEncodedSlash: settings.encoded_slash,
  })
  if (!verdict.ok) throw refused('input_invalid', verdict.pointer, `${verdict.value} ${verdict.message}`)
  if (settings.rules) refuseDeadRule(settings.rules, '/settings/rules', settings)
  return scope
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]
