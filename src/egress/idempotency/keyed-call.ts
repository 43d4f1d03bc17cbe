// A call under a caller's key. Two things derive from lineage and key, under a key of the installation: the name of its record,
// which is also what the upstream gets as Idempotency-Key, and the key that its answer is sealed with. The caller's key itself
// is stored nowhere, so that whoever holds the database and the files cannot open an answer without it.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { digestCanonical } from '../../lib/canonical-json.ts'
import type { KeptAnswer, KeyClaim } from '../../store/ports.ts'
import { digestContent } from '../digest.ts'
import type { PreparedRequest } from '../request.ts'
import { type Answer, openAnswer, sealAnswer } from './answer.ts'

/** How long a key is remembered from its first request, and its answer with it. */
export const KEY_TTL_MS = 24 * 3600 * 1000

/** One request under one key: what it claims, what the upstream is told, and what is kept for a repeat. */
export interface KeyedCall {
  readonly claim: KeyClaim
  /** Sent to the upstream by unsafe methods: every repeat of the call would send the same. */
  readonly upstreamKey: string
  /** @returns undefined where the answer is larger than what is kept */
  seal(attemptId: string, answer: Answer): KeptAnswer | undefined
  /** @throws where the bytes are not those that were sealed for this call and attempt */
  open(attemptId: string, sealed: Uint8Array): Answer
}

const NAME_BYTES = 32

/**
 * @param callerKeys key of what follows from the keys of callers; the same at every start of an installation
 * @param call.scope id that the key is unique under: the root of a lineage, or a permit
 * @param call.key as the caller gave it
 */
export function createKeyedCall(
  callerKeys: KeyObject,
  call: {
    readonly scope: string
    readonly key: string
    readonly request: PreparedRequest
    readonly credentialId: string
    readonly now: number
  },
): KeyedCall {
  const { scope, key, request, credentialId, now } = call
  // An id holds no space, so that no two pairs of scope and key are the same text. The halves of one HMAC are two values of which
  // neither tells the other: one is shown to upstreams, one is the secret that seals.
  const derived = createHmac('sha512', callerKeys).update(`${scope} ${key}`).digest()
  const keyHash = derived.toString('base64url', 0, NAME_BYTES)
  const fingerprint = fingerprintOf(request, credentialId)
  // A handle: from bytes, Node 24 makes one after an exception within, which costs 10 us for each answer.
  const sealingOf = (attemptId: string) => ({
    key: createSecretKey(derived.subarray(NAME_BYTES)),
    context: `${attemptId} ${fingerprint}`,
  })
  return {
    claim: { keyHash, fingerprint, expiresAt: now + KEY_TTL_MS },
    upstreamKey: keyHash,
    seal(attemptId, answer) {
      const sealed = sealAnswer(answer, sealingOf(attemptId))
      return sealed && { keyHash, sealed }
    },
    open: (attemptId, sealed) => openAnswer(sealed, sealingOf(attemptId)),
  }
}

/**
 * Digest of what makes a request another one: everything that is sent, and the size that was asked for. How long a caller waits
 * is not part of it; neither is the version of the credential, since the upstream sees the same request after a rotation.
 */
function fingerprintOf(request: PreparedRequest, credentialId: string): string {
  return digestCanonical({
    v: 1,
    method: request.method,
    url: request.target.url.href,
    headers: request.headers.map(([name, value]) => `${name}: ${value}`).toSorted(),
    content_digest: digestContent(request.body),
    credential_id: credentialId,
    max_bytes: request.maxResponseBytes,
  })
}
