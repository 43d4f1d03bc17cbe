// The headers of a message that another hop passes on.
import type { IncomingMessage } from 'node:http'

/**
 * Not for a sender to take away by naming them: a body without its length is read as the next request on the connection, under whatever the
 * next hop takes that for.
 */
const OF_THE_FRAME = new Set(['content-length', 'transfer-encoding', 'host'])

/**
 * @param dropped lower-case names that do not go on
 * @returns names and values by turns, in their order and spelling, without those nor what `Connection` names (RFC 9110, 7.6.1)
 */
export function endToEndHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  dropped: ReadonlySet<string>,
): string[] {
  const named = (headers.connection ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !OF_THE_FRAME.has(name))
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const lower = name.toLowerCase()
    if (!dropped.has(lower) && !named.includes(lower)) kept.push(name, rawHeaders[at + 1] ?? '')
  }
  return kept
}
