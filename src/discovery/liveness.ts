// Probes a listed resource: one GET without payment, which a live one answers with a 402 that asks for what is
// listed. Kept apart from what catalogues say. Only safe methods: nothing else is sent to a stranger unasked.
import type { Liveness, SeenTerms } from '../../schemas/discovery.ts'
import type { OutboundResponse } from '../egress/ports.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { memberOf } from './data.ts'
import { readAccepts, termsOf } from './accepts.ts'
import type { Entry } from './entry.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { Outbound } from './outbound.ts'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024
const MAX_HEADER_CHARS = 16 * 1024
const MAX_OBSERVED = 5

/** Whether a resource may be asked: over HTTP, by a safe method. */
export const canBeProbed = ({ type, method }: Entry): boolean =>
  type === 'http' && (method === null || method === 'GET' || method === 'HEAD')

/** The observation of a resource that was never probed. */
export const notProbed = (entry: Entry): Liveness => ({
  state: 'unknown',
  checked_at: null,
  detail: canBeProbed(entry) ? 'not_yet' : 'method_not_probed',
})

/** Never throws. */
export async function probe(
  entry: Entry,
  { outbound, now }: { outbound: Outbound; now: () => number },
  signal: AbortSignal,
): Promise<Liveness> {
  const result = await outbound.get({
    url: entry.probeUrl ?? entry.resource,
    method: entry.method === 'HEAD' ? 'HEAD' : 'GET',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal,
  })
  const checked_at = toTimestamp(now())
  if (result.ok) return { checked_at, ...judge(entry, result.response) }
  // A resource that we do not reach may still be there for others.
  const isOurs = ['not_public', 'target_invalid', 'denied'].includes(result.reason)
  return { state: isOurs ? 'unknown' : 'dead', checked_at, detail: result.reason }
}

function judge(entry: Entry, response: OutboundResponse): Omit<Liveness, 'checked_at'> {
  const { status } = response
  if (status === 402) {
    const observed = readTerms(response)
    if (observed.length === 0) return { state: 'dead', detail: 'requirements_invalid' }
    const payees = payeesOf(observed)
    if (observed.some((terms) => entry.terms.some((listed) => isSame(terms, listed))))
      return { state: 'alive', detail: 'asks_as_listed', payees }
    return { state: 'changed', detail: 'other_terms', payees, observed: observed.slice(0, MAX_OBSERVED) }
  }
  if (status < 300) return { state: 'changed', detail: 'not_paid' }
  // It is there, but a bare GET does not get as far as its price.
  const isInconclusive = status < 400 || [400, 401, 403, 405, 415, 422, 429].includes(status)
  return { state: isInconclusive ? 'unknown' : 'dead', detail: `status_${status}` }
}

/** Each once: several ways to pay mostly pay the same. */
function payeesOf(observed: readonly SeenTerms[]) {
  const payees = new Map(
    observed.map(({ network, payTo }) => [`${network} ${payTo.toLowerCase()}`, { network, payTo }]),
  )
  return [...payees.values()]
}

function readTerms({ headers, body }: OutboundResponse): SeenTerms[] {
  const header = headers.find(({ name }) => name === 'payment-required')?.value
  const required =
    header !== undefined && header.length <= MAX_HEADER_CHARS
      ? parse(Buffer.from(header, 'base64').toString('utf8'))
      : parse(body.toString('utf8'))
  const version = memberOf(required, 'x402Version')
  if (version !== 1 && version !== 2) return []
  return readAccepts(memberOf(required, 'accepts'), version).map(termsOf)
}

function parse(text: string): unknown {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isSame = (a: SeenTerms, b: SeenTerms) =>
  a.scheme === b.scheme &&
  a.network === b.network &&
  a.amount === b.amount &&
  a.asset.toLowerCase() === b.asset.toLowerCase() &&
  a.payTo.toLowerCase() === b.payTo.toLowerCase()
