// ACP in the path of a target: which resource it is about, and what is done to it.
import { decodeSegment } from '../checkout.ts'
import type { Message } from '../ports.ts'

export type Resource =
  | 'checkout'
  | 'cart'
  | 'feed'
  /** Of the cardholder by the bank, 3-D Secure. */
  | 'authentication'
  /** The delegated payment. */
  | 'payment'
  | 'order'
  | 'discovery'

export type Operation =
  | 'create'
  | 'get'
  | 'update'
  | 'complete'
  | 'cancel'
  /** Goes on with an authentication that was created. */
  | 'authenticate'
  | 'delegate'
  | 'webhook'

export interface PathSight {
  readonly resource: Resource
  readonly operation: Operation | null
  readonly mark: string
  readonly id: string | null
  /** Nobody but ACP has such a path; others have carts and feeds too. */
  readonly isItsOwn: boolean
}

const COLLECTIONS: ReadonlyMap<string, Resource> = new Map([
  ['checkout_sessions', 'checkout'],
  ['delegate_authentication', 'authentication'],
  ['carts', 'cart'],
  ['feeds', 'feed'],
])

/** @returns undefined where the path is none of ACP */
export function readPath({ target, method }: Message): PathSight | undefined {
  const segments = target.url?.pathname.split('/').filter((part) => part !== '') ?? []
  const [last, before] = [segments.at(-1), segments.at(-2)]
  const single = (resource: Resource, operation: Operation, path: string): PathSight => ({
    resource,
    operation,
    mark: `path ${path}`,
    id: null,
    isItsOwn: true,
  })
  if (last === 'acp.json' && before === '.well-known')
    return single('discovery', 'get', '/.well-known/acp.json')
  if (last === 'delegate_payment' && before === 'agentic_commerce')
    return single('payment', 'delegate', '/agentic_commerce/delegate_payment')
  if (before === 'webhooks' && segments.at(-3) === 'agentic_checkout')
    return single('order', 'webhook', '/agentic_checkout/webhooks')
  const index = segments.findIndex((part) => COLLECTIONS.has(part))
  const [name = '', id, action] = index < 0 ? [] : segments.slice(index)
  const resource = COLLECTIONS.get(name)
  if (resource === undefined) return undefined
  return {
    resource,
    operation: readOperation(method, id, action),
    mark: `path /${name}`,
    id: id === undefined ? null : decodeSegment(id),
    isItsOwn: resource === 'checkout' || resource === 'authentication',
  }
}

function readOperation(method: string, id: string | undefined, action: string | undefined): Operation | null {
  if (action === 'complete' || action === 'cancel' || action === 'authenticate') return action
  if (method === 'GET' || method === 'HEAD') return 'get'
  if (method === 'POST') return id === undefined ? 'create' : 'update'
  return method === 'PUT' || method === 'PATCH' ? 'update' : null
}
