// How a request says where its body ends.
import type { IncomingMessage } from 'node:http'

/**
 * RFC 9112, section 6.1. Node takes the chunks off and leaves what is left of the encoding to us; and to who speaks HTTP/1.0,
 * or a proxy that does, the message ends somewhere else.
 */
export function isFramedOddly({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && (coding.trim().toLowerCase() !== 'chunked' || httpVersion !== '1.1')
}
