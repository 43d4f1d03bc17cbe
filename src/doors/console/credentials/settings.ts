// Settings of a stored credential as a form shows them: all but what belongs to its secret, which no edit changes.
import type { z } from 'zod'
import type { egressCredentialsGet } from '../../../../tools/egress-credentials-get.ts'
import type { CredentialMetadata } from '../../../../schemas/egress.ts'
import type { PrivateTarget } from '../../../../schemas/credential-settings.ts'
import { TOKEN_KEY_PART } from './kinds.ts'

/** A credential as its page has it. */
export type ShownCredential = z.infer<(typeof egressCredentialsGet)['output']>

type Shown = Pick<CredentialMetadata, 'settings'>

/** What an edit may change. */
export function editableSettings({ settings }: Shown): Record<string, unknown> {
  const { kind: _kind, parts: _parts, placements: _placements, ...rest } = settings
  return rest
}

/** The private targets as they are typed: `host:port=range`. */
export function targetsOf({ settings }: Shown): string[] {
  const targets = (settings['unsafe_private_targets'] ?? []) as readonly PrivateTarget[]
  return targets.map(({ host, port, cidr }) => `${host}:${port}=${cidr}`)
}

/** The texts that a new secret is made of; undefined where that is one. The gateway makes the key of minted tokens itself. */
export function partsOf({ settings }: Shown): Record<string, 'secret' | 'public'> | undefined {
  const parts = settings['parts'] as Record<string, 'secret' | 'public'> | undefined
  return parts && Object.fromEntries(Object.entries(parts).filter(([name]) => name !== TOKEN_KEY_PART))
}
