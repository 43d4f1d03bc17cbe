// Compact lists as bytes, from the process that builds them to the one that asks them: a line of JSON that says how long
// what follows is, the slots, the block (in the byte order of the machine, which both run on). What does not fit together is
// refused: a table that is wrong would answer wrongly, or look for a name without end.
import type { NameTable } from './compact-set.ts'
import type { ListSource, CompactLists } from './sources.ts'

/** Lengths: of the block in bytes, of the slots in slots. */
interface Head {
  readonly size: number
  readonly block: number
  readonly slots: number
  readonly sources: readonly ListSource[]
}
const LINE_END = 0x0a

/** The bytes of the lists, for another process of this machine. */
export function encodeLists({ table, sources }: CompactLists): Buffer {
  const { block, slots, size } = table
  const head: Head = { size, block: block.length, slots: slots.length, sources }
  const line = JSON.stringify(head)
  // Slots begin at a multiple of four, so that they can stay where they arrive.
  const padding = ' '.repeat(3 - (Buffer.byteLength(line) % 4))
  return Buffer.concat([
    Buffer.from(`${line}${padding}\n`),
    Buffer.from(slots.buffer, slots.byteOffset, slots.byteLength),
    block,
  ])
}

/**
 * @param bytes become the table: nobody may write to them any more
 * @returns undefined where they are not whole, or not what `encodeLists` made
 */
export function decodeLists(bytes: Buffer): CompactLists | undefined {
  const start = bytes.indexOf(LINE_END) + 1
  const head = readHead(bytes.subarray(0, start))
  if (head === undefined || bytes.length !== start + 4 * head.slots + head.block) return undefined
  const { size, sources } = head
  const slots = toSlots(bytes.subarray(start, start + 4 * head.slots))
  const table = { block: bytes.subarray(start + 4 * head.slots), slots, size }
  return isWhole(table) ? { table, sources } : undefined
}

function toSlots(bytes: Buffer): Uint32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Uint32Array(buffer, byteOffset, length / 4)
}

/** Checked by hand: the process that builds the lists would wait for a library of schemas as long as for its lists. */
function readHead(line: Buffer): Head | undefined {
  try {
    const head = JSON.parse(line.toString()) as Head
    const lengths = [head.size, head.block, head.slots]
    return lengths.every(Number.isSafeInteger) && head.sources.every(isSource) ? head : undefined
  } catch {
    return undefined
  }
}

const isSource = ({ bit, name, date }: ListSource) =>
  Number.isInteger(bit) && typeof name === 'string' && (date === null || typeof date === 'string')

/** Every name lies in the block, and some slot is empty: that is where looking for a name ends. */
function isWhole({ block, slots, size }: NameTable): boolean {
  if (slots.length === 0 || (slots.length & (slots.length - 1)) !== 0 || size >= slots.length) return false
  let used = 0
  for (const offset of slots) {
    if (offset === 0) continue
    used++
    const length = block[offset + 1]
    if (length === undefined || offset + 2 + length > block.length) return false
  }
  return used === size
}
