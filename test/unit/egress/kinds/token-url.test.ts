import { expect, test } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { refuseTokenEndpoint } from '../../../../src/egress/kinds/token-url.ts'

const kind: CredentialSettings['kind'] = {
  type: 'oauth2_client_credentials',
  token_url: 'https://id.example.com/oauth/token',
  client_id: 'c',
}

test.each([
  ['/oauth/token', true],
  ['/oauth/token/', true],
  ['/OAuth/Token', true],
  ['/oauth%2Ftoken', true],
  ['/oauth/token.json', true],
  ['/oauth/token.', true],
  ['/oauth/token%20', true],
  ['/oauth/tok%65n', true],
  ['/oauth/tokens', false],
  ['/oauth/token/revoke', false],
  ['/oauth', false],
])('the token endpoint is not reached as %s: %s', (path, isRefused) => {
  const ask = () => refuseTokenEndpoint({ kind }, new URL(path, 'https://id.example.com'))
  if (isRefused) expect(ask).toThrow('gets the tokens of this credential')
  else expect(ask).not.toThrow()
})

test('another host has a path of its own', () => {
  expect(() => refuseTokenEndpoint({ kind }, new URL('https://api.example.com/oauth/token'))).not.toThrow()
})
