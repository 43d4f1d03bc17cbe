// A long text that is always the same, compressed once, within a short frame that differs each time: an answer in JSON-RPC has the
// request's id before the list that everybody is sent. RFC 1951 lets blocks that were made apart stand behind one another.
import { constants, crc32, deflateRawSync } from 'node:zlib'

/** RFC 1952, section 2.3: deflate, no name, no time, from no system in particular. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** Most bytes of a block that is not compressed. */
const MAX_STORED = 0xffff

/** Blocks of a text, none of which is the last; a client of few kinds asks for the same few lists. */
const blocks = new WeakMap<Buffer, Buffer>()

function blocksOf(text: Buffer): Buffer {
  let made = blocks.get(text)
  if (!made) {
    made = deflateRawSync(text, { level: 9, finishFlush: constants.Z_SYNC_FLUSH })
    blocks.set(text, made)
  }
  return made
}

function stored(bytes: Buffer, isLast: boolean): Buffer {
  const block = Buffer.alloc(5 + bytes.length)
  block.writeUInt8(isLast ? 1 : 0, 0)
  block.writeUInt16LE(bytes.length, 1)
  block.writeUInt16LE(bytes.length ^ MAX_STORED, 3)
  bytes.copy(block, 5)
  return block
}

/**
 * @param text the same buffer each time
 * @returns gzip of the three behind one another; undefined where a frame is too long for it
 */
export function gzipFramed(head: Buffer, text: Buffer, tail: Buffer): Buffer | undefined {
  if (head.length > MAX_STORED || tail.length > MAX_STORED) return undefined
  const end = Buffer.alloc(8)
  // 40 KB take 20 microseconds; the rest of this takes two.
  end.writeUInt32LE(crc32(tail, crc32(text, crc32(head))), 0)
  end.writeUInt32LE((head.length + text.length + tail.length) >>> 0, 4)
  return Buffer.concat([GZIP_HEAD, stored(head, false), blocksOf(text), stored(tail, true), end])
}
