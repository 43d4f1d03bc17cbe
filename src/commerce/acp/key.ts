// ACP: which operations have to carry an Idempotency-Key. Inspection and test ask here.
import type { AcpFacts } from './facts.ts'

/** Operations that are a POST in ACP, which demands a key on each. An update of a cart is a PUT, of which nothing is demanded. */
const POSTED: ReadonlySet<string> = new Set([
  'checkout.create',
  'checkout.update',
  'checkout.complete',
  'checkout.cancel',
  'cart.create',
  'cart.cancel',
  'payment.delegate',
])
/** Of authentication the key is only recommended; of feeds nothing is said. */
const RESOURCES: ReadonlySet<string> = new Set(['checkout', 'cart', 'payment'])

/**
 * Whether ACP over HTTP demands a key. What pays is held to it whichever method it comes by: a checkout that is completed by PUT pays as
 * often as one that is completed by POST.
 */
export const demandsKey = (
  { resource, operation }: Pick<AcpFacts, 'resource' | 'operation'>,
  method: string,
): boolean =>
  resource !== null &&
  RESOURCES.has(resource) &&
  (method === 'POST' || POSTED.has(`${resource}.${operation}`))
