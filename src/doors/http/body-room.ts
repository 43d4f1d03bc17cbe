// How much memory request bodies may have while they arrive. A sender has a minute for one, needs no token to begin it, and may have
// thousands of connections: 4 MiB less a byte on each would be the end of the gateway.

export interface BodyRoom {
  /**
   * @param sender address of the connection
   * @param bytes that have come
   * @param size of the body with them
   * @returns whether there is room for them; they are counted in any case, until they are given back
   */
  take(sender: string, bytes: number, size: number): boolean
  give(sender: string, bytes: number): void
}

const ROOM_BYTES = 1024 * 1024 * 1024
/** Nobody is refused for so little: most calls are smaller, and must go on while somebody fills the rest. */
const ALWAYS_BYTES = 64 * 1024

/** Counts the bodies that arrive in this process: one sender may have as much as is left for all others. */
export function createBodyRoom(roomBytes: number = ROOM_BYTES): BodyRoom {
  const held = new Map<string, number>()
  let total = 0

  function add(sender: string, bytes: number): number {
    const now = (held.get(sender) ?? 0) + bytes
    if (now === 0) held.delete(sender)
    else held.set(sender, now)
    total += bytes
    return now
  }

  return {
    take(sender, bytes, size) {
      const own = add(sender, bytes)
      return size <= ALWAYS_BYTES || own <= roomBytes - total
    },
    give: (sender, bytes) => void add(sender, -bytes),
  }
}
