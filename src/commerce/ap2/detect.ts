// AP2 shows itself by SD-JWTs with a `mandate.*` vct anywhere in a JSON body (0.2), `ap2.mandates.*` members (0.1), the
// extension URI, and the `ap2` member of UCP.
import { hash } from 'node:crypto'
import { type Jws, readJws } from '../decode/jws.ts'
import { isMandateName, mandateOf } from '../decode/names.ts'
import { placeOf as placeOfText } from '../decode/outline.ts'
import {
  looksLikeSdJwt,
  readSdJwtChain,
  resolveMandate,
  type Resolution,
  type SdJwt,
} from '../decode/sd-jwt.ts'
import { isObject, member, pick, pickObject, pointer } from '../decode/value.ts'
import type { Container, Mark, Evidence, Found, JsonObject, Message, Place } from '../ports.ts'
import type { Sighting } from '../protocol.ts'
import type { Reading } from '../reading.ts'
import { listAuthorizations, type MandateV01 } from './read-v01.ts'

/** One mandate of a token; a token that delegates several is in its chain as often. */
export interface ChainToken extends Omit<Resolution, 'others'> {
  readonly token: SdJwt
  readonly vct: Found<string> | null
  /**
   * Digest of the token as it was presented, made once however many mandates and constraints refer to it.
   * @param algorithm as node:crypto calls it
   */
  digest(algorithm: string): string
  /** The same of the JWT alone. */
  issuerDigest(algorithm: string): string
}

export interface Chain {
  readonly at: Place
  readonly tokens: readonly ChainToken[]
  /** Rank of what it authorises: the lower, the nearer to the money. */
  readonly rank: number
}

export interface Ap2Sights {
  readonly chains: readonly Chain[]
  /** Every `checkout_jwt` of them, read once for all that ask. */
  readonly checkouts: readonly CheckoutJwt[]
  /** Its name promises a mandate, and it cannot be decoded. */
  readonly undecodable: readonly Place[]
  /** 0.1: `ap2.mandates.<Kind>`. */
  readonly mandates: readonly MandateV01[]
  /** Detached JWS of a UCP checkout. */
  readonly merchantAuthorization: Found<string> | null
  readonly extension: { readonly at: Place; readonly version: '0.1' | '0.2' | null } | null
}

const V01_RANK = { payment: 0, cart: 1, intent: 2 }

// A body with more texts that may be tokens has the rest of them left unread: no protocol sends more than three.
const MAX_CANDIDATES = 64

function readSights(message: Message): Ap2Sights {
  const chains: Chain[] = []
  const undecodable: Place[] = []
  const { marks } = message.outline
  const isNamed = (mark: Mark) => isMandateName(mark.name)
  const candidates = sortMarks(
    marks.filter(isText).filter((mark) => isNamed(mark) || looksLikeSdJwt(mark.value)),
    (mark) => Number(!isNamed(mark)),
  )
  for (const mark of candidates.slice(0, MAX_CANDIDATES)) {
    const at = placeOf(mark)
    const chain = looksLikeSdJwt(mark.value) ? readChain(mark.value, at) : undefined
    if (chain === 'broken') undecodable.push(at)
    else if (chain !== undefined) chains.push(chain)
    else if (isNamed(mark) || isBrokenChain(mark.value, at)) undecodable.push(at)
  }
  const sorted = chains.toSorted((a, b) => a.rank - b.rank || (a.at < b.at ? -1 : 1))
  return {
    chains: sorted,
    checkouts: listCheckoutJwts(sorted),
    undecodable: undecodable.toSorted(),
    mandates: sortMarks(
      marks.flatMap((mark) => {
        const kind = mandateOf(mark.name)
        return kind === undefined ? [] : { ...mark, kind }
      }),
      ({ kind }) => V01_RANK[kind],
    )
      .slice(0, MAX_CANDIDATES)
      .map((mark) => {
        const found = { value: mark.value, at: placeOf(mark) }
        return { kind: mark.kind, found, authorizations: listAuthorizations(found) }
      }),
    merchantAuthorization: findMerchantAuthorization(marks),
    extension: readExtension(message),
  }
}

type TextMark = Mark & { readonly value: string }
const isText = (mark: Mark): mark is TextMark => typeof mark.value === 'string'

const placeOf = (mark: Mark): Place => placeOfText({ ...mark, isName: false })

/** Rank decides, and then the members one by one from the top: their places would tell `/` from other characters of a name. */
function sortMarks<M extends Mark>(marks: readonly M[], rankOf: (mark: M) => number): readonly M[] {
  return marks
    .map((mark) => ({ mark, rank: rankOf(mark), path: pathOf(mark) }))
    .toSorted((a, b) => a.rank - b.rank || comparePaths(a.path, b.path))
    .map(({ mark }) => mark)
}

