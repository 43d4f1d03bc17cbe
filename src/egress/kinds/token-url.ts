// Where a kind gets its tokens. The address is the gateway's alone: no fetch with the credential may reach it.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { createSpellings } from '../rules/rules.ts'
import { isSigning, type MintingKind } from './kind.ts'

const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token'
const GITHUB_API = 'https://api.github.com'

export function tokenUrlOf(kind: MintingKind): URL {
  switch (kind.type) {
    case 'oauth2_refresh_token':
    case 'oauth2_client_credentials':
      return new URL(kind.token_url)
    case 'oauth2_jwt_bearer':
      return new URL(kind.token_url ?? GOOGLE_TOKEN_URL)
    case 'github_app':
      return new URL(
        `${(kind.api_url ?? GITHUB_API).replace(/\/$/, '')}/app/installations/${kind.installation_id}/access_tokens`,
      )
  }
}

/** As entries of an allow-list: `host`, or `host:port`. Empty where no token is minted. */
export const tokenHostsOf = ({ kind }: CredentialSettings): readonly string[] =>
  !kind || isSigning(kind) ? [] : [tokenUrlOf(kind).host]

/**
 * An agent that can ask the token endpoint could trade one token for another that no gate knows.
 * @throws {GatewayError} scope_denied
 */
export function refuseTokenEndpoint({ kind }: CredentialSettings, asked: URL): void {
  if (!kind || isSigning(kind)) return
  const { host, pathname } = tokenUrlOf(kind)
  if (asked.host !== host || !createSpellings(asked.pathname)(pathname.slice(1).split('/'))) return
  throw new GatewayError(
    'scope_denied',
    'This is the address where the gateway gets the tokens of this credential, so no fetch is ever sent to it.',
    { reason: 'denied_path', extras: { refused_by: 'credential', denied: pathname } },
  )
}
