// MPP: one challenge, as a header or a message carries it.
import { readBase64Json } from '../decode/json.ts'
import {
  inside,
  isObject,
  parseInstant,
  pick,
  pickList,
  pickNumeral,
  pickObject,
  pickText,
} from '../decode/value.ts'
import type { Found, JsonObject, Place } from '../ports.ts'
import type { MppChallenge, MppSight } from './facts.ts'

/** Base64 of an object. */
export function decode(text: string, at: Place, isTooLarge: boolean): Found<JsonObject> | undefined {
  const read = isTooLarge ? undefined : readBase64Json(text)
  return read?.ok === true && isObject(read.value) ? { value: read.value, at: inside(at) } : undefined
}

/** The challenge that a sight holds or answers. */
export function readEchoedChallenge(sight: MppSight): MppChallenge | null {
  const document = sight.document ?? null
  if (sight.stage === 'challenge') return document && readChallenge(document)
  const echoed = sight.stage === 'payment' ? pickObject(document, 'challenge') : null
  if (echoed !== null) return readChallenge(echoed)
  // Legacy: the id stands beside the payload.
  const isLegacy = sight.stage === 'payment' && pickText(document, 'id') !== null
  return document !== null && isLegacy ? readChallenge(document) : null
}

/** Every parameter of a challenge, and what is in its `request`. */
export function readChallenge(from: Found<JsonObject>): MppChallenge {
  const request = pick(from, 'request')
  const decoded =
    request === null
      ? null
      : typeof request.value === 'string'
        ? (decode(request.value, request.at, false) ?? null)
        : pickObject(request)
  const expires = pickText(from, 'expires')
  const splits = pick(decoded, 'methodDetails', 'splits') ?? pick(decoded, 'splits')
  return {
    at: from.at,
    id: pickText(from, 'id'),
    realm: pickText(from, 'realm'),
    method: pickText(from, 'method'),
    intent: pickText(from, 'intent'),
    requestAt: request?.at ?? null,
    isRequestReadable: decoded !== null,
    expires,
    expiresAtMs: parseInstant(expires?.value),
    digest: pickText(from, 'digest'),
    opaque: pick(from, 'opaque'),
    description: pickText(from, 'description') ?? pickText(decoded, 'description'),
    amount: pickNumeral(decoded, 'amount'),
    currency: pickText(decoded, 'currency'),
    recipient: pickText(decoded, 'recipient'),
    chainId: pickNumeral(decoded, 'methodDetails', 'chainId') ?? pickNumeral(decoded, 'chainId'),
    splitsAt: splits?.at ?? null,
    splits: pickList(splits).map((split) => ({
      amount: pickNumeral(split, 'amount'),
      recipient: pickText(split, 'recipient'),
    })),
  }
}
