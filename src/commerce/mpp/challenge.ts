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
  type Numeral,
} from '../decode/value.ts'
import type { Found, JsonObject, Place } from '../ports.ts'
import { readAsset } from './assets.ts'
import { readInvoices } from './invoice.ts'
import type { MppChallenge, MppDemand, MppSight } from './facts.ts'

/** Base64 of an object. */
export function decode(text: string, at: Place, isTooLarge: boolean): Found<JsonObject> | undefined {
  const read = isTooLarge ? undefined : readBase64Json(text)
  return read?.ok === true && isObject(read.value) ? { value: read.value, at: inside(at) } : undefined
}

/** The object of the challenge that a sight holds or answers. */
export function findChallenge(sight: MppSight): Found<JsonObject> | null {
  const { stage } = sight
  const document = sight.document ?? null
  if (stage === 'challenge') return document
  if (stage !== 'payment') return null
  const echoed = pickObject(document, 'challenge')
  // Legacy: the id stands beside the payload.
  return echoed ?? (pickText(document, 'id') === null ? null : document)
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
  const details = pickObject(decoded, 'methodDetails')
  const splits = pick(details, 'splits') ?? pick(decoded, 'splits')
  const shares = pick(details, 'distributionSplits')
  const invoices = readInvoices(decoded, details)
  const method = pickText(from, 'method')
  const intent = pickText(from, 'intent')
  return {
    at: from.at,
    id: pickText(from, 'id'),
    realm: pickText(from, 'realm'),
    method,
    intent,
    requestAt: request?.at ?? null,
    isRequestReadable: decoded !== null,
    expires,
    expiresAtMs: parseInstant(expires?.value),
    digest: pickText(from, 'digest'),
    opaque: pick(from, 'opaque'),
    description: pickText(from, 'description') ?? pickText(decoded, 'description'),
    amount: pickNumeral(decoded, 'amount'),
    stated: pickText(decoded, 'currency'),
    ...readAsset(decoded, method?.value, intent?.value),
    recipient: pickText(decoded, 'recipient'),
    request: decoded,
    details,
    invoices,
    demands: readDemands(decoded, details, invoices),
    shareRecipients: pickList(shares).flatMap((share) => pickText(share, 'recipient') ?? []),
    splitsAt: splits?.at ?? null,
    splits: pickList(splits).map((split) => ({
      amount: pickNumeral(split, 'amount'),
      recipient: pickText(split, 'recipient'),
    })),
  }
}

/** What a payer has to put in or sign besides the price itself. */
function readDemands(
  request: Found<JsonObject> | null,
  details: Found<JsonObject> | null,
  invoices: MppChallenge['invoices'],
): MppDemand[] {
  const demand = (amount: Numeral | null, isSuggested = false): MppDemand[] =>
    amount === null ? [] : [{ amount, isSuggested }]
  return [
    ...demand(pickNumeral(request, 'suggestedDeposit'), true),
    ...demand(pickNumeral(request, 'minimumDeposit')),
    // lightning: the invoice is for just that.
    ...demand(pickNumeral(request, 'depositAmount')),
    ...demand(invoices.deposit),
    ...demand(invoices.charge),
    ...demand(pickNumeral(details, 'sessionSnapshot', 'requiredCumulative')),
    ...demand(pickNumeral(details, 'minVoucherDelta')),
  ]
}
