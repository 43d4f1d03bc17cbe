// How a request gets its token or its signature, as run.ts sees it.
import type { Secret } from '../../lib/secret.ts'
import type { SealedCredential, Store } from '../../store/ports.ts'
import type { CreateLeakGate, LeakGate } from '../leak/inspection.ts'
import { countBytes } from '../leak/search.ts'
import type { OpenedCredential, OpenedCredentials } from '../opened-credential-cache.ts'
import { ONLY_PART, secretParts } from '../placement/parts.ts'
import { type AnswerSearch, createAnswerSearches, type Standing } from './answer-search.ts'
import { signSigv4 } from './aws-sigv4.ts'
import type { Editions } from './editions.ts'
import { signHmac } from './hmac.ts'
import { isSigning, type RequestToSign, type Signature } from './kind.ts'
import { CLIENT_KEY, privateTexts } from '../reach/tls-identity.ts'
import { openTokens } from './living-tokens.ts'
import { createMinter, type Minted, type MinterParts } from './minter.ts'
import { createSignatures } from './signatures.ts'
import { sentParts } from './sent-parts.ts'
import { isMinted } from './token-seal.ts'

export interface KindParts extends MinterParts {
  readonly store: MinterParts['store'] & Pick<Store, 'getCredential'>
  readonly openToSearch: OpenedCredentials['openToSearch']
  readonly createLeakGate: CreateLeakGate
  readonly editions: Editions
}

export interface Kinds {
  /**
   * What goes into the request in the place of what is stored: itself, or the token that was minted from it.
   * @throws {GatewayError} credential_unavailable, saying what failed and who can mend it
   */
  ready(credential: SealedCredential, opened: OpenedCredential, withinMs: number): Promise<OpenedCredential>
  /**
   * The request with its signature, where the kind signs.
   * @throws {GatewayError} target_invalid
   */
  sign(credential: SealedCredential, opened: OpenedCredential, request: RequestToSign): Promise<SignedRequest>
  /**
   * Looks at the status of an answer: a minted token that was refused is not used again.
   * @param answer.since when the credential of its request was read, or sooner; milliseconds since the epoch
   * @returns what searches the answer, for as long as it comes
   */
  answered(
    credential: SealedCredential,
    opened: OpenedCredential,
    answer: {
      readonly status: number
      readonly signature: Signature | undefined
      readonly since: number
    },
  ): AnswerSearch
  /** Resolves when every exchange that was begun is stored. */
  settled(): Promise<void>
}

export interface SignedRequest extends RequestToSign {
  readonly signature: Signature | undefined
}

/** Tokens and signatures of credentials that are more than a text in a header. */
export function createKinds(parts: KindParts): Kinds {
  const { store, editions, now } = parts
  const minter = createMinter(parts)
  const signatures = createSignatures(parts)
  const searchFor = createAnswerSearches({ ...parts, look })
  const minted = new WeakMap<
    OpenedCredential,
    { readonly generation: number; readonly ready: OpenedCredential }
  >()
  const tokensOf = new WeakMap<OpenedCredential, Minted>()

  function withTokens(
    credential: SealedCredential,
    opened: OpenedCredential,
    tokens: Minted,
  ): OpenedCredential {
    const { accessToken, refreshToken, previous, generation } = tokens
    const known = minted.get(opened)
    if (known?.generation === generation) return known.ready
    const ready = {
      ...opened,
      parts: new Map([[ONLY_PART, accessToken]]),
      ...soughtOf(credential, opened, [
        accessToken,
        ...(refreshToken ? [refreshToken] : []),
        ...previous.map(({ token }) => token),
      ]),
    }
    minted.set(opened, { generation, ready })
    tokensOf.set(ready, tokens)
    return ready
  }

  /** Of a secret that tokens are minted from: those, and what of it is sent to anybody. */
  function soughtOf(
    credential: SealedCredential,
    opened: OpenedCredential,
    tokens: readonly Secret<string>[],
  ): Pick<OpenedCredential, 'sought' | 'gate'> {
    const sought = [
      ...tokens,
      ...secretParts(sentParts(opened.parts, credential.settings), credential.settings),
      ...(opened.tls?.key ? privateTexts(new Map([[CLIENT_KEY, opened.tls.key]])) : []),
      ...opened.replaced,
    ]
    let gate: LeakGate | undefined
    return { sought, gate: () => (gate ??= parts.createLeakGate(sought, credential)) }
  }

  /** The tokens are those of this version: it is the same before and after they are read. */
  async function look(credential: SealedCredential, version: number): Promise<Standing | undefined> {
    const { id, accountId } = credential
    const row = mints(credential) ? await store.getMintedTokens(id, accountId) : undefined
    const current = await store.getCredential(id, accountId)
    if (!current || current.revokedAt !== null) return undefined
    if (current.version !== version) return look(credential, current.version)
    const generation = row?.generation ?? 0
    return {
      edition: { version, generation },
      async open() {
        const opened = await parts.openToSearch(current)
        if (!mints(current)) return opened
        const tokens = openTokens(row, opened.parts)
        if (!tokens) return soughtOf(current, opened, [])
        const previous = tokens.previous.filter(({ expiresAt }) => expiresAt > now())
        if (isMinted(tokens)) return withTokens(current, opened, { ...tokens, previous, generation })
        const { refreshToken } = tokens
        return soughtOf(current, opened, [
          ...(refreshToken ? [refreshToken] : []),
          ...previous.map(({ token }) => token),
        ])
      },
    }
  }

  return {
    async ready(credential, opened, withinMs) {
      const { id, version } = credential
      if (!mints(credential)) {
        editions.note(id, { version, generation: 0 })
        return opened
      }
      const tokens = await minter.tokenFor(credential, opened, withinMs)
      editions.note(id, { version, generation: tokens.generation })
      return withTokens(credential, opened, tokens)
    },

    async sign(credential, opened, request) {
      const { kind } = credential.settings
      if (!kind || !isSigning(kind)) return { ...request, signature: undefined }
      const signature =
        kind.type === 'hmac'
          ? signHmac(kind, opened.parts, request, parts.now())
          : await signSigv4(kind, opened.parts, request, parts.now())
      return addSignature(request, signature)
    },

    answered(credential, opened, { status, signature, since }) {
      const tokens = tokensOf.get(opened)
      if (status === 401 && tokens)
        void minter.distrust(credential, { ...tokens, soughtBytes: countBytes(opened.sought) })
      return searchFor({
        credential,
        own: signature ? signatures.seek(credential, opened, signature, status) : opened,
        edition: { version: credential.version, generation: tokens?.generation ?? 0 },
        since,
      })
    },

    settled: () => minter.settled(),
  }
}

const mints = ({ settings: { kind } }: SealedCredential): boolean => kind !== undefined && !isSigning(kind)

function addSignature(request: RequestToSign, signature: Signature): SignedRequest {
  const { headers, url } = signature
  const added = new Set(headers.map(([name]) => name))
  return {
    ...request,
    url: url ?? request.url,
    headers: [...request.headers.filter(([name]) => !added.has(name)), ...headers],
    signature,
  }
}
