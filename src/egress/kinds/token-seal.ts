// Minted tokens at rest: AES-256-GCM under a random key that is one of the sealed parts of their credential. Whoever wipes the credential
// has wiped its tokens too, and a rotation of the authority does not touch them.
import { createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes } from 'node:crypto'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { isObject } from '../../lib/json.ts'
import { Secret } from '../../lib/secret.ts'
import { decodeExactly } from '../envelope.ts'
import type { SecretParts } from '../ports.ts'
import type { SealedTokens } from '../../store/ports/minted-tokens.ts'

/** The part of a credential that seals what is minted from it; made by the gateway, known to nobody else. */
export const TOKEN_KEY_PART = 'token_key'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

export const newTokenKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/** What is sealed together: the token in use, the refresh token for the next one, and what was asked for. */
export interface KeptTokens {
  /** Undefined where the last exchange gave a refresh token, and no access token that can be used. */
  readonly accessToken: Secret<string> | undefined
  readonly refreshToken: Secret<string> | undefined
  /** Digest of the settings that the token was minted by. */
  readonly recipe: string
  /** When the token ends, in milliseconds since the epoch; undefined in rows of versions that did not keep it. */
  readonly expiresAt: number | undefined
  /** Tokens that were used before this one and may still open something. */
  readonly previous: readonly PreviousToken[]
}

export interface MintedTokens extends KeptTokens {
  readonly accessToken: Secret<string>
}
export const isMinted = (kept: KeptTokens): kept is MintedTokens => kept.accessToken !== undefined

export interface PreviousToken {
  readonly token: Secret<string>
  readonly expiresAt: number
}

export interface TokenBinding {
  readonly credentialId: string
  readonly accountId: string
  readonly generation: number
}

export interface TokenSeal {
  /** Tells rows of this key from those of the secret before it. */
  readonly keyId: string
  seal(tokens: KeptTokens, binding: TokenBinding): SealedTokens
  /** @throws where the row is not what was sealed */
  open(sealed: SealedTokens, binding: TokenBinding): KeptTokens
}

/** @throws where the credential was stored without a key for its tokens */
export function createTokenSeal(parts: SecretParts): TokenSeal {
  const part = parts.get(TOKEN_KEY_PART)
  if (!part) throw new Error(`the credential has no part ${TOKEN_KEY_PART}`)
  const bytes = part.use((text) => decodeExactly(text, KEY_BYTES))
  const keyId = hash('sha256', Buffer.concat([Buffer.from('token key id '), bytes]), 'base64url').slice(0, 22)
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return {
    keyId,
    seal({ accessToken, refreshToken, recipe, expiresAt, previous }, binding) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      cipher.setAAD(toAad(binding))
      const text = JSON.stringify({
        // Earlier releases open no row without a text here; one that ended long ago they do not search for.
        a: accessToken?.use((token) => token) ?? '',
        r: refreshToken?.use((token) => token),
        recipe,
        e: accessToken ? expiresAt : 0,
        p: previous.map((before) => before.token.use((token) => ({ t: token, e: before.expiresAt }))),
      })
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return {
        ciphertext: ciphertext.toString('base64url'),
        iv: iv.toString('base64url'),
        tag: cipher.getAuthTag().toString('base64url'),
      }
    },
    open({ ciphertext, iv, tag }, binding) {
      const decipher = createDecipheriv('aes-256-gcm', key, decodeExactly(iv, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(toAad(binding))
      decipher.setAuthTag(decodeExactly(tag, TAG_BYTES))
      const plain = Buffer.concat([decipher.update(decodeExactly(ciphertext)), decipher.final()])
      const tokens: unknown = JSON.parse(plain.toString('utf8'))
      plain.fill(0)
      if (!isObject(tokens) || typeof tokens['a'] !== 'string' || typeof tokens['recipe'] !== 'string')
        throw new Error('minted tokens: not what was sealed')
      return {
        accessToken: tokens['a'] === '' ? undefined : new Secret(tokens['a']),
        refreshToken: typeof tokens['r'] === 'string' ? new Secret(tokens['r']) : undefined,
        recipe: tokens['recipe'],
        expiresAt: typeof tokens['e'] === 'number' ? tokens['e'] : undefined,
        previous: Array.isArray(tokens['p']) ? tokens['p'].map(readPrevious) : [],
      }
    },
  }
}

function readPrevious(before: unknown): PreviousToken {
  if (!isObject(before) || typeof before['t'] !== 'string' || typeof before['e'] !== 'number')
    throw new Error('minted tokens: not what was sealed')
  return { token: new Secret(before['t']), expiresAt: before['e'] }
}

const toAad = ({ credentialId, accountId, generation }: TokenBinding) =>
  Buffer.from(
    toCanonicalJson({ v: 1, what: 'minted', credential_id: credentialId, account_id: accountId, generation }),
  )
