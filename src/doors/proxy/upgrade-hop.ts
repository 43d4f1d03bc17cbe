// A WebSocket whose next hop has answered 101: its frames pass as they are, and nobody here reads them.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { endToEndHeaders } from '../http/end-to-end-headers.ts'
import type { UpgradeRequest } from '../http/upgrade.ts'
import { joinStreams } from './tunnel.ts'

/** The program's own key went on, so that what the door says of it is what the next hop said. */
const OF_THE_HANDSHAKE = new Set('connection upgrade sec-websocket-accept'.split(' '))

/** What a request has to carry over a hop beside its other headers. */
export const UPGRADE_HEADERS = ['connection', 'Upgrade', 'upgrade', 'websocket'] as const

/**
 * @param head what came behind the head of the answer already
 * @returns resolves when both ways are over
 */
export async function passUpgrade(
  { program }: UpgradeRequest,
  answer: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  ;(socket as Partial<Socket>).setTimeout?.(0)
  const kept = endToEndHeaders(answer, OF_THE_HANDSHAKE)
  const headers: [string, string][] = []
  for (let at = 0; at + 1 < kept.length; at += 2) headers.push([kept[at] ?? '', kept[at + 1] ?? ''])
  const connection = program.accept(headers)
  if (!connection) return void socket.destroy()
  if (head.length > 0) socket.unshift(head)
  await joinStreams(connection, socket)
}
