// A request to a host that no credential is used for, where the operator has such connections opened: it goes on as it came.
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GatewayError } from '../../core/errors.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { endToEndHeaders } from '../http/end-to-end-headers.ts'
import { endRelayed } from '../http/reply.ts'
import type { UpgradeRequest } from '../http/upgrade.ts'
import type { Destination, Outside } from './ports.ts'
import { passUpgrade, UPGRADE_HEADERS } from './upgrade-hop.ts'

/** RFC 9110, 7.6.1, and what is between a program and a proxy alone. */
const OF_THE_CONNECTION = new Set(
  'connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
/** Nothing moves on the way to the host for so long. */
export const HOST_IDLE_MS = 10 * 60_000

/** The way to one host, for as long as the program's connection lives: requests follow one another on one connection. */
export interface PassThrough {
  /** @throws {GatewayError} target_blocked, egress_paused, upstream_unreachable, response_unacceptable, before anything was answered */
  send(req: IncomingMessage, res: ServerResponse): Promise<void>
  /** The same for a WebSocket, whose frames nobody reads. Resolves when it is over. */
  sendUpgrade(req: IncomingMessage, upgrade: UpgradeRequest): Promise<void>
  close(): void
}

export function createPassThrough(outside: Outside, to: Destination): PassThrough {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // The agent counts a connection once it is there: requests that come together would each have one made, and overtake one another. Whoever
  // waits for a slow host here is the program itself, whose answers come in order anyway.
  const turns = createSemaphore(1)
  let isClosed = false
  /** Requests that are not over, to be ended with the connection: a listener of each on it would stay for as long as it is open. */
  const open = new Set<ClientRequest>()
  agent.createConnection = (_options, done) => {
    outside.connectTls(to).then(
      (socket) => done?.(null, socket),
      // The stream is looked at where there is no error alone.
      (thrown: Error) => done?.(thrown, undefined as unknown as Duplex),
    )
    return undefined
  }

  return {
    send: (req, res) =>
      turns.run(async () => {
        // The program went while its request waited for the one before.
        if (isClosed) return
        const { answer, taken, outgoing } = await ask(req)
        // Nobody asked to take it over: it would be nobody's, and stay open.
        taken?.socket.destroy()
        await passAnswer(answer, res)
        // The host did not wait for the rest, which would keep its connection from the next request.
        if (!outgoing.writableFinished) outgoing.destroy()
      }),
    async sendUpgrade(req, upgrade) {
      const { answer, taken } = await ask(req, [...UPGRADE_HEADERS])
      if (taken) return await passUpgrade(upgrade, answer, taken.socket, taken.head)
      await passAnswer(answer, upgrade.res)
    },
    close() {
      isClosed = true
      for (const outgoing of open) outgoing.destroy()
      agent.destroy()
    },
  }

  function ask(req: IncomingMessage, more: readonly string[] = []): Promise<Asked> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent,
        host: to.host,
        port: to.port,
        method: req.method,
        path: req.url,
        headers: [...forwarded(req), ...more],
        setHost: false,
        timeout: HOST_IDLE_MS,
      })
      outgoing
        .on('response', (answer) => resolve({ outgoing, answer, taken: undefined }))
        .on('upgrade', (answer, socket, head) => resolve({ outgoing, answer, taken: { socket, head } }))
        .on('timeout', () => outgoing.destroy())
        .on('error', (thrown) =>
          reject(
            thrown instanceof GatewayError
              ? thrown
              : new GatewayError('upstream_unreachable', 'The connection to the host failed.', {
                  cause: thrown,
                }),
          ),
        )
        .on('close', () => open.delete(outgoing))
      open.add(outgoing)
      req.on('error', () => outgoing.destroy())
      // One that asks for a WebSocket has no body, and its connection is handed over already.
      if (more.length > 0) outgoing.end()
      else req.pipe(outgoing)
    })
  }
}

interface Asked {
  readonly outgoing: ClientRequest
  readonly answer: IncomingMessage
  /** The connection, where the host answered 101. */
  readonly taken: { readonly socket: Duplex; readonly head: Buffer } | undefined
}

/** @throws {GatewayError} response_unacceptable: after a 101 that nobody asked for, what follows is no answer to anything */
async function passAnswer(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const { statusCode = 502 } = answer
  if (statusCode === 101) {
    answer.destroy()
    throw new GatewayError(
      'response_unacceptable',
      'The host answered 101 where no WebSocket begins, and nothing of it was passed on. Ask for a WebSocket with its whole handshake, or use another address of the host.',
      { reason: 'unasked_upgrade' },
    )
  }
  res.writeHead(statusCode, forwarded(answer))
  try {
    await pipeline(answer, res, { end: false })
    endRelayed(res)
  } catch {
    res.destroy()
  }
}

/** Bodies in chunks are in chunks again. */
function forwarded(message: IncomingMessage): string[] {
  const kept = endToEndHeaders(message, OF_THE_CONNECTION)
  return message.headers['transfer-encoding'] === undefined ? kept : [...kept, 'transfer-encoding', 'chunked']
}
