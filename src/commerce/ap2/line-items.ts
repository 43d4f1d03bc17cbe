// `checkout.line_items`: whether what is in the cart can be dealt out to what a person asked for, each unit once. The specification
// puts it as a maximal flow from items of the cart to requirements, and so it is done here.
import { isHidden } from '../decode/sd-jwt.ts'
import { member, pick, pickList, pickNumber, pickText } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import type { Judged } from './facts.ts'

const TYPE = 'checkout.line_items'
/** Carts of people have fewer; for longer ones the flow would take more time than an inspection has. */
const MAX_NODES = 32

interface Requirement {
  /** Ids of items that would do; undefined: any item. */
  readonly accepts: ReadonlySet<string> | undefined
  readonly hasHidden: boolean
  readonly quantity: number
}

/** A constraint on line items against the checkout that the merchant signed. */
export function judgeLineItems(constraint: Found<Json>, checkout: Found<JsonObject> | null): Judged {
  const requirements = readRequirements(constraint)
  if (requirements === undefined)
    return ['unverifiable', `${TYPE}: the constraint lists nothing that could be counted.`]
  if (checkout === null) return ['unverifiable', `${TYPE}: the checkout did not come along.`]
  const cart = readCart(checkout)
  if (cart === undefined) return ['unverifiable', `${TYPE}: the checkout does not say what is in the cart.`]
  if (cart.size === 0) return ['mismatch', 'The cart is empty, and something was asked for.']
  const isAny = requirements.some(({ accepts }) => accepts === undefined)
  const hasHidden = requirements.some((one) => one.hasHidden)
  const stranger = [...cart.keys()].some((id) => !requirements.some((one) => doesAccept(one, id)))
  if (stranger)
    return hasHidden && requirements.every(({ accepts }) => accepts?.size === 0)
      ? ['unverifiable', `${TYPE}: which items would do was not disclosed.`]
      : ['mismatch', 'Something is in the cart that was not asked for.']
  const bought = sum(cart.values())
  const asked = sum(requirements.map(({ quantity }) => quantity))
  if (bought > asked) return ['mismatch', 'More is in the cart than was asked for.']
  if (cart.size > MAX_NODES || requirements.length > MAX_NODES)
    return ['unverifiable', `${TYPE}: the cart or the list is too long to be dealt out here.`]
  const dealt = countDealt(cart, requirements)
  if (dealt < bought) return ['mismatch', 'More of an item is in the cart than was asked for.']
  if (dealt < asked) return ['partial', 'Less is in the cart than was asked for.']
  return isAny
    ? ['partial', `${TYPE}: any item would do, which is no bound.`]
    : ['match', 'The cart holds what was asked for.']
}

const doesAccept = ({ accepts }: Requirement, id: string): boolean => accepts?.has(id) ?? true

const sum = (numbers: Iterable<number>): number => {
  let total = 0
  for (const one of numbers) total += one
  return total
}

const readQuantity = (item: Found<Json>): number | undefined => {
  const quantity = pickNumber(item, 'quantity')?.value
  return quantity !== undefined && Number.isSafeInteger(quantity) && quantity > 0 ? quantity : undefined
}

function readRequirements(constraint: Found<Json>): Requirement[] | undefined {
  const items = pickList(constraint, 'items')
  const found: Requirement[] = []
  for (const item of items) {
    const quantity = readQuantity(item)
    if (quantity === undefined) return undefined
    const listed = pickList(item, 'acceptable_items')
    const ids = listed.flatMap((one) => pickText(one, 'id')?.value ?? [])
    found.push({
      accepts:
        Array.isArray(member(item.value, 'acceptable_items')) && listed.length > 0 ? new Set(ids) : undefined,
      hasHidden: listed.some(isHidden),
      quantity,
    })
  }
  return found.length === 0 || isCut(constraint, 'items', items.length) ? undefined : found
}

/** Whether a list is longer than what is read of it. */
const isCut = (from: Found<Json>, name: string, read: number): boolean => {
  const list = member(from.value, name)
  return Array.isArray(list) && list.length > read
}

/** UCP has the product under `item`; the examples of AP2 under `product`. Undefined where an entry says no id or quantity. */
function readCart(checkout: Found<JsonObject>): ReadonlyMap<string, number> | undefined {
  if (!Array.isArray(member(checkout.value, 'line_items'))) return undefined
  const cart = new Map<string, number>()
  const entries = pickList(checkout, 'line_items')
  for (const entry of entries) {
    const product = pick(entry, 'item') ?? pick(entry, 'product')
    const id = pickText(product, 'id') ?? pickText(entry, 'item_id') ?? pickText(entry, 'sku')
    const quantity = readQuantity(entry)
    if (id === null || quantity === undefined) return undefined
    cart.set(id.value, (cart.get(id.value) ?? 0) + quantity)
  }
  return isCut(checkout, 'line_items', entries.length) ? undefined : cart
}

/** Units of the cart that find a place: Edmonds and Karp over at most 32 items and 32 requirements. */
function countDealt(cart: ReadonlyMap<string, number>, requirements: readonly Requirement[]): number {
  const items = [...cart]
  const left = items.map(([, quantity]) => quantity)
  const room = requirements.map(({ quantity }) => quantity)
  // Units of an item that a requirement holds now.
  const held = items.map(() => requirements.map(() => 0))
  let dealt = 0
  for (let more = 1; more > 0; dealt += more) more = dealOnce()
  return dealt

  /** Finds the shortest way from an item with units left to a requirement with room, moving others aside, and sends all it can. */
  function dealOnce(): number {
    const fromItem: (number | undefined)[] = requirements.map(() => undefined)
    const fromRequirement: (number | undefined)[] = items.map(() => undefined)
    const queue = left.flatMap((units, item) => (units > 0 ? [item] : []))
    const seen = new Set(queue)
    for (const item of queue) {
      const id = items[item]?.[0] ?? ''
      for (const [index, requirement] of requirements.entries()) {
        if (fromItem[index] !== undefined || !doesAccept(requirement, id)) continue
        fromItem[index] = item
        if ((room[index] ?? 0) > 0) return send(index, fromItem, fromRequirement)
        for (const [other, holds] of held.entries())
          if ((holds[index] ?? 0) > 0 && !seen.has(other)) {
            fromRequirement[other] = index
            seen.add(other)
            queue.push(other)
          }
      }
    }
    return 0
  }

  function send(
    end: number,
    fromItem: readonly (number | undefined)[],
    fromRequirement: readonly (number | undefined)[],
  ): number {
    const steps: { readonly item: number; readonly to: number; readonly from: number | undefined }[] = []
    let units = room[end] ?? 0
    for (let to: number | undefined = end; to !== undefined;) {
      const item: number = fromItem[to] ?? 0
      const from: number | undefined = fromRequirement[item]
      units = Math.min(units, from === undefined ? (left[item] ?? 0) : (held[item]?.[from] ?? 0))
      steps.push({ item, to, from })
      to = from
    }
    room[end] = (room[end] ?? 0) - units
    for (const { item, to, from } of steps) {
      const holds = held[item] ?? []
      holds[to] = (holds[to] ?? 0) + units
      if (from === undefined) left[item] = (left[item] ?? 0) - units
      else holds[from] = (holds[from] ?? 0) - units
    }
    return units
  }
}
