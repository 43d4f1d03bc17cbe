// How a request gets its token or its signature, as run.ts sees it.
import type { SealedCredential } from '../../store/ports.ts'
import type { CreateLeakGate, LeakGate } from '../leak/inspection.ts'
import type { OpenedCredential } from '../opened-credential-cache.ts'
import { ONLY_PART, secretParts } from '../placement/parts.ts'
import { signSigv4 } from './aws-sigv4.ts'
import { signHmac } from './hmac.ts'
import { isSigning, type RequestToSign, type Signature } from './kind.ts'
import { CLIENT_KEY, privateTexts } from '../reach/tls-identity.ts'
import { createMinter, type MinterParts } from './minter.ts'
import { createSignatures } from './signatures.ts'
import { sentParts } from './sent-parts.ts'

export interface KindParts extends MinterParts {
  readonly createLeakGate: CreateLeakGate
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
   * @returns what the answer has to be searched for
   */
  answered(
    credential: SealedCredential,
    opened: OpenedCredential,
    answer: { readonly status: number; readonly signature: Signature | undefined },
  ): OpenedCredential
  /** Resolves when every exchange that was begun is stored. */
  settled(): Promise<void>
}

export interface SignedRequest extends RequestToSign {
  readonly signature: Signature | undefined
}

/** Tokens and signatures of credentials that are more than a text in a header. */
export function createKinds(parts: KindParts): Kinds {
  const minter = createMinter(parts)
  const signatures = createSignatures(parts)
  const minted = new WeakMap<
    OpenedCredential,
    { readonly generation: number; readonly ready: OpenedCredential }
  >()
  const generations = new WeakMap<OpenedCredential, number>()

  return {
    async ready(credential, opened, withinMs) {
      const { kind } = credential.settings
      if (!kind || isSigning(kind)) return opened
      const { accessToken, refreshToken, previous, generation } = await minter.tokenFor(
        credential,
        opened,
        withinMs,
      )
      const known = minted.get(opened)
      if (known?.generation === generation) return known.ready
      const others = secretParts(sentParts(opened.parts, credential.settings), credential.settings)
      const sought = [
        accessToken,
        ...(refreshToken ? [refreshToken] : []),
        ...previous.map(({ token }) => token),
        ...others,
        ...(opened.tls?.key ? privateTexts(new Map([[CLIENT_KEY, opened.tls.key]])) : []),
        ...opened.replaced,
      ]
      let gate: LeakGate | undefined
      const ready: OpenedCredential = {
        parts: new Map([[ONLY_PART, accessToken]]),
        replaced: opened.replaced,
        tls: opened.tls,
        sought,
        gate: () => (gate ??= parts.createLeakGate(sought, credential)),
      }
      minted.set(opened, { generation, ready })
      generations.set(ready, generation)
      return ready
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

    answered(credential, opened, { status, signature }) {
      const generation = generations.get(opened)
      if (status === 401 && generation !== undefined) void minter.distrust(credential, generation)
      return signature ? signatures.seek(credential, opened, signature, status) : opened
    },

    settled: () => minter.settled(),
  }
}

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
