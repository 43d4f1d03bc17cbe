// Writes files one behind the other as POSIX tar (ustar), which every system unpacks.

export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string
  readonly size: number
  /** Seconds since the epoch. */
  readonly mtime: number
  readonly content: AsyncIterable<Uint8Array>
}

const BLOCK = 512
/** Largest size that the eleven octal digits of the format hold; larger ones are binary, as GNU and BSD tar write them. */
const MOST_OCTAL = 0o77777777777

/** The archive in pieces. Files are of their owner alone. @throws {Error} where a file is not as long as it was said to be */
export async function* tar(entries: Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    yield headerOf(entry)
    let written = 0
    for await (const piece of entry.content) {
      written += piece.length
      yield piece
    }
    if (written !== entry.size) throw new Error(`${entry.name} has ${written} bytes, not ${entry.size}`)
    yield Buffer.alloc((BLOCK - (written % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function headerOf({ name, size, mtime }: TarEntry): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name`)
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    header.write(
      `${Math.floor(value)
        .toString(8)
        .padStart(length - 1, '0')}\0`,
      at,
      'latin1',
    )
  header.write(name, 0, 'utf8')
  octal(0o600, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  if (size <= MOST_OCTAL) octal(size, 124, 12)
  else {
    header.writeBigUInt64BE(BigInt(size), 128)
    header[124] = 0x80
  }
  octal(mtime, 136, 12)
  header.write('        ', 148, 'latin1')
  header.write('0', 156, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  let sum = 0
  for (const byte of header) sum += byte
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}
