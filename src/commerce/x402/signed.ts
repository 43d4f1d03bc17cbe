// x402: which kinds of payment signed-members.ts is asked about.
import { isObject, member, pick, pickList, pointer } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { SignedKind, SignedStatement } from '../signed-members.ts'
import type { X402Facts } from './facts.ts'
import { readX402Shape, type X402Method } from './shape.ts'

/** The payload of a payment, in the kind that its scheme and network demand. */
export function listSignedOfX402({
  layer: { stage, document },
  facts,
}: Stated<X402Facts>): SignedStatement[] {
  if (document === undefined) return []
  if (stage === 'challenge') return listOffers(document)
  if (stage !== 'payment') return []
  const payload = pick(document, 'payload')
  const kind = kindOf({
    scheme: facts.accepted?.scheme?.value ?? 'exact',
    family: facts.accepted?.caip2?.split(':')[0],
    method: readX402Shape(document.value).method,
    payload: payload?.value,
  })
  return kind === undefined
    ? []
    : [{ kind, value: payload?.value, at: payload?.at ?? pointer(document.at, 'payload') }]
}

/** Offers that a server says it signed (specs/extensions/extension-offer-and-receipt.md): one without its signature binds nobody. */
const listOffers = (document: Found<JsonObject>): SignedStatement[] =>
  pickList(document, 'extensions', 'offer-receipt', 'info', 'offers').map(({ value, at }) => ({
    kind: 'x402-offer',
    value,
    at,
  }))

interface Chosen {
  readonly scheme: string
  /** Namespace of CAIP-2; undefined where the network is not known. */
  readonly family: string | undefined
  readonly method: X402Method | null
  readonly payload: Json | undefined
}

function kindOf(chosen: Chosen): SignedKind | undefined {
  const { scheme, family, method, payload } = chosen
  if (scheme !== 'exact' && scheme !== 'upto') return kindOfOther(chosen)
  // Whatever else stands there, another family is paid with a transaction of its own, and an EVM with an authorization.
  if (family !== undefined && family !== 'eip155') return kindOfSealed(family, payload)
  switch (method) {
    case 'permit2':
      return scheme === 'upto' ? 'permit2-upto' : 'permit2'
    case 'erc7710':
      return 'erc7710'
    case 'transaction':
      return family === undefined ? kindOfSealed('', payload) : 'eip3009'
    default:
      return 'eip3009'
  }
}

/** Schemes with an escrow, a channel or a bill have payloads of their own: what is known in them is held against its list. */
function kindOfOther({ method, family = '', payload }: Chosen): SignedKind | undefined {
  switch (method) {
    case 'permit2':
      return 'permit2-collected'
    case 'erc7710':
      return 'erc7710'
    case 'transaction':
      return kindOfSealed(family, payload)
    case null:
      return isObject(payload) && Object.keys(payload).length > 0 ? undefined : 'eip3009'
    default:
      return 'eip3009'
  }
}

function kindOfSealed(family: string, payload: Json | undefined): SignedKind {
  if (family === 'sui') return 'x402-sui'
  if (family === 'keeta' || member(payload, 'block') !== undefined) return 'x402-block'
  return family === 'algorand' || member(payload, 'paymentGroup') !== undefined
    ? 'x402-group'
    : 'x402-transaction'
}
