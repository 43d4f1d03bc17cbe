// What a new credential is made of: where its secrets go and to which hosts, by the word of a provider or by that of whoever stores it.
import type { CredentialSettings, Placement } from '../../schemas/credential-settings.ts'
import { GatewayError } from '../core/errors.ts'
import type { Credential } from '../store/ports.ts'
import { isSigning } from './kinds/kind.ts'
import { type CompletedParts, completeParts } from './kinds/rules.ts'
import { describeParts, ONLY_PART } from './placement/parts.ts'
import type { Egress } from './ports.ts'
import { CUSTOM, type Provider, type Providers } from './providers/index.ts'
import { isHostOf } from './providers/schema.ts'

type CreateInput = Parameters<Egress['createCredential']>[1]

interface Injection extends Pick<Credential, 'header' | 'scheme' | 'settings'> {
  readonly hosts: readonly string[]
}

/** A named provider brings its hosts and where its secrets go; `custom` brings its own. */
export function injectionOf(providers: Providers, input: CreateInput): Injection {
  if (input.provider === CUSTOM) return ownInjection(input)
  const provider = providers.get(input.provider)
  if (!provider)
    throw refused(
      'input_invalid',
      '/provider',
      `there is no provider ${input.provider}${hintAt(providers, input.provider)}. gateway.egress.providers lists them; \`custom\` takes any host`,
    )
  return presetInjection(provider, input)
}

function ownInjection({ header, scheme, secret, scope, settings = {} }: CreateInput): Injection {
  if (!scope.hosts)
    throw refused('input_missing_field', '/hosts', 'name the hosts this credential may be sent to')
  if (settings.placements && (header !== undefined || scheme !== undefined))
    throw refused('input_invalid', '/header', 'settings.placements say where the secrets go: leave this out')
  const name = header ?? 'authorization'
  const parts = settings.kind ? settings.parts : describeParts(secret, settings.parts)
  return {
    hosts: scope.hosts,
    ...(settings.placements
      ? headerOf(settings.placements)
      : { header: name, scheme: scheme ?? (name === 'authorization' ? 'Bearer' : '') }),
    settings: { ...settings, ...(parts && { parts }) },
  }
}

/** The first header of a credential that has one: what lists show of a place. */
function headerOf(placements: readonly Placement[]): Pick<Credential, 'header' | 'scheme'> {
  const first = placements.find((placement) => placement.in === 'header')
  return { header: first?.name ?? '', scheme: first?.scheme ?? '' }
}

function presetInjection(provider: Provider, input: CreateInput): Injection {
  const { id, placements, parts } = provider
  const { header, scheme, secret, scope, settings = {} } = input
  const preset = headerOf(placements)
  if (header !== undefined && header !== preset.header)
    throw refused(
      'input_invalid',
      '/header',
      `${id} takes its secret in ${placesOf(provider)}: leave this out`,
    )
  if (scheme !== undefined && scheme !== preset.scheme)
    throw refused('input_invalid', '/scheme', `the scheme of ${id} is fixed: leave this out`)
  for (const name of ['placements', 'parts'] as const)
    if (settings[name] !== undefined)
      throw refused(
        'input_invalid',
        `/settings/${name}`,
        `${id} brings its own: leave this out, or use \`custom\``,
      )
  if (parts !== undefined && settings.kind)
    throw refused(
      'input_invalid',
      '/settings/kind',
      `${id} takes several texts as they are: leave this out, or use \`custom\``,
    )
  if (parts === undefined && !settings.kind && !secret.has(ONLY_PART))
    throw refused('input_invalid', '/parts', `${id} takes one text: send it as \`secret\``)
  const { hosts } = scope
  const stranger = hosts?.find((host) => !isHostOf(provider, host))
  if (stranger !== undefined)
    throw refused(
      'input_invalid',
      '/hosts',
      `${stranger} is not a host of ${id}; use the provider \`custom\``,
    )
  if (!hosts && provider.hosts.length === 0)
    throw refused(
      'input_missing_field',
      '/hosts',
      `name yours, which ends in ${provider.host_suffixes.join(' or ')}`,
    )
  const isOneHeader = placements.length === 1 && placements[0]?.in === 'header'
  return {
    hosts: hosts ?? provider.hosts,
    ...preset,
    settings: { ...settings, ...(parts && { parts }), ...(!isOneHeader && { placements: [...placements] }) },
  }
}

const placesOf = ({ placements }: Provider) =>
  placements
    .map((placement) => (placement.in === 'header' ? placement.name : `the ${placement.in}`))
    .join(' and ')

/** Providers that begin as the unknown name does. */
function hintAt(providers: Providers, id: string): string {
  const alike = providers.list().filter((provider) => provider.id.slice(0, 3) === id.slice(0, 3))
  return alike.length === 0 ? '' : ` (did you mean ${alike.map((provider) => provider.id).join(' or ')}?)`
}

/**
 * The secret and the settings of a new credential; a kind names its parts itself.
 * @param placed what the provider makes of the settings that were given
 */
export function completeKind(
  { secret, settings: given = {} }: CreateInput,
  placed: CredentialSettings,
  egressPorts: readonly number[],
): CompletedParts {
  const { kind } = placed
  if (!kind) return { secret, settings: placed }
  if (given.parts && kind.type !== 'hmac')
    throw refused('input_invalid', '/settings/parts', `${kind.type} names its parts itself: leave this out`)
  if (given.placements && isSigning(kind))
    throw refused('input_invalid', '/settings/placements', `${kind.type} signs the request: leave this out`)
  const { placements, ...rest } = placed
  const settings = placements && !isSigning(kind) ? placed : rest
  return completeParts(secret, settings, { ports: egressPorts })
}

/** @returns the refusal of one field, which it names */
export const refused = (code: 'input_missing_field' | 'input_invalid', pointer: string, message: string) =>
  new GatewayError(code, `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })
