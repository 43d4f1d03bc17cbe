// AP2: the mandate chain of 0.2 and the A2A data parts of 0.1, field by field.
import { judgeCredential } from '../decode/jws.ts'
import {
  instantSeconds,
  member,
  pick,
  pickBoolean,
  pickList,
  pickNumber,
  pickNumeral,
  pickObject,
  pickText,
  pointer,
} from '../decode/value.ts'
import { readTotal } from '../checkout.ts'
import type { Found, Json, JsonObject, TransactionFacts } from '../ports.ts'
import type { Sighting, Stated } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { envelopeOf, findTaskId, readMetaKey } from '../wire/envelopes.ts'
import { readConstraint } from './constraints.ts'
import { type Ap2Sights, type ChainToken, isOpen, leading, readCheckout } from './detect.ts'
import { findOpens } from './grants.ts'
import { findMerchant } from './party.ts'
import { type MandateV01, readV01Total } from './read-v01.ts'
import type { Ap2Facts, Ap2Token } from './facts.ts'

/** Facts of the first chain, or of the first mandate of 0.1 where there is no chain. */
export function readAp2({ layer, sights }: Sighting<Ap2Sights>, reading: Reading): Ap2Facts {
  const [chain] = sights.chains
  const envelope = envelopeOf(reading, layer.document?.at)
  const shared = {
    sights,
    taskId: findTaskId(envelope),
    transportKey: readMetaKey(envelope) ?? reading.http.idempotencyKey,
  }
  if (chain === undefined) return { ...NOTHING, ...readV01(sights.mandates[0]), ...shared }

  const tokens = chain.tokens.map(readToken)
  const lead = leading(chain)
  const closed = lead === undefined || isOpen(lead) ? null : readToken(lead)
  const kind = lead?.vct?.value.startsWith('mandate.checkout') === true ? 'checkout' : 'payment'
  const opens = closed === null ? chain.tokens.filter(isOpen) : findOpens(sights, chain, lead)
  const open = opens[0] === undefined ? null : readToken(opens[0])
  const mandate = closed?.mandate ?? null
  const payee = pickObject(mandate, 'payee')
  const own = sights.checkouts.find(({ carrier }) => carrier === lead)
  const checkoutJwt = own ?? sights.checkouts[0]
  const checkout = readCheckout(checkoutJwt)
  return {
    version: '0.2',
    kind,
    chain: tokens,
    open,
    closed,
    constraints: opens.flatMap(({ mandate: one }) => pickList(one, 'constraints').map(readConstraint)),
    transactionId: pickText(mandate, 'transaction_id') ?? pickText(mandate, 'checkout_hash'),
    checkoutJwt: judgeCredential(checkoutJwt ?? null),
    payee:
      payee === null
        ? findMerchant(readCheckout(own))
        : { id: pickText(payee, 'id'), name: pickText(payee, 'name'), website: pickText(payee, 'website') },
    amount: pickNumeral(mandate, 'payment_amount', 'amount') ?? readTotal(checkout),
    currency: pickText(mandate, 'payment_amount', 'currency') ?? pickText(checkout, 'currency'),
    instrumentAt: pickObject(mandate, 'payment_instrument')?.at ?? null,
    v01: null,
    ...shared,
  }
}

/** A claim of the key binding, of the token or of the mandate in it. */
const readClaim = <T>(
  pickOne: (from: Found<Json> | null, key: string) => T | null,
  { token, mandate }: ChainToken,
  key: string,
): T | null => pickOne(token.keyBinding, key) ?? pickOne(token.payload, key) ?? pickOne(mandate, key)

/** When a mandate was made, and when it ends at the earliest. Seconds. */
export function readTimes(one: ChainToken): Pick<Ap2Token, 'issuedAt' | 'expiresAt'> {
  const { token, mandate } = one
  return {
    issuedAt: readClaim(pickNumber, one, 'iat'),
    expiresAt: earliest(
      [token.keyBinding, token.payload, mandate].flatMap((from) => pickNumber(from, 'exp') ?? []),
    ),
  }
}

/** A mandate with the claims of the token that carries it. */
function readToken(one: ChainToken): Ap2Token {
  const { token, mandate, vct, undisclosed, unmatched, irregular } = one
  const { payload, keyBinding: binding, binder } = token
  const claim = (key: string): Found<string> | null => readClaim(pickText, one, key)
  return {
    at: token.at,
    isOpen: isOpen(one),
    vct,
    mandate,
    signature: judgeCredential({
      value: binder === null || token.signature === '' ? token.signature : binder.signature,
      at: pointer(token.at, 'signature'),
    }),
    alg: pickText(token.header, 'alg'),
    ...readTimes(one),
    notBefore: latest([binding, payload, mandate].flatMap((from) => pickNumber(from, 'nbf') ?? [])),
    aud: claim('aud'),
    nonce: claim('nonce'),
    jti: claim('jti'),
    sdHash: claim('sd_hash') ?? claim('issuer_jwt_hash'),
    disclosuresAt: pointer(token.at, 'disclosures'),
    disclosures: token.disclosures.length,
    unmatchedDisclosures: unmatched + irregular,
    unreadableDisclosures: token.unreadableDisclosures,
    undisclosed,
  }
}

