// The path of a request as the gateway judges it, by its scope and its rules: in the one spelling that is sent, without the segment that the secret
// goes into. What a program puts there may be a key of its own, which nothing here is to write down.
import type { CredentialSettings, Placement } from '../../../schemas/credential-settings.ts'
import type { CredentialMetadata } from '../../../schemas/egress.ts'
import { placementsOf } from '../../egress/placement/place.ts'
import { isHostOf } from '../../egress/providers/schema.ts'
import { programTarget } from '../../egress/relay/target.ts'
import { parseTarget } from '../../egress/target.ts'

/** What is known of a credential. */
type KnownCredential = Pick<CredentialMetadata, 'header' | 'scheme' | 'settings'>

/** A provider, as the gateway tells everybody. */
export interface ProviderPlacements {
  readonly hosts?: readonly string[]
  readonly host_suffixes?: readonly string[]
  readonly placements?: readonly Placement[]
}

/** @returns what a credential of the provider of this host is like, for whoever holds a capability and is not told of its credential */
export function usualCredential(providers: readonly ProviderPlacements[], host: string): KnownCredential {
  const provider = providers.find(({ hosts = [], host_suffixes = [] }) =>
    isHostOf({ hosts: [...hosts], host_suffixes: [...host_suffixes] }, host),
  )
  return {
    header: 'authorization',
    scheme: 'Bearer',
    settings: { encoded_slash: true, ...(provider?.placements && { placements: provider.placements }) },
  }
}

/**
 * @param url absolute, as the program wrote it
 * @returns undefined where the gateway refuses the address, whatever the rules are
 */
export function judgedPath(
  url: string,
  { header, scheme, settings: kept }: KnownCredential,
): string | undefined {
  const settings = kept as CredentialSettings
  try {
    const verdict = parseTarget(programTarget(url, placementsOf({ header, scheme, settings })), {
      ports: [Number(URL.parse(url)?.port || 443)],
      allowSandboxName: true,
      allowEncodedSlash: settings.encoded_slash,
    })
    return verdict.ok ? verdict.path : undefined
  } catch {
    return undefined
  }
}
