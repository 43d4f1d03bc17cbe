// A queue in which owners take turns: whoever puts a thousand items in waits for them alone, and one item of somebody else is next
// but one. Items of one owner stay in their order.

export interface FairQueue<T> {
  readonly size: number
  add(owner: string, item: T): void
  /**
   * @param mayTake says for an owner whether its turn has come; one who is passed over keeps its place
   * @returns the first item of the owner who has waited longest for a turn
   */
  take(mayTake: (owner: string) => boolean): T | undefined
  /** @returns false where the item is not there any more */
  remove(owner: string, item: T): boolean
  /** Empties the queue. */
  takeAll(): T[]
}

export function createFairQueue<T>(): FairQueue<T> {
  // Owners are in the order of their turns. One without items is not here.
  const itemsOf = new Map<string, T[]>()
  let size = 0

  return {
    get size() {
      return size
    },
    add(owner, item) {
      const items = itemsOf.get(owner)
      if (items) items.push(item)
      else itemsOf.set(owner, [item])
      size++
    },
    take(mayTake) {
      for (const [owner, items] of itemsOf) {
        if (!mayTake(owner)) continue
        const item = items.shift()
        itemsOf.delete(owner)
        if (items.length > 0) itemsOf.set(owner, items)
        size--
        return item
      }
      return undefined
    },
    remove(owner, item) {
      const items = itemsOf.get(owner) ?? []
      const at = items.indexOf(item)
      if (at < 0) return false
      items.splice(at, 1)
      if (items.length === 0) itemsOf.delete(owner)
      size--
      return true
    },
    takeAll() {
      const all = [...itemsOf.values()].flat()
      itemsOf.clear()
      size = 0
      return all
    },
  }
}
