// The bytes of an answer's body while they arrive: in bounded memory, and without a long turn at the end.

const SMALL_BYTES = 1024
/** Few pieces are cheaper as they are, because a block is larger than most bodies. */
const FEW_PIECES = 32
const BLOCK_BYTES = 64 * 1024

export interface Body {
  readonly size: number
  add(chunk: Buffer): void
  /** @returns all of it; nothing is added any more */
  take(): Buffer
}

/** @param declared bytes that are said to follow; 0 where that is not known */
export const createBody = (declared: number): Body =>
  declared >= BLOCK_BYTES ? createWholeBody(declared) : createPieces()

/**
 * A long body has its place from the start: to put two mebibytes together at the end takes one long turn of the event loop, and
 * memory that nothing was written to yet costs nothing.
 */
function createWholeBody(declared: number): Body {
  const whole = Buffer.allocUnsafeSlow(declared)
  // The size is no getter: V8 keeps what a getter in a literal closes over until it next collects everything.
  const body = {
    size: 0,
    add(chunk: Buffer) {
      body.size += chunk.copy(whole, body.size)
    },
    take: () => whole.subarray(0, body.size),
  }
  return body
}

/** A body in pieces of a byte each, a Buffer for every one, would be a hundred times its size: small pieces are put together. */
function createPieces(): Body {
  const chunks: Buffer[] = []
  // Collects small pieces until it is full.
  let block: Buffer | undefined
  let used = 0
  const flush = () => {
    if (block && used > 0) chunks.push(Buffer.from(block.subarray(0, used)))
    used = 0
  }
  const body = {
    size: 0,
    add(chunk: Buffer) {
      body.size += chunk.length
      if (chunk.length < SMALL_BYTES && chunks.length >= FEW_PIECES) {
        block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES)
        if (used + chunk.length > BLOCK_BYTES) flush()
        used += chunk.copy(block, used)
        return
      }
      flush()
      chunks.push(chunk)
    },
    take() {
      flush()
      const [only, ...more] = chunks
      return only && more.length === 0 ? only : Buffer.concat(chunks, body.size)
    },
  }
  return body
}
