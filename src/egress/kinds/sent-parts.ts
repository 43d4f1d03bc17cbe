// Which parts of a credential an upstream ever sees: answers are searched for those.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import type { SecretParts } from '../ports.ts'
import { isSigning } from './kind.ts'
import { TOKEN_KEY_PART } from './token-seal.ts'

/** Of kinds that mint tokens: what stays here, so that no answer can hold it. */
const NEVER_SENT = new Set([TOKEN_KEY_PART, 'private_key'])

/** Without what is never sent to anybody. */
export const sentParts = (parts: SecretParts, { kind }: CredentialSettings): SecretParts =>
  kind && !isSigning(kind) ? new Map([...parts].filter(([name]) => !NEVER_SENT.has(name))) : parts