function comparePaths(ours: readonly string[], theirs: readonly string[]): number {
  for (const [depth, key] of ours.entries()) {
    const other = theirs[depth]
    if (other === undefined) break
    if (key !== other) return key < other ? -1 : 1
  }
  return ours.length - theirs.length
}

function pathOf({ key, holder }: Mark): string[] {
  const path = [String(key)]
  for (let at: Container | undefined = holder; at !== undefined; at = at.up) path.push(String(at.key))
  return path.toReversed()
}

function findMerchantAuthorization(marks: readonly Mark[]): Found<string> | null {
  const detached = sortMarks(
    marks
      .filter(isText)
      .filter(({ name }) => name === 'merchant_authorization' || name === 'ap2.merchant_authorization'),
    () => 0,
  )
    .slice(0, MAX_CANDIDATES)
    .find((mark) => readJws(mark.value, placeOf(mark))?.payload === null)
  return detached === undefined ? null : { value: detached.value, at: placeOf(detached) }
}

/**
 * A person, the agents in between and the last one: no delegation is longer, and no token delegates more mandates. Each is held
 * against all before it, so that what is longer is taken for unreadable.
 */
const MAX_CHAIN = 8

function readChain(text: string, at: Place): Chain | 'broken' | undefined {
  const read = readSdJwtChain(text, at)
  if (read === undefined || read.length > MAX_CHAIN) return undefined
  let isTooMany = false
  const tokens = read.flatMap((token) => {
    const { others, ...resolution } = resolveMandate(token)
    if (others.length >= MAX_CHAIN) isTooMany = true
    const digest = digestOnce(token.presented)
    const issuerDigest = digestOnce(token.issuerJwt)
    return [resolution.mandate, ...others].slice(0, MAX_CHAIN).map((mandate): ChainToken => {
      const vct = pick(mandate, 'vct')
      return {
        token,
        ...resolution,
        mandate,
        vct: vct !== null && typeof vct.value === 'string' ? { value: vct.value, at: vct.at } : null,
        digest,
        issuerDigest,
      }
    })
  })
  if (!tokens.some(isMandate)) return undefined
  if (isTooMany) return 'broken'
  return { at, tokens, rank: Math.min(...tokens.map(({ vct }) => rankOf(vct?.value))) }
}

const isMandate = ({ vct }: Pick<ChainToken, 'vct'>): boolean => vct?.value.startsWith('mandate.') === true

/** A chain of which one token carries a mandate and another cannot be read: without that one it would go unseen. */
function isBrokenChain(text: string, at: Place): boolean {
  if (!looksLikeSdJwt(text) || !text.includes('~~')) return false
  return text.split('~~').some((part) => readChain(part, at) !== undefined)
}

/** Types of mandates, the nearest to the money first. */
export const RANKS = [
  'mandate.payment.1',
  'mandate.checkout.1',
  'mandate.payment.open.1',
  'mandate.checkout.open.1',
]
const rankOf = (vct: string | undefined): number => {
  const rank = vct === undefined ? -1 : RANKS.indexOf(vct)
  return rank < 0 ? RANKS.length : rank
}

