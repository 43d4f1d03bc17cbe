// A call under a caller's key. Two things derive from lineage and key, under a key of the installation: the name of its record,
// which is also what the upstream gets as Idempotency-Key, and the key that its answer is sealed with. The caller's key itself
// is stored nowhere, so that whoever holds the database and the files cannot open an answer without it.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { createHmacSha256 } from '../../lib/hmac.ts'
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
  /**
   * Whether the attempt was made for this very request, whatever version its credential has by now.
   * @param maxBytes bound of its answer, as the claim had it
   */
  repeats(attempt: Pick<Attempt, 'requestDigest' | 'credentialVersion'>, maxBytes: number): boolean
  /** @returns undefined where the answer is larger than what is kept */
  seal(attempt: SealedFor, answer: Answer): Buffer | undefined
  /** @throws where the bytes are not those that were sealed for this call and attempt */
  open(attempt: SealedFor, sealed: Uint8Array): Answer
}

/** What a kept answer is bound to. */
type SealedFor = Pick<Attempt, 'id' | 'requestDigest'>

/** A request, and the key that its caller gave it. */
export interface Call {
  /** Id that the key is unique under: the root of a lineage, or a permit. */
  readonly scope: string
  /** As the caller gave it. */
  readonly key: string
  /** Statuses after which a repeat is a call of its own: by default it gets whatever the first one was answered. */
  readonly freedBy?: readonly number[]
  readonly request: PreparedRequest
  readonly credentialId: string
  /** An edit of its settings is a version, too. */
  readonly credentialVersion: number
}

/**
 * @param callerKeys key of what follows from the keys of callers; the same at every start of an installation
 * @returns derives what a call under a key needs
 */
export function createKeyedCalls(callerKeys: KeyObject): (call: Call) => KeyedCall {
  const mac = createHmacSha256(callerKeys.export())
  return (call) => keyedCall(mac, call)
}

function keyedCall(
  mac: ReturnType<typeof createHmacSha256>,
  { scope, key, freedBy, request, credentialId, credentialVersion }: Call,
): KeyedCall {
  // An id holds no space, so that no two pairs of scope and key are the same text, nor the two uses of one.
  const derive = (use: 'name' | 'seal') => mac([Buffer.from(`${use} ${scope} ${key}`)])
  const keyHash = derive('name').toString('base64url')
  const { maxResponseBytes: maxBytes } = request
  // A handle: from bytes, Node 24 makes one after an exception within, which costs 10 us for each answer.
  const sealingOf = ({ id, requestDigest }: SealedFor) => ({
    key: createSecretKey(derive('seal')),
    context: `${id} ${requestDigest}`,
  })
  return {
    claim: { keyHash, maxBytes, ...(freedBy && { freedBy }) },
    upstreamKey: keyHash,
    // The digest that every attempt has, computed anew for a repeat alone, under the version that was sent: the upstream would see
    // the same request after a rotation. How long a caller waits is no part of it; the size that was asked for stands beside it.
    repeats({ requestDigest, credentialVersion: sentVersion }, sentMaxBytes) {
      const digest = digestRequest({
        method: request.method,
        url: request.target.url.href,
        headers: request.headers,
        body: request.body,
        contentDigest: request.contentDigest,
        credentialId,
        secretVersion: sentVersion,
      })
      return digest === requestDigest && isSameBound(request, sentMaxBytes, sentVersion === credentialVersion)
    },
    seal: (attempt, answer) => sealAnswer(answer, sealingOf(attempt)),
    open: (attempt, sealed) => openAnswer(sealed, sealingOf(attempt)),
  }
}

/**
 * Compares what callers wrote. Where this one wrote no size, the bound of the first call follows from settings: who says that it is another
 * request because its operator edited them has it sent twice under a new key.
 * @param isUnedited whether the credential has the settings that it had then
 */
function isSameBound(
  { askedMaxBytes, maxResponseBytes }: PreparedRequest,
  sentMaxBytes: number,
  isUnedited: boolean,
): boolean {
  if (askedMaxBytes === null) return true
  if (askedMaxBytes !== undefined) return askedMaxBytes === sentMaxBytes
  return !isUnedited || maxResponseBytes === sentMaxBytes
}
