// ACP in the shape of a document: what a server answers with, and what of carts and feeds is ACP's and not another shop's.
import { isObject, member } from '../decode/value.ts'
import type { Json, JsonObject } from '../ports.ts'

export type Shape =
  | 'session'
  | 'order'
  | 'event'
  | 'authentication'
  | 'discovery'
  | 'error'
  /** Told by its members where the path says what it is about: a cart, a feed, a token. */
  | 'answer'

const STATUSES: ReadonlySet<unknown> = new Set(
  (
    'incomplete not_ready_for_payment requires_escalation authentication_required ready_for_payment pending_approval ' +
    'complete_in_progress completed canceled in_progress expired'
  ).split(' '),
)

const ERROR_TYPES: ReadonlySet<unknown> = new Set(
  'invalid_request request_not_idempotent rate_limit_exceeded processing_error service_unavailable'.split(
    ' ',
  ),
)

/** Members of what is asked for: an answer has none of them. */
const REQUESTED = ['payment_data', 'payment_method', 'allowance', 'fingerprint_completion']

/** @returns what answer of ACP the document is by itself, wherever it stands; undefined where it may be anybody's */
export function readShape(value: JsonObject): Shape | undefined {
  // UCP writes the same resources, and says so in each of them.
  if (member(value, 'ucp') !== undefined || REQUESTED.some((name) => member(value, name) !== undefined))
    return undefined
  if (member(member(value, 'protocol'), 'name') === 'acp') return 'discovery'
  if (ERROR_TYPES.has(member(value, 'type')) && isText(value, 'code') && isText(value, 'message'))
    return 'error'
  if (isText(value, 'id') && STATUSES.has(member(value, 'status')) && isList(value, 'line_items'))
    return 'session'
  if (isText(value, 'checkout_session_id') && isText(value, 'permalink_url')) return 'order'
  if (isText(value, 'authentication_session_id') && isText(value, 'status')) return 'authentication'
  return isEvent(value) ? 'event' : undefined
}

/** The events of an order are sent, not asked for. */
function isEvent(value: JsonObject): boolean {
  const type = member(value, 'type')
  const data = member(value, 'data')
  return (
    typeof type === 'string' &&
    /^order_[a-z_]{1,32}$/.test(type) &&
    member(data, 'type') === 'order' &&
    isText(data, 'checkout_session_id')
  )
}

/** Whether a document at a path of ACP alone is an error, whatever type of error its server tells. */
export const isErrorAtPath = (value: JsonObject): boolean =>
  ['type', 'code', 'message'].every((name) => isText(value, name)) &&
  !REQUESTED.some((name) => member(value, name) !== undefined)

/** Whether a document at a path of ACP is what its server answers with, though others write such documents too. */
export function isAnswerAtPath(value: JsonObject): boolean {
  if (member(value, 'ucp') !== undefined || REQUESTED.some((name) => member(value, name) !== undefined))
    return false
  if (!isText(value, 'id')) return false
  return (
    // A cart.
    (isList(value, 'line_items') && isList(value, 'totals')) ||
    // A token, a feed, and what was done to one.
    isText(value, 'created') ||
    isText(value, 'updated_at') ||
    typeof member(value, 'accepted') === 'boolean' ||
    (isText(value, 'target_country') && !isList(value, 'products'))
  )
}

/** Whether a cart is written as ACP writes it: UCP puts an `item` into each line of a request, and `ucp` into each answer. */
export function isCart(value: JsonObject): boolean {
  if (member(value, 'ucp') !== undefined) return false
  const lines = member(value, 'line_items')
  const [line] = Array.isArray(lines) ? (lines as readonly Json[]) : []
  return isText(line, 'id') && (member(line, 'item') === undefined || isList(value, 'totals'))
}

/** Whether a feed is written as ACP writes it: a market, or products with variants. */
export function isFeed(value: JsonObject): boolean {
  const products = member(value, 'products')
  const [product] = Array.isArray(products) ? (products as readonly Json[]) : []
  if (product !== undefined) return isText(product, 'id') && isList(product, 'variants')
  if (isText(value, 'target_country')) return true
  return (
    isText(value, 'id') && (isText(value, 'updated_at') || typeof member(value, 'accepted') === 'boolean')
  )
}

const isText = (value: Json | undefined, name: string): boolean => {
  const inner = member(value, name)
  return typeof inner === 'string' && inner !== ''
}
const isList = (value: Json | undefined, name: string): boolean =>
  isObject(value) && Array.isArray(member(value, name))
