// Storing credentials: what a provider brings, what an allow-list must say, sealing, replacing and revoking.
import { bindingOf } from './sealing.ts'
import type { CredentialSettings } from '../../schemas/credential-settings.ts'
import type { CredentialMetadata } from '../../schemas/egress.ts'
import type { Scope } from '../../schemas/http.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Egress, WantedScope } from './ports.ts'
import { checkParts, describeParts, joinParts } from './placement/parts.ts'
import { placementsOf } from './placement/place.ts'
import { checkSettings, checkTexts } from './placement/settings.ts'
import type { Credential, SealedCredential, Store } from '../store/ports.ts'
import { groupByHolder, toLimits } from './limits/budgets.ts'
import type { SecretParts, Vault } from './ports.ts'
import { providers } from './providers.ts'
import { credentialNotFound } from './refusals.ts'
import { checkPrivateTargets, showTarget } from './reach/private-targets.ts'
import type { SealGate } from './sealing.ts'
import { checkEntries } from './scope.ts'
import { toCredentialMetadata } from './wire.ts'

type CreateInput = Parameters<Egress['createCredential']>[1]

export interface CredentialParts {
  readonly store: Store
  readonly vault: Vault
  readonly seals: SealGate
  readonly egressPorts: readonly number[]
  readonly allowPrivateCidrs: readonly string[]
  readonly allowSandboxName: boolean
  readonly now: () => number
  readonly log: Logger
}

export type Credentials = Pick<
  Egress,
  'createCredential' | 'listCredentials' | 'rotateCredential' | 'revokeCredential'
>

/** Stores, rotates and revokes credentials of an account. Secrets go in sealed, and no method returns one. */
export function createCredentials(parts: CredentialParts): Credentials {
  const { store, vault, seals, now } = parts

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
      const { header, scheme, hosts } = injectionOf(input)
      const settings = settingsOf(input)
      const scope = allowListOf(parts, { ...input.scope, hosts: [...hosts] }, settings)
      checkSecret(input.secret, { header, scheme, settings })
      checkPrivateTargets(settings.unsafe_private_targets, {
        isAdministrator: input.isAdministrator,
        bounds: parts.allowPrivateCidrs,
        ports: parts.egressPorts,
        scope,
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
        const sealed = await vault.seal(joinParts(input.secret, settings), bindingOf(credential))
        await store.insertCredential({ ...credential, sealed }, budgets)
      })
      if (settings.unsafe_private_targets)
        parts.log.warn(
          {
            [LogField.account]: accountId,
            credential_id: credential.id,
            private_targets: settings.unsafe_private_targets.map(showTarget),
          },
          'private targets were granted to a credential',
        )
      return withBudgets(credential)
    },

    async listCredentials(accountId, page) {
      const { items, next } = await store.listCredentials(accountId, page)
      const holders = items.filter(({ isBudgeted }) => isBudgeted).map(({ id }) => id)
      const budgets = groupByHolder(await store.listBudgets(holders, now()))
      return { items: items.map((item) => toCredentialMetadata(item, budgets.get(item.id) ?? [])), next }
    },

    async rotateCredential(accountId, credentialId, secret) {
      const credential = await find(accountId, credentialId)
      if (credential.revokedAt !== null)
        throw new GatewayError('state_conflict', 'This credential was revoked. Store a new one.')
      const { settings } = credential
      checkSecret(secret, credential)
      const version = credential.version + 1
      await seals.run(async () => {
        const sealed = await vault.seal(joinParts(secret, settings), bindingOf({ ...credential, version }))
        const fromVersion = credential.version
        if (!(await store.rotateCredential({ id: credentialId, accountId, fromVersion, sealed, now: now() })))
          throw new GatewayError(
            'state_conflict',
            'Somebody else replaced or revoked this credential at the same moment. Look at it, then decide again.',
          )
      })
      return withBudgets(await find(accountId, credentialId))
    },

    async revokeCredential(accountId, credentialId) {
      const revoked = await store.revokeCredential({ id: credentialId, accountId, now: now() })
      if (!revoked) throw credentialNotFound()
      return withBudgets(revoked)
    },
  }
}

/** A named provider brings host, header and scheme; `custom` brings its own. */
function injectionOf(input: CreateInput): { header: string; scheme: string; hosts: readonly string[] } {
  const { provider, header, scheme } = input
  const hosts = input.scope.hosts
  if (provider === 'custom') {
    if (!hosts)
      throw refused('input_missing_field', '/hosts', 'name the hosts this credential may be sent to')
    const name = header ?? 'authorization'
    return { header: name, scheme: scheme ?? (name === 'authorization' ? 'Bearer' : ''), hosts }
  }
  const preset = providers[provider]
  if (header !== undefined && header !== preset.header)
    throw refused(
      'input_invalid',
      '/header',
      `${provider} takes its secret in ${preset.header}: leave this out`,
    )
  if (scheme !== undefined && scheme !== preset.scheme)
    throw refused('input_invalid', '/scheme', `the scheme of ${provider} is fixed: leave this out`)
  const stranger = hosts?.find((host) => !preset.hosts.includes(host))
  if (stranger !== undefined)
    throw refused(
      'input_invalid',
      '/hosts',
      `${stranger} is not a host of ${provider}; use the provider \`custom\``,
    )
  return { header: preset.header, scheme: preset.scheme, hosts: hosts ?? preset.hosts }
}

/** Everything that a mistake can be told of before the first request. */
function checkSecret(
  secret: SecretParts,
  credential: Pick<Credential, 'header' | 'scheme' | 'settings'>,
): void {
  const { settings } = credential
  const placements = placementsOf(credential)
  checkParts(secret, settings.parts)
  checkSettings(settings, placements)
  checkTexts(secret, placements)
}

/** As given, and what the parts of the secret are called. */
function settingsOf({ secret, settings = {} }: CreateInput): CredentialSettings {
  const parts = describeParts(secret, settings.parts)
  return { ...settings, ...(parts && { parts }) }
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
  return scope
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

const refused = (code: 'input_missing_field' | 'input_invalid', pointer: string, message: string) =>
  new GatewayError(code, `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })
