// Text as the bytes of a legacy charset. The platform only decodes them: what each byte, or two of them, means is asked of it once.

/** @throws where the charset has no such character */
export function encodeAs(charset: string, text: string): Buffer {
  const bytes = bytesOf(charset)
  return Buffer.from(
    [...text].flatMap((char) => {
      if (char <= '\x7f') return [char.charCodeAt(0)]
      const found = bytes.get(char)
      if (!found) throw new Error(`${charset} has no ${char}`)
      return found
    }),
  )
}

const tables = new Map<string, Map<string, number[]>>()

function bytesOf(charset: string): Map<string, number[]> {
  const known = tables.get(charset)
  if (known) return known
  const table = new Map<string, number[]>()
  const decoder = new TextDecoder(charset)
  const learn = (...bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes))
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes)
  }
  for (let first = 0x80; first <= 0xff; first++) learn(first)
  for (let first = 0x81; first <= 0xfe; first++)
    for (let second = 0x40; second <= 0xfe; second++) learn(first, second)
  tables.set(charset, table)
  return table
}
