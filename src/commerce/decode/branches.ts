// Where in a document something stands. Few of the things that are looked at are ever asked that: a document is walked for it
// when the first of them is, and not before.
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import { pointer } from './value.ts'

export interface Branch {
  readonly up: Container | undefined
  readonly key: string | number
  /** Of the root of a document. */
  readonly at: Place
}

/** What holds other values, in the order in which a walk comes to it. */
export interface Container extends Branch {
  readonly value: readonly Json[] | JsonObject
  /** Of the member it is the value of; items have the name of their list. */
  readonly name: string
  readonly up: Container | undefined
  /** Index of the first value in it, once a walk came to it. */
  from: number
  /** Names of its members and its place, once somebody asked: there may be as many questions about it as members in it. */
  keys: readonly string[] | undefined
  place: Place | undefined
}

/** A document, with what holds something in it, once somebody asked. */
export interface Located extends Found<Json> {
  containers: readonly Container[] | undefined
}

/** A value of a document, by how many a walk looks at before it; the root is the first. */
export interface Spot {
  readonly source: Located
  readonly index: number
}

/** No name that means something is longer. */
const NAME_MAX_CHARS = 64

export const endOf = (name: string): string =>
  name.length > NAME_MAX_CHARS ? name.slice(-NAME_MAX_CHARS) : name

export const isContainer = (value: unknown): value is readonly Json[] | JsonObject =>
  typeof value === 'object' && value !== null

/** One object for each and no more: a document may be made of them alone. */
function listContainers({ value: root, at }: Found<Json>): readonly Container[] {
  const found: Container[] = []
  const stack: Container[] = []
  if (isContainer(root))
    stack.push({
      value: root,
      name: '',
      up: undefined,
      key: '',
      at,
      from: 0,
      keys: undefined,
      place: undefined,
    })
  let from = 1
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const up = top
    up.from = from
    found.push(up)
    const push = (value: Json, name: string, key: string | number) => {
      if (isContainer(value))
        stack.push({ value, name, up, key, at: '', from: 0, keys: undefined, place: undefined })
    }
    if (Array.isArray(up.value)) {
      const list = up.value as readonly Json[]
      from += list.length
      for (let i = 0; i < list.length; i++) push(list[i]!, up.name, i)
    } else {
      const keys = Object.keys(up.value)
      from += keys.length
      for (const key of keys) push((up.value as JsonObject)[key]!, endOf(key), key)
    }
  }
  return found
}

/** What holds it; undefined of the root. */
export function containerOf({ source, index }: Spot): Container | undefined {
  if (index === 0) return undefined
  const containers = (source.containers ??= listContainers(source))
  let [low, high] = [0, containers.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (containers[middle]!.from <= index) low = middle
    else high = middle - 1
  }
  return containers[low]
}

export function branchOf(spot: Spot): Branch {
  const up = containerOf(spot)
  if (up === undefined) return { up, key: '', at: spot.source.at }
  const nth = spot.index - up.from
  return { up, key: Array.isArray(up.value) ? nth : (up.keys ??= Object.keys(up.value))[nth]!, at: '' }
}

/** Names are as long as a stranger makes them, and what stands under one is put in words many times. */
export const placeOfBranch = ({ up, key, at }: Branch): Place =>
  up === undefined ? at : pointer((up.place ??= placeOfBranch(up)), key)
