// AP2: what was signed in a message, each with its kind in signed-members.ts.
import { type Jws, readJws } from '../decode/jws.ts'
import type { SdJwt } from '../decode/sd-jwt.ts'
import { member } from '../decode/value.ts'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { SignedKind, SignedStatement } from '../signed-members.ts'
import { type Chain, type ChainToken, familyOf, isClosed, isOpen } from './detect.ts'
import type { Ap2Facts } from './facts.ts'
import type { Authorization } from './read-v01.ts'

/** Tokens, the mandates in them, the checkouts that merchants signed, and authorizations of 0.1. */
export function listSignedOfAp2({ facts: { sights } }: Stated<Ap2Facts>): SignedStatement[] {
  return [
    ...sights.chains.flatMap(listChain),
    ...sights.checkouts.flatMap(({ jws, at }) => listJws('merchant-jwt', jws, at)),
    ...listText('merchant-jwt', sights.merchantAuthorization),
    ...sights.mandates.flatMap(({ authorizations }) => authorizations.flatMap(listAuthorization)),
  ]
}

const listChain = ({ tokens }: Chain): SignedStatement[] =>
  tokens.flatMap((one, index) => {
    const before = tokens[index - 1]
    const isNew = before?.token !== one.token
    return [
      ...(isNew ? listToken(one.token, before !== undefined) : []),
      ...(one.mandate === null && index === tokens.length - 1
        ? [{ kind: 'sd-jwt-delegate' as const, value: undefined, at: one.token.at }]
        : []),
      ...listMandate(one).map((kind) => ({
        kind,
        value: claimsOf(one),
        at: one.mandate?.at ?? one.token.at,
      })),
    ]
  })

/** A mandate; the key of its holder may stand in the token around it. */
function claimsOf({ mandate, token }: ChainToken): Json | undefined {
  const outer = member(token.payload.value, 'cnf')
  return mandate === null || outer === undefined || member(mandate.value, 'cnf') !== undefined
    ? mandate?.value
    : { ...mandate.value, cnf: outer }
}

/** Header types of a token that the holder of an open mandate signed (the reference implementation reads both spellings). */
const BOUND_TYPES: ReadonlySet<unknown> = new Set(['kb+sd-jwt', 'kb-sd-jwt', 'kb+sd-jwt+kb', 'kb-sd-jwt+kb'])

function listToken(token: SdJwt, isBehind: boolean): SignedStatement[] {
  const { header, payload, signature, keyBinding, binder, at } = token
  const statement = (kind: SignedKind, value: JsonObject): SignedStatement => ({ kind, value, at })
  const claims = { header: header.value, payload: payload.value, signature }
  const isBound = isBehind || BOUND_TYPES.has(member(header.value, 'typ'))
  return [
    statement('sd-jwt', claims),
    ...(isBound && keyBinding === null ? [statement(bindingKind(payload.value), claims)] : []),
    ...(keyBinding === null || binder === null
      ? []
      : [
          {
            kind: 'sd-jwt' as const,
            value: { header: binder.header, signature: binder.signature },
            at: keyBinding.at,
          },
          statement(bindingKind(keyBinding.value), { payload: keyBinding.value }),
        ]),
  ]
}

const bindingKind = (claims: JsonObject): SignedKind =>
  member(claims, 'issuer_jwt_hash') === undefined ? 'sd-jwt-binding' : 'sd-jwt-binding-issuer'

/** A checkout that was not disclosed is not missing: somebody else may be shown it. */
function listMandate(one: ChainToken): SignedKind[] {
  if (isOpen(one)) return ['sd-jwt-mandate-open']
  // A token that says no type is held to nothing that its type demands.
  if (!isClosed(one)) return one.mandate === null ? [] : ['sd-jwt-mandate']
  const family = familyOf(one)
  if (family === 'payment') return ['sd-jwt-mandate-payment']
  if (family !== 'checkout') return []
  return one.undisclosed > 0
    ? ['sd-jwt-mandate-checkout']
    : ['sd-jwt-mandate-checkout', 'sd-jwt-mandate-disclosed']
}

/** What is no JWS has been said to be none already. */
const listJws = (kind: SignedKind, jws: Jws | undefined, at: Place): SignedStatement[] =>
  jws === undefined
    ? []
    : [{ kind, value: { header: jws.header.value, signature: jws.signature }, at: `${at}#` }]

const listText = (kind: SignedKind, found: Found<string> | null): SignedStatement[] =>
  found === null ? [] : listJws(kind, readJws(found.value, found.at), found.at)

/** Mandates of 0.1 are signed by a JWT, or by a credential and its key binding. */
function listAuthorization({ value, at, jws }: Authorization): SignedStatement[] {
  const [, ...rest] = value.split('~')
  const last = rest.at(-1)
  return [
    ...listJws('merchant-jwt', jws, at),
    ...(last === undefined || last === '' ? [] : listText('merchant-jwt', { value: last, at })),
  ]
}
