// Each kind of exchange under its name.
import { exchangeGithubApp } from './github-app.ts'
import type { ExchangeInput, MintedAnswer, MintingKind } from './kind.ts'
import { exchangeClientCredentials, exchangeJwtBearer, exchangeRefreshToken } from './oauth2.ts'

/** @throws {ExchangeFailed} */
export function exchange(input: ExchangeInput<MintingKind>): Promise<MintedAnswer> {
  const { kind } = input
  switch (kind.type) {
    case 'oauth2_refresh_token':
      return exchangeRefreshToken({ ...input, kind })
    case 'oauth2_client_credentials':
      return exchangeClientCredentials({ ...input, kind })
    case 'oauth2_jwt_bearer':
      return exchangeJwtBearer({ ...input, kind })
    case 'github_app':
      return exchangeGithubApp({ ...input, kind })
  }
}
