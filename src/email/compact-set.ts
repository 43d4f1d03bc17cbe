// A hundred thousand names in a few megabytes: one block of bytes and an open-addressed index into it, outside the heap.
// Two buffers, so one process builds them and another opens them. Exact: a name is compared whole, since a collision would
// turn somebody away.

/** The two buffers that `buildNameTable` makes and `openCompactSet` reads. */
export interface NameTable {
  /** Each name has its value, its length, its characters. Offset 0 means an empty slot. */
  readonly block: Uint8Array
  /** The place of each name in the block, found by its hash. The length is a power of two. */
  readonly slots: Uint32Array
  /** Names. */
  readonly size: number
}

export interface CompactSet {
  /** The value of a name; 0 where it is not in the table. */
  get(name: string): number
  readonly size: number
  readonly bytes: number
}

/** @param entries lower-case ASCII names of at most 253 characters, each once, with a value from 1 to 255 */
export function buildNameTable(entries: ReadonlyMap<string, number>): NameTable {
  let length = 1
  for (const name of entries.keys()) length += name.length + 2
  const block = Buffer.alloc(length)
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(entries.size, 1) * 1.6 + 1)))
  const mask = slots.length - 1
  let end = 1
  for (const [name, value] of entries) {
    let slot = hashOf(name) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = end
    block[end] = value
    block[end + 1] = name.length
    block.write(name, end + 2, 'latin1')
    end += name.length + 2
  }
  return { block, slots, size: entries.size }
}

/** Opens a table for lookups; a lookup is exact, and takes constant time. */
export function openCompactSet({ block, slots, size }: NameTable): CompactSet {
  const mask = slots.length - 1
  const isAt = (name: string, offset: number): boolean => {
    if (block[offset + 1] !== name.length) return false
    for (let i = 0; i < name.length; i++) if (block[offset + 2 + i] !== name.charCodeAt(i)) return false
    return true
  }
  return {
    get(name) {
      let slot = hashOf(name) & mask
      for (let offset = slots[slot] ?? 0; offset !== 0; offset = slots[slot] ?? 0) {
        if (isAt(name, offset)) return block[offset] ?? 0
        slot = (slot + 1) & mask
      }
      return 0
    },
    size,
    bytes: block.byteLength + slots.byteLength,
  }
}

/** Builds and opens a set in one process, for small sets and tests. */
export const createCompactSet = (entries: ReadonlyMap<string, number>): CompactSet =>
  openCompactSet(buildNameTable(entries))

/** FNV-1a, finished so that the low bits depend on all of it. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
