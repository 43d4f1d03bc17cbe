// Where AP2 shows itself: SD-JWTs with a `mandate.*` vct anywhere in a JSON body (0.2), `ap2.mandates.*` members (0.1), the
// extension URI, and the `ap2` member of UCP.
import { hash } from 'node:crypto'
import { type Branch, branchOf, isContainer, placeOfBranch } from '../decode/branches.ts'
import { judgeCredential, readJws } from '../decode/jws.ts'
import { isMandateName, type MandateKind, mandateOf } from '../decode/names.ts'
import { type Mark, outlineOf } from '../decode/outline.ts'
import {
  looksLikeSdJwt,
  readSdJwtChain,
  resolveMandate,
  type Resolution,
  type SdJwt,
} from '../decode/sd-jwt.ts'
import { isObject, member, pick, pickObject, pointer, remember, rememberLast } from '../decode/value.ts'
import type { Found, Json, JsonObject, Message, Place } from '../ports.ts'
import { readEnvelopes, type Evidence, type Spotted } from '../protocols/spot.ts'

export interface ChainToken extends Resolution {
  readonly token: SdJwt
  readonly vct: Found<string> | null
}

export interface Chain {
  readonly at: Place
  readonly tokens: readonly ChainToken[]
  /** Rank of what it authorises: the lower, the nearer to the money. */
  readonly rank: number
}

export interface Ap2Sights {
  readonly chains: readonly Chain[]
  /** Under a name that promises a mandate, and not decodable. */
  readonly undecodable: readonly Place[]
  /** 0.1: `ap2.mandates.<Kind>`. */
  readonly mandates: readonly { readonly kind: MandateKind; readonly found: Found<Json> }[]
  /** Detached JWS of a UCP checkout. */
  readonly merchantAuthorization: Found<string> | null
  readonly extension: { readonly at: Place; readonly version: '0.1' | '0.2' | null } | null
}

const V01_RANK = { payment: 0, cart: 1, intent: 2 }

// A body with more texts that may be tokens has the rest of them left unread: no protocol sends more than three.
const MAX_CANDIDATES = 64

export const readAp2Sights: (message: Message) => Ap2Sights = rememberLast((message: Message) => {
  const chains: Chain[] = []
  const undecodable: Place[] = []
  const { body } = message
  // A body may be `null` or a word.
  const marks = body.kind === 'json' && isContainer(body.value) ? outlineOf(body).marks : []
  const isNamed = (mark: Mark) => isMandateName(mark.name)
  const candidates = sortMarks(
    marks.filter((mark) => typeof mark.value === 'string' && (isNamed(mark) || looksLikeSdJwt(mark.value))),
    (mark) => Number(!isNamed(mark)),
  )
  for (const mark of candidates.slice(0, MAX_CANDIDATES)) {
    const at = placeOf(mark)
    const text = mark.value as string
    const chain = looksLikeSdJwt(text) ? readChain(text, at) : undefined
    if (chain !== undefined) chains.push(chain)
    else if (isNamed(mark)) undecodable.push(at)
  }
  return {
    chains: chains.toSorted((a, b) => a.rank - b.rank || (a.at < b.at ? -1 : 1)),
    undecodable: undecodable.toSorted(),
    mandates: sortMarks(
      marks.filter(({ name }) => mandateOf(name) !== undefined),
      ({ name }) => V01_RANK[mandateOf(name)!],
    )
      .slice(0, MAX_CANDIDATES)
      .map((mark) => ({ kind: mandateOf(mark.name)!, found: { value: mark.value, at: placeOf(mark) } })),
    merchantAuthorization: findMerchantAuthorization(marks),
    extension: readExtension(message),
  }
})

const placeOf = (mark: Mark): Place => placeOfBranch(branchOf(mark))

/** By rank, and then in the order of their places: none is written for it. */
function sortMarks(marks: readonly Mark[], rankOf: (mark: Mark) => number): readonly Mark[] {
  if (marks.length === 0) return marks
  return marks
    .map((mark) => ({ mark, rank: rankOf(mark), path: pathOf(mark) }))
    .toSorted((a, b) => a.rank - b.rank || comparePaths(a.path, b.path))
    .map(({ mark }) => mark)
}

