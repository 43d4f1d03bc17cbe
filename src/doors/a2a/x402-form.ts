// The form in which a task speaks of money. a2a-x402 v0.1 has the objects of x402 v1, and x402's own transport has those of v2 under
// the same name; so v1 is for those who activate v0.1 and not v0.2 as well, and a task stays in the form in which it asked.
import { z } from 'zod'
import type { SettleResponse } from '../../../schemas/x402.ts'
import type { Challenge } from '../../core/charging.ts'
import { createNetworks, findV1Network, KNOWN_CHAIN_IDS } from '../../core/networks.ts'
import type { Json, WireTask } from './wire.ts'

export type X402Form = 'v1' | 'v2'

const V02 = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2'
const V01 = 'https://github.com/google-a2a/a2a-x402/v0.1'
/** One set of keys under two names: the newer one first, then the one that x402's own transport and older libraries use. */
export const X402_EXTENSIONS = [V02, V01] as const

/** The extensions that a message in this form names. */
export const extensionsOf = (form: X402Form): string[] => (form === 'v1' ? [V01] : [...X402_EXTENSIONS])

/**
 * @param active URIs that the client activated with this request
 * @param task the one that it goes on with
 */
export function formFor(active: readonly string[], task: WireTask | undefined): X402Form {
  if (active.includes(V02)) return 'v2'
  if (active.includes(V01)) return 'v1'
  return task === undefined ? 'v2' : formOf(task)
}

/** The form in which a task spoke last. */
export function formOf(task: WireTask): X402Form {
  const { extensions = [] } = task.status.message ?? {}
  return extensions.includes(V01) && !extensions.includes(V02) ? 'v1' : 'v2'
}

/** `x402.payment.required`. A network without a name in v1 cannot be asked for in it: then v2 is better than nothing. */
export function requiredIn(form: X402Form, { required, acceptsV1 }: Challenge): unknown {
  return form === 'v1' && acceptsV1.length > 0
    ? { x402Version: 1, error: required.error, accepts: acceptsV1 }
    : required
}

const pinned = createNetworks(KNOWN_CHAIN_IDS)

/** One of `x402.payment.receipts`, whatever its form was: a task may have been read in the other one. */
export function receiptIn(form: X402Form, receipt: SettleResponse): SettleResponse {
  const { network } = receipt
  if (form === 'v2') return { ...receipt, network: findV1Network(network) ?? network }
  const { success, errorReason, transaction, payer } = receipt
  return {
    success,
    ...(errorReason !== undefined && { errorReason }),
    transaction,
    network: pinned.find(network)?.v1Name ?? network,
    ...(payer !== undefined && { payer }),
  }
}

const V1Numbers = z.object({
  x402Version: z.literal(1),
  payload: z.object({ authorization: z.record(z.string(), z.unknown()) }),
})

/**
 * A payment of v1 with the times of its authorisation as digits. The v1 specification has them as texts, and the published client for
 * this extension (a2a-x402) sends whole numbers, which are the same without doubt.
 */
export function withTextTimes(payment: unknown): unknown {
  const read = V1Numbers.safeParse(payment)
  if (!read.success) return payment
  const given = payment as Json & { readonly payload: Json & { readonly authorization: Json } }
  const { authorization } = given.payload
  const times = ['validAfter', 'validBefore'].flatMap((name) => {
    const value = authorization[name]
    return Number.isSafeInteger(value) && Number(value) >= 0 ? [[name, String(value)] as const] : []
  })
  if (times.length === 0) return payment
  const told = { ...authorization, ...Object.fromEntries(times) }
  return { ...given, payload: { ...given.payload, authorization: told } }
}
