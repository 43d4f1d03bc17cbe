// The two sorts of kinds: those that mint a token from what is stored, and those that sign each request with it.
import type { CredentialKind, KindOf } from '../../../schemas/credential-kinds.ts'
import type { Secret } from '../../lib/secret.ts'
import type { HeaderPairs } from '../headers.ts'
import type { SecretParts } from '../ports.ts'

export type SigningKind = KindOf<'aws_sigv4' | 'hmac'>
export type MintingKind = Exclude<CredentialKind, SigningKind>

export const isSigning = (kind: CredentialKind): kind is SigningKind =>
  kind.type === 'aws_sigv4' || kind.type === 'hmac'

/** A request as it is about to leave, the Idempotency-Key among its headers. */
export interface RequestToSign {
  readonly method: string
  readonly url: URL
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
}

/** What a signature adds to the request. */
export interface Signature {
  /** Lower-case names; they replace headers of the same name. */
  readonly headers: HeaderPairs
  /** The URL to send to, where parameters were added. */
  readonly url?: URL
  /** As it stands in the request: whoever reads it can send the same request once more for some minutes. */
  readonly value: string
  readonly encoding: 'hex' | 'base64' | 'base64url'
  /** It does not cover all of the request, so that it opens requests of another method, path or body, too. */
  readonly opensOthers: boolean
  /** What was made of the secret on the way, and signs whatever is asked for: on one day, or `any`. */
  readonly derived?: DerivedKeys
}

export interface DerivedKeys {
  readonly day: string
  /** Their bytes, each as a character. */
  keys(): readonly Secret<string>[]
}

/** Sends one request to a token endpoint. @throws {ExchangeFailed} where there is no answer */
export type AskTokenEndpoint = (request: {
  readonly method: 'POST'
  readonly url: URL
  readonly headers: Secret<HeaderPairs>
  readonly body: Secret<string> | undefined
}) => Promise<TokenEndpointAnswer>

export interface TokenEndpointAnswer {
  readonly status: number
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly body: Buffer
}

/** What an exchange is made with. */
export interface ExchangeInput<K extends MintingKind> {
  readonly kind: K
  readonly parts: SecretParts
  /** The newest refresh token, where the provider gave one since the first was stored. */
  readonly refreshToken: Secret<string> | undefined
  readonly ask: AskTokenEndpoint
  readonly now: number
}

/** What a token endpoint gave. */
export interface MintedAnswer {
  readonly accessToken: string
  /** Undefined where the provider does not say. */
  readonly lifetimeMs: number | undefined
  /** Given where the provider replaces it with each use. */
  readonly refreshToken: string | undefined
}
