// Where documents say that one signs in. The authorization server says the same in its own (RFC 8414); a test compares them.
import { GATEWAY_SCOPE, OPERATOR_SCOPE } from '../core/authenticate.ts'

export interface SignInAddresses {
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly deviceAuthorizationUrl: string
  readonly metadataUrl: string
}

export const signInAddresses = (baseUrl: string): SignInAddresses => ({
  authorizationUrl: `${baseUrl}/oauth/authorize`,
  tokenUrl: `${baseUrl}/oauth/token`,
  deviceAuthorizationUrl: `${baseUrl}/oauth/device`,
  metadataUrl: `${baseUrl}/.well-known/oauth-authorization-server`,
})

/** What a token may be asked for, and what it then opens. */
export const SIGN_IN_SCOPES: Readonly<Record<string, string>> = {
  [GATEWAY_SCOPE]:
    'What the person picks who connects you: credentials, hosts, paths, methods, budgets, and paid tools where they say so',
  [OPERATOR_SCOPE]:
    'The tools of operators besides, where they say so and as far as they may use them themselves',
}