function comparePaths(ours: readonly Branch[], theirs: readonly Branch[]): number {
  for (let i = 0; i < ours.length && i < theirs.length; i++) {
    const [a, b] = [ours[i]!, theirs[i]!]
    if (a === b || a.key === b.key) continue
    return String(a.key) < String(b.key) ? -1 : 1
  }
  return ours.length - theirs.length
}

function pathOf(mark: Mark): Branch[] {
  const path: Branch[] = []
  for (let at: Branch | undefined = branchOf(mark); at !== undefined; at = at.up) path.push(at)
  return path.toReversed()
}

function findMerchantAuthorization(marks: readonly Mark[]): Found<string> | null {
  const detached = sortMarks(
    marks.filter(({ name }) => name === 'merchant_authorization' || name === 'ap2.merchant_authorization'),
    () => 0,
  )
    .slice(0, MAX_CANDIDATES)
    .find((mark) => typeof mark.value === 'string' && readJws(mark.value, placeOf(mark))?.payload === null)
  return detached === undefined ? null : { value: detached.value as string, at: placeOf(detached) }
}

function readChain(text: string, at: Place): Chain | undefined {
  const tokens = readSdJwtChain(text, at)?.map((token) => {
    const resolution = resolveMandate(token)
    const vct = pick(resolution.mandate, 'vct')
    return {
      token,
      ...resolution,
      vct: vct !== null && typeof vct.value === 'string' ? { value: vct.value, at: vct.at } : null,
    }
  })
  if (tokens === undefined || !tokens.some(({ vct }) => vct?.value.startsWith('mandate.') === true))
    return undefined
  return { at, tokens, rank: Math.min(...tokens.map(({ vct }) => rankOf(vct?.value))) }
}

const RANKS = ['mandate.payment.1', 'mandate.checkout.1', 'mandate.payment.open.1', 'mandate.checkout.open.1']
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

export function spotAp2(message: Message): Spotted | undefined {
  const { chains, undecodable, mandates, merchantAuthorization, extension } = readAp2Sights(message)
  const [chain] = chains
  const [mandate] = mandates
  if (
    chain === undefined &&
    mandate === undefined &&
    undecodable.length === 0 &&
    merchantAuthorization === null &&
    extension === null
  )
    return undefined
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
  const isA2a = readEnvelopes(message).some((envelope) => envelope.isA2a)
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
  }
}

function stageOf({ rank }: Chain): string {
  return rank === 0 ? 'payment' : rank === 1 ? 'checkout' : 'intent'
}

/** The token that decides: the closed mandate, else the last. */
export const leading = (chain: Chain): ChainToken | undefined =>
  chain.tokens.findLast(({ vct }) => vct !== null && !isOpenVct(vct.value)) ?? chain.tokens.at(-1)

export const isOpenVct = (vct: string): boolean => /^mandate\.\w+\.open\.\d+$/.test(vct)

const digestsOf = remember((_token: SdJwt) => new Map<string, string>())

/** Of the token as it was presented. Made once, however many mandates and constraints refer to it. */
export function digestToken(token: SdJwt, algorithm: string): string {
  const known = digestsOf(token)
  const digest = known.get(algorithm) ?? digestText(algorithm, token.presented)
  known.set(algorithm, digest)
  return digest
}

/** base64url, as `sd_hash`, `checkout_hash` and `transaction_id` are written. */
export const digestText = (algorithm: string, text: string): string => hash(algorithm, text, 'base64url')

/** `checkout_jwt` of a checkout mandate that came along, by its digest. */
export function findCheckoutJwt(
  message: Message,
): { readonly at: Place; readonly value: string; readonly token: SdJwt } | undefined {
  for (const { tokens } of readAp2Sights(message).chains)
    for (const { mandate, token } of tokens) {
      const value = member(mandate?.value, 'checkout_jwt')
      if (typeof value !== 'string' || value === '') continue
      const at =
        token.disclosures.find(({ name }) => name === 'checkout_jwt')?.at ??
        pointer(mandate!.at, 'checkout_jwt')
      if (judgeCredential({ value, at }) !== null) return { at, value, token }
    }
  return undefined
}
