// The proxy door: CONNECT, who asks, and which way a connection takes. Everything else than CONNECT is answered in words.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import { refuseMalformed } from '../http/malformed.ts'
import { sendProblem, sendText } from '../http/reply.ts'
import { httpContext } from '../http/request.ts'
import { namedHost, presentedIdentity, readDestination } from './connect-request.ts'
import { createInterceptions } from './interception.ts'
import type { Destination, ObservedConnect, ProxyAgent, ProxyDoorParts, Way } from './ports.ts'
import { refuseConnect } from './refuse-connect.ts'
import { joinStreams } from './tunnel.ts'

const MAX_HEADER_BYTES = 16 * 1024
/** Where programs, and people who set them up, get what they have to trust. */
export const CA_PATH = '/ca.pem'
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

export interface ProxyDoor {
  /** Not listening yet: on a port of loopback, or on a socket of the file system. */
  readonly server: Server
  /** Accepts nothing more, and cuts off what is open. */
  close(): Promise<void>
}

export function createProxyDoor(parts: ProxyDoorParts): ProxyDoor {
  const { watch, observe, baseUrl } = parts
  const addresses = { baseUrl, siteUrl: baseUrl, mcpUrl: baseUrl }
  const interceptions = createInterceptions(parts)
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  })
  server.on('request', (req, res) => {
    if (observe) observe.request({ req, res, scheme: 'http' }, () => answerPlain(req, res))
    else answerPlain(req, res)
  })
  server.on('upgrade', (_req, socket) => socket.destroy())
  server.on('clientError', refuseMalformed(baseUrl))
  server.on('connect', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (observe) observe.connect(req, socket, (told) => void connect(req, socket, head, told))
    else void connect(req, socket, head)
  })

  async function connect(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    told?: ObservedConnect,
  ): Promise<void> {
    socket.on('error', () => socket.destroy())
    let agent: ProxyAgent | undefined
    let leave: (() => void) | undefined
    const { remoteAddress: address = 'local', remotePort } = req.socket
    const token = presentedIdentity(req)
    try {
      agent = await parts.identify(token, address, remotePort)
      const to = readDestination(req.url ?? '', parts.targets)
      const way = await wayTo(agent, to)
      leave = agent.enter?.()
      const establish = () => {
        socket.write(ESTABLISHED)
        if (head.length > 0) socket.unshift(head)
        told?.established(way)
      }
      if (way === 'tunnel') await tunnel(socket, agent, to, establish)
      else await intercept(socket, agent, to, way, establish)
    } catch (thrown) {
      const error = toGatewayError(thrown)
      const host = namedHost(req.url ?? '')
      const requestId = newId('req')
      told?.refused(error.status)
      watch.refused({
        agentId: agent?.id,
        host,
        code: error.code,
        reason: error.reason,
        detail: error.message,
      })
      await parts.record?.({ agent, token, address, host, requestId, error })
      refuseConnect(socket, error, { requestId, baseUrl })
    } finally {
      leave?.()
    }
  }

  async function wayTo(agent: ProxyAgent, { host, port }: Destination): Promise<Way> {
    if (await agent.covers(host, port)) return 'credential'
    if (agent.tunnels?.(host, port)) return 'tunnel'
    if (agent.unknown !== 'deny') return agent.unknown
    throw new GatewayError(
      'scope_denied',
      `Connections to ${host} are not allowed here. Ask the operator: they decide which hosts may be reached, and with what.`,
      { reason: 'unknown_host' },
    )
  }

  async function tunnel(
    socket: Duplex,
    agent: ProxyAgent,
    to: Destination,
    establish: () => void,
  ): Promise<void> {
    const upstream = await parts.outside.connect(to)
    upstream.on('error', () => upstream.destroy())
    if (socket.destroyed) return void upstream.destroy()
    establish()
    const watched = agent.watchRevocation?.()
    const bytes = await joinStreams(socket, upstream, watched?.signal)
    watched?.leave()
    watch.passed({ agentId: agent.id, ...to, way: 'tunnel', requests: 0, ...bytes })
  }

  async function intercept(
    socket: Duplex,
    agent: ProxyAgent,
    to: Destination,
    way: 'credential' | 'inspect',
    establish: () => void,
  ): Promise<void> {
    // Before the program is told that it goes on: behind that an answer would stand in its TLS.
    const secureContext = interceptions.contextOf(to.host)
    establish()
    // Requests under a credential are judged one by one, and cut off by the engine; these are not.
    const watched = way === 'inspect' ? agent.watchRevocation?.() : undefined
    watched?.signal.addEventListener('abort', () => socket.destroy())
    const requests = await interceptions.open(socket, agent, to, way, secureContext)
    watched?.leave()
    watch.passed({ agentId: agent.id, ...to, way, requests, bytesUp: 0, bytesDown: 0 })
  }

  function answerPlain(req: IncomingMessage, res: ServerResponse): void {
    const context = httpContext(req, 0)
    if (req.method === 'GET' && req.url === CA_PATH)
      return sendText(res, 200, parts.authority.trusted(), { 'content-type': 'application/x-pem-file' })
    const isProxied = req.url?.startsWith('/') === false
    const detail = isProxied
      ? 'Plain http:// is not passed on: a secret would be readable on the way. Use https://, for which programs send CONNECT here.'
      : 'This is a proxy: name it in HTTPS_PROXY, and call https:// addresses through it.'
    const error = new GatewayError('target_invalid', detail, { reason: 'not_https' })
    watch.refused({
      agentId: undefined,
      host: namedHost(req.url ?? ''),
      code: error.code,
      reason: error.reason,
      detail,
    })
    sendProblem(res, error, context, addresses)
  }

  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) =>
        server.listening ? server.close(() => resolve()) : resolve(),
      )
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