function readExtension(message: Message): Ap2Sights['extension'] {
  const field = message.header('x-a2a-extensions') ?? message.header('a2a-extensions')
  if (field === undefined) return null
  for (const uri of field.value.slice(0, 4096).split(/[\s,]+/)) {
    const match = /^https:\/\/[^/]+\/(?:[^/]+\/)?ap2(?:[/?#-].*)?$/i.exec(uri)
    if (match === null) continue
    const version = /v(0\.[12])\b/.exec(uri)?.[1]
    return { at: field.at, version: version === '0.1' || version === '0.2' ? version : null }
  }
  return null
}

/** The mandate chain nearest to the money is what a message is about, then a mandate of 0.1. */
export function detectAp2({ message, envelopes }: Reading): Sighting<Ap2Sights> | undefined {
  const sights = readSights(message)
  const { chains, undecodable, mandates, merchantAuthorization, extension } = sights
  const [chain] = chains
  const [mandate] = mandates
  const evidence: Evidence[] = [
    ...chains.flatMap(({ tokens }) =>
      tokens.flatMap(({ vct }) =>
        vct === null
          ? []
          : [{ mark: `SD-JWT with vct ${RANKS.includes(vct.value) ? vct.value : 'mandate.*'}`, at: vct.at }],
      ),
    ),
    ...mandates.map(({ kind, found }) => ({ mark: `data part with an ${kind} mandate`, at: found.at })),
    ...undecodable.map((at) => ({ mark: 'a mandate is there and does not decode', at })),
    ...(merchantAuthorization === null
      ? []
      : [{ mark: 'merchant_authorization, a detached JWS', at: merchantAuthorization.at }]),
    ...(extension === null ? [] : [{ mark: 'A2A extension AP2', at: extension.at }]),
  ]
  if (evidence.length === 0) return undefined
  const isA2a = envelopes.some((envelope) => envelope.isA2a)
  const hasDocument = chain !== undefined || isObject(mandate?.found.value)
  const document: Found<JsonObject> | undefined =
    chain !== undefined
      ? (leading(chain)?.mandate ?? undefined)
      : (pickObject(mandate?.found ?? null) ?? undefined)
  return {
    layer: {
      name: 'ap2',
      version:
        chain !== undefined
          ? '0.2'
          : mandate !== undefined
            ? '0.1'
            : (extension?.version ??
              (undecodable.length > 0 || merchantAuthorization !== null ? '0.2' : null)),
      transport: isA2a ? 'a2a' : 'sd-jwt',
      stage:
        chain !== undefined
          ? stageOf(chain)
          : (mandate?.kind ?? (undecodable.some((at) => at.includes('payment')) ? 'payment' : 'checkout')),
      confidence: hasDocument || merchantAuthorization !== null ? 'high' : 'medium',
      evidence,
      document,
      isUndecodable: !hasDocument && (undecodable.length > 0 || mandate !== undefined),
    },
    conflicts: [],
    sights,
  }
}

function stageOf({ rank }: Chain): string {
  return rank === 0 ? 'payment' : rank === 1 ? 'checkout' : 'intent'
}

/** Whether a mandate of a chain is bound to one transaction. */
export const isClosed = (one: Pick<ChainToken, 'vct'>): boolean => isMandate(one) && !isOpen(one)

/** Whether a mandate of a chain leaves the transaction open. */
export const isOpen = ({ vct }: Pick<ChainToken, 'vct'>): boolean => vct !== null && isOpenVct(vct.value)

/** The mandate that decides: of those that are closed the one nearest to the money, else the last token. */
export function leading({ tokens }: Chain): ChainToken | undefined {
  const closed = tokens.filter(isClosed)
  const nearest = Math.min(...closed.map(({ vct }) => rankOf(vct?.value)))
  return closed.findLast(({ vct }) => rankOf(vct?.value) === nearest) ?? tokens.at(-1)
}

/** `payment` or `checkout`, by which a closed mandate and the open one that it was made under go together. */
export const familyOf = ({ vct }: Pick<ChainToken, 'vct'>): string | undefined => vct?.value.split('.')[1]

/** Whether a `vct` is that of an open mandate, which a person signs before the purchase. */
const isOpenVct = (vct: string): boolean => /^mandate\.\w+\.open\.\d+$/.test(vct)

function digestOnce(text: string): (algorithm: string) => string {
  const made = new Map<string, string>()
  return (algorithm) => {
    const digest = made.get(algorithm) ?? digestText(algorithm, text)
    made.set(algorithm, digest)
    return digest
  }
}

/** base64url, as `sd_hash`, `checkout_hash` and `transaction_id` are written. */
export const digestText = (algorithm: string, text: string): string => hash(algorithm, text, 'base64url')

/** `checkout_jwt` of a checkout mandate, and the mandate that it came in. */
export interface CheckoutJwt extends Found<string> {
  readonly carrier: ChainToken
  /** Undefined where it cannot be read. */
  readonly jws: Jws | undefined
  /** @param algorithm as node:crypto calls it */
  digest(algorithm: string): string
}

const listCheckoutJwts = (chains: readonly Chain[]): CheckoutJwt[] =>
  chains.flatMap(({ tokens }) =>
    tokens.flatMap((carrier) => {
      const { mandate, token } = carrier
      const value = member(mandate?.value, 'checkout_jwt')
      if (mandate === null || typeof value !== 'string' || value === '') return []
      const at =
        token.disclosures.find(({ name }) => name === 'checkout_jwt')?.at ??
        pointer(mandate.at, 'checkout_jwt')
      return [{ at, value, carrier, jws: readJws(value, at), digest: digestOnce(value) }]
    }),
  )

/** What the merchant signed; null where it cannot be read. */
export const readCheckout = (jwt: CheckoutJwt | undefined): Found<JsonObject> | null =>
  jwt?.jws?.payload ?? null
