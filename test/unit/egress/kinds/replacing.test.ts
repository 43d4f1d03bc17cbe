import { describe, expect, it } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { createTokenSeal, newTokenKey } from '../../../../src/egress/kinds/token-seal.ts'
import { replaceSecret, type ReplacingParts } from '../../../../src/egress/kinds/replacing.ts'
import { readSealedText } from '../../../../src/egress/leak/previous-secrets.ts'
import { joinParts, splitParts } from '../../../../src/egress/placement/parts.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import type { MintedRow } from '../../../../src/store/ports.ts'
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

describe('a refresh token that stays', () => {
  /** An answer is awaited for 45 s, and its store for ten minutes. */
  const GONE_AFTER_MS = 645_000
  const settings: CredentialSettings = {
    kind: { type: 'oauth2_refresh_token', ...endpoint },
    parts: { client_secret: 'secret', refresh_token: 'secret', token_key: 'secret' },
  }
  const texts = { client_secret: 'client-secret-0', refresh_token: 'refresh-0', token_key: newTokenKey() }
  const partsOf = (more: Record<string, string> = {}) =>
    new Map(Object.entries({ ...texts, ...more }).map(([name, text]) => [name, new Secret(text)]))
  const credential = {
    ...makeCredential('acct_1'),
    settings,
    sealed: { iv: '', tag: '', ciphertext: '', wrap },
  }
  const seal = createTokenSeal(partsOf())
  const binding = (generation: number) => ({ credentialId: credential.id, accountId: 'acct_1', generation })
  const mintedRow = (generation: number, more: Partial<MintedRow> = {}): MintedRow => ({
    ...binding(generation),
    keyId: seal.keyId,
    sealed: seal.seal(
      {
        accessToken: new Secret(`access-${generation}`),
        refreshToken: new Secret(`refresh-${generation}`),
        recipe: '',
        expiresAt: 1_000,
        previous: [],
      },
      binding(generation),
    ),
    mintedAt: 0,
    usableUntil: 1_000,
    claim: null,
    claimedUntil: null,
    failure: null,
    failures: 0,
    retryAt: null,
    ...more,
  })

  /** Replaces the client secret alone. @param rows as they are read, one for each try; the last one is still there when it is stored */
  async function replaceClientSecret(rows: readonly (MintedRow | undefined)[], opens = true) {
    let sealed: Secret<string> | undefined
    let at = 0
    const parts: ReplacingParts = {
      store: {
        getMintedTokens: async () => rows[at],
        getCredential: async () => credential,
        rotateCredential: async ({ mintedGeneration, goneIfLapsedBy }) => {
          expect(goneIfLapsedBy).toBe(-GONE_AFTER_MS)
          expect(mintedGeneration).toBe(rows[at]?.generation ?? null)
          return ++at === rows.length
        },
      },
      vault: {
        open: async () => {
          if (!opens) throw new Error('another key')
          return joinParts(partsOf(), settings)
        },
        seal: async (text: Secret<string>) => {
          sealed = text
          return credential.sealed
        },
      } as unknown as ReplacingParts['vault'],
      now: () => 0,
    }
    const isReplaced = await replaceSecret(parts, credential, (token) =>
      joinParts(partsOf({ client_secret: 'client-secret-1' }).set('refresh_token', token), settings),
    )
    if (!sealed) throw new Error('nothing was sealed')
    const show = (secret: Secret<string>) => secret.use((text) => text)
    const { previous, tokens } = readSealedText(sealed)
    return {
      isReplaced,
      refreshToken: splitParts(sealed, settings)
        .get('refresh_token')
        ?.use((text) => text),
      sought: [...previous, ...tokens].map(({ secret }) => show(secret)),
    }
  }

  it('is the one that was stored, where nothing was minted from it', async () =>
    expect(await replaceClientSecret([undefined])).toEqual({
      isReplaced: true,
      refreshToken: 'refresh-0',
      sought: ['client-secret-0'],
    }))

  it('is the newest, also where another was minted in between', async () =>
    expect(await replaceClientSecret([mintedRow(1), mintedRow(2)])).toEqual({
      isReplaced: true,
      refreshToken: 'refresh-2',
      sought: ['client-secret-0', 'refresh-0', 'access-2'],
    }))

  it('is the one that was stored where the row is of another secret', async () =>
    expect(await replaceClientSecret([mintedRow(1, { keyId: 'another' })])).toMatchObject({
      refreshToken: 'refresh-0',
    }))

  it('is waited for while somebody may have another that is not stored, and no longer', async () => {
    const claimed = (lapsedFor: number) => [mintedRow(1, { claim: 'one', claimedUntil: -lapsedFor })]
    for (const lapsedFor of [-1, 0, GONE_AFTER_MS - 1])
      await expect(replaceClientSecret(claimed(lapsedFor))).rejects.toMatchObject({
        code: 'state_conflict',
        reason: 'minting',
        message: expect.stringContaining('send the new `refresh_token` with the other parts'),
      })
    expect(await replaceClientSecret(claimed(GONE_AFTER_MS))).toMatchObject({ refreshToken: 'refresh-1' })
  })

  it('is never an older one, where the newest does not open', async () => {
    const code = { code: 'credential_unavailable' }
    await expect(replaceClientSecret([mintedRow(1, { generation: 2 })])).rejects.toMatchObject(code)
    await expect(replaceClientSecret([mintedRow(1)], false)).rejects.toMatchObject(code)
  })
})
