// A call under a caller's key. Two things derive from lineage and key, under a key of the installation: the name of its record,
// which is also what the upstream gets as Idempotency-Key, and the key that its answer is sealed with. The caller's key itself
// is stored nowhere, so that whoever holds the database and the files cannot open an answer without it.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Attempt } from '../../store/model.ts'
import type { KeyClaim } from '../../store/ports.ts'
import { digestRequest } from '../digest.ts'
import type { PreparedRequest } from '../request.ts'
import { type Answer, openAnswer, sealAnswer } from './answer.ts'

/** One request under one key: what it claims, what the upstream is told, and what is kept for a repeat. */
export interface KeyedCall {
  readonly claim: KeyClaim
  /** Sent to the upstream by unsafe methods: every repeat of the call would send the same. */
  readonly upstreamKey: string
  /** Whether the attempt was made for this very request, whatever version its credential has by now. */
  repeats(attempt: Pick<Attempt, 'requestDigest' | 'credentialVersion'>, maxBytes: number): boolean
  /** @returns undefined where the answer is larger than what is kept */
  seal(attempt: SealedFor, answer: Answer): Buffer | undefined
  /** @throws where the bytes are not those that were sealed for this call and attempt */
  open(attempt: SealedFor, sealed: Uint8Array): Answer
}

/** What a kept answer is bound to. */
type SealedFor = Pick<Attempt, 'id' | 'requestDigest'>

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
  },
): KeyedCall {
  const { scope, key, request, credentialId } = call
  // An id holds no space, so that no two pairs of scope and key are the same text. The halves of one HMAC are two values of which
  // neither tells the other: one is shown to upstreams, one is the secret that seals.
  const derived = createHmac('sha512', callerKeys).update(`${scope} ${key}`).digest()
  const keyHash = derived.toString('base64url', 0, NAME_BYTES)
  const { maxResponseBytes: maxBytes } = request
  // A handle: from bytes, Node 24 makes one after an exception within, which costs 10 us for each answer.
  const sealingOf = ({ id, requestDigest }: SealedFor) => ({
    key: createSecretKey(derived.subarray(NAME_BYTES)),
    context: `${id} ${requestDigest}`,
  })
  return {
    claim: { keyHash, maxBytes },
    upstreamKey: keyHash,
    // The digest that every attempt has, computed anew for a repeat alone, under the version that was sent: the upstream would see
    // the same request after a rotation. How long a caller waits is no part of it; the size that was asked for stands beside it.
    repeats({ requestDigest, credentialVersion }, asked) {
      const digest = digestRequest({
        method: request.method,
        url: request.target.url.href,
        headers: request.headers,
        body: request.body,
        credentialId,
        secretVersion: credentialVersion,
      })
      return asked === maxBytes && digest === requestDigest
    },
    seal: (attempt, answer) => sealAnswer(answer, sealingOf(attempt)),
    open: (attempt, sealed) => openAnswer(sealed, sealingOf(attempt)),
  }
}
