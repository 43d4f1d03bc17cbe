import { expect, it } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { replaceSecret, type ReplacingParts } from '../../../../src/egress/kinds/replacing.ts'
import { readSealedText } from '../../../../src/egress/leak/previous-secrets.ts'
import { joinParts } from '../../../../src/egress/placement/parts.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { makeCredential } from '../../../support/seed.ts'

const endpoint = { token_url: 'https://auth.example.com/token', client_id: 'robot' }
const wrap = { kid: '', enc: '', wrapped: '' }

/** @returns what answers are searched for once the secret was replaced `times` times */
async function replace(kind: CredentialSettings['kind'], names: readonly string[], times: number) {
  const settings: CredentialSettings = {
    ...(kind && { kind }),
    parts: Object.fromEntries(names.map((name) => [name, 'secret' as const])),
  }
  const textOf = (version: number) =>
    joinParts(new Map(names.map((name) => [name, new Secret(`${name}-${version}`)])), settings)
  let sealed = textOf(0)
  const parts: ReplacingParts = {
    store: {
      getMintedTokens: async () => undefined,
      getCredential: async () => undefined,
      rotateCredential: async () => true,
    },
    vault: {
      open: async () => sealed,
      seal: async (text: Secret<string>) => {
        sealed = text
        return { iv: '', tag: '', ciphertext: '', wrap }
      },
    } as unknown as ReplacingParts['vault'],
    now: () => 0,
  }
  const credential = {
    ...makeCredential('acct_1'),
    settings,
    sealed: { iv: '', tag: '', ciphertext: '', wrap },
  }
  for (let version = 1; version <= times; version++)
    expect(await replaceSecret(parts, credential, textOf(version))).toBe(true)
  return readSealedText(sealed).previous.map(({ secret }) => secret.use((text) => text))
}

it('what never was sent is not searched for once it was replaced, and takes no place of what was', async () => {
  const app = { type: 'github_app', app_id: '1', installation_id: '2' } as const
  expect(await replace(app, ['private_key', 'token_key'], 1)).toEqual([])
  const refreshing = { type: 'oauth2_refresh_token', ...endpoint } as const
  expect(await replace(refreshing, ['client_secret', 'refresh_token', 'token_key'], 2)).toEqual([
    'client_secret-1',
    'refresh_token-1',
    'client_secret-0',
    'refresh_token-0',
  ])
})

it('a part of that name which is sent, since nothing is minted from it, is searched for', async () => {
  expect(await replace(undefined, ['private_key', 'other'], 1)).toEqual(['private_key-0', 'other-0'])
})
