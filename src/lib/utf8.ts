// UTF-8 that may be wrong: strangers send bytes, and a replacement character would change what was signed or hashed.

const exact = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const marked = new TextDecoder('utf-8', { fatal: true })

/** @returns the text, byte for byte (a byte order mark stays, as U+FEFF); undefined where the bytes are not UTF-8 */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => decode(exact, bytes)

/** @returns as `decodeUtf8`, without the byte order mark that readers of a document may ignore (RFC 8259, section 8.1) */
export const decodeUtf8Document = (bytes: Uint8Array): string | undefined => decode(marked, bytes)

function decode(decoder: typeof exact, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