const latest = (instants: readonly Found<number>[]): Found<number> | null =>
  instants.toSorted((a, b) => b.value - a.value)[0] ?? null

const earliest = (instants: readonly Found<number>[]): Found<number> | null =>
  instants.toSorted((a, b) => a.value - b.value)[0] ?? null

const NOTHING: Omit<Ap2Facts, 'taskId' | 'transportKey' | 'sights'> = {
  version: null,
  kind: null,
  chain: [],
  open: null,
  closed: null,
  constraints: [],
  transactionId: null,
  checkoutJwt: null,
  payee: null,
  amount: null,
  currency: null,
  instrumentAt: null,
  v01: null,
}

/** 0.1 carries what pays (a card token, a signed transfer) in the clear. */
const PAYMENT_METHODS = [
  ['payment_details', 'payment_method', 'data'],
  ['payment_mandate_contents', 'payment_response', 'details'],
]

/** Detected by the key: two releases of 0.1 disagree about what is inside. */
function readV01(sight: MandateV01 | undefined): Partial<Ap2Facts> {
  const document = pickObject(sight?.found ?? null)
  if (sight === undefined || document === null)
    return sight === undefined ? {} : { version: '0.1', kind: sight.kind }
  const contents =
    pickObject(document, 'payment_mandate_contents') ?? pickObject(document, 'contents') ?? document
  const authorization = sight.authorizations[0] ?? null
  const claims = authorization?.jws?.payload
  const total = readV01Total(document)
  const merchant =
    pickText(contents, 'merchant_agent') ??
    pickText(contents, 'merchant_name') ??
    pickText(document, 'payment_details', 'merchant_agent_card', 'name')
  return {
    version: '0.1',
    kind: sight.kind,
    payee: merchant === null ? null : { id: null, name: merchant, website: null },
    amount: pickNumeral(total, 'value') ?? pickNumeral(total),
    currency: pickText(total, 'currency'),
    v01: {
      document,
      mandateId: pickText(contents, 'payment_mandate_id') ?? pickText(contents, 'id'),
      reference:
        pickText(contents, 'payment_details_id') ??
        pickText(document, 'payment_details', 'cart_mandate') ??
        pickText(document, 'payment_details', 'payment_request_id') ??
        pickText(contents, 'payment_request', 'details', 'id'),
      authorization: judgeCredential(authorization),
      jti: pickText(claims ?? null, 'jti'),
      expiry:
        pickText(document, 'intent_expiry') ??
        pickText(contents, 'cart_expiry') ??
        claimInstant(claims?.value, 'exp', claims),
      createdAt:
        pickText(contents, 'timestamp') ??
        pickText(document, 'timestamp') ??
        pickText(document, 'creation_time') ??
        claimInstant(claims?.value, 'iat', claims),
      confirmationRequired: pickBoolean(document, 'user_cart_confirmation_required'),
      merchants: pick(document, 'merchants'),
      skus: pick(document, 'skus'),
      total: pickNumeral(total, 'value') ?? pickNumeral(total),
    },
  }
}

/** A claim in seconds as the text that the rest of 0.1 uses. */
function claimInstant(
  claims: JsonObject | undefined,
  name: string,
  found: Found<JsonObject> | null | undefined,
): Found<string> | null {
  const seconds = member(claims, name)
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds < 8.64e12) || found == null) return null
  return { value: new Date(Math.floor(seconds) * 1000).toISOString(), at: pointer(found.at, name) }
}

/** The facts that policy asks of any transaction, out of AP2. Version 0.1 writes major units as decimals. */
export function summariseAp2({ facts }: Stated<Ap2Facts>): TransactionFacts {
  const { closed, open, amount, currency, payee, v01, sights } = facts
  return {
    amount,
    // 0.1 writes major units as decimals.
    amountIsInteger: v01 === null && amount?.isInteger === true,
    currency: currency && { value: currency.value.toUpperCase(), at: currency.at },
    asset: null,
    network: null,
    scheme: null,
    payee: payee?.id ?? payee?.name ?? null,
    payer: null,
    resource: null,
    notBefore: latest([
      ...[closed, open].flatMap((one) => one?.issuedAt ?? []),
      ...facts.chain.flatMap((one) => one.notBefore ?? []),
    ]),
    expiresAt: closed?.expiresAt ?? open?.expiresAt ?? instantSeconds(v01?.expiry ?? null),
    nonce: closed?.nonce ?? closed?.jti ?? v01?.jti ?? null,
    idempotencyKey: facts.transportKey,
    credentials: [
      ...sights.chains.map(({ at }) => at),
      ...sights.undecodable,
      ...(v01?.authorization == null ? [] : [v01.authorization.at]),
      ...PAYMENT_METHODS.flatMap((path) => pick(v01?.document ?? null, ...path)?.at ?? []),
      ...(sights.merchantAuthorization === null ? [] : [sights.merchantAuthorization.at]),
    ],
  }
}

/** Whether a value is a mandate of 0.1 that nobody signed. */
export const isUnsigned = ({ v01, closed }: Ap2Facts): boolean =>
  v01 !== null ? v01.authorization === null : closed !== null && (closed.signature?.length ?? 0) === 0
