import { expect, test } from 'vitest'
import { MandateTerms } from '../../../schemas/actions.ts'
import { checkMandate } from '../../../src/actions/mandate-scope.ts'
import { normaliseTerms } from '../../../src/actions/mandates.ts'

const NOW = Date.UTC(2026, 5, 1)
const mandate = {
  ...normaliseTerms(
    MandateTerms.parse({
      purpose: 'x',
      credential_id: 'cred_1',
      host: 'api.example.com',
      path_prefix: '/v1',
      methods: ['POST'],
      max_calls: 1,
      expires_at: new Date(NOW + 1000).toISOString(),
    }),
  ),
  revokedAt: null as number | null,
}
const asked = {
  credentialId: 'cred_1',
  host: 'api.example.com',
  port: 443,
  path: '/v1/things',
  method: 'POST',
}

test.each<[string, Partial<typeof mandate>, Partial<typeof asked>, string]>([
  ['as it is', {}, {}, 'ok'],
  ['the prefix itself', {}, { path: '/v1' }, 'ok'],
  ['another port of a host without one', {}, { port: 8443 }, 'ok'],
  ['another port than the named one', { host: 'api.example.com:8443' }, {}, 'host'],
  ['a name below the host', {}, { host: 'a.api.example.com' }, 'host'],
  ['a path beside the prefix', {}, { path: '/v10' }, 'path'],
  ['another method', {}, { method: 'PUT' }, 'method'],
  ['another credential', {}, { credentialId: 'cred_2' }, 'credential'],
  ['the last moment', { expiresAt: NOW + 1 }, {}, 'ok'],
  ['the moment after', { expiresAt: NOW }, {}, 'expired'],
  ['revoked', { revokedAt: NOW - 1 }, {}, 'revoked'],
  [
    'revoked, expired and for something else',
    { revokedAt: NOW - 1, expiresAt: NOW },
    { method: 'PUT' },
    'revoked',
  ],
])('a mandate and a request, %s', (_what, terms, request, expected) => {
  const verdict = checkMandate({ ...mandate, ...terms }, { ...asked, ...request }, NOW)
  expect(verdict.ok ? 'ok' : verdict.reason).toBe(expected)
})
