// A connection that is opened: our certificate speaks for the host, HTTP/1.1 is read, and each request is judged by itself.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type SecureContext, TLSSocket } from 'node:tls'
import { GatewayError } from '../../core/errors.ts'
import { asksForWebSocket } from '../../lib/websocket.ts'
import { refuseMalformed } from '../http/malformed.ts'
import { sendProblem } from '../http/reply.ts'
import { httpContext } from '../http/request.ts'
import { checkUpgrade, receiveUpgrade, type UpgradeRequest } from '../http/upgrade.ts'
import { urlOf } from './connect-request.ts'
import { checkInnerRequest, refuseOwnTokens } from './inner-request.ts'
import { createLeafContexts } from './leaf-contexts.ts'
import { createPassThrough, HOST_IDLE_MS, type PassThrough } from './pass-through.ts'
import type { Destination, ProxyAgent, ProxyDoorParts } from './ports.ts'

const MAX_HEADER_BYTES = 64 * 1024
const HANDSHAKE_MS = 10_000
/** Of OpenSSL, where the program offers protocols (ALPN) and HTTP/1.1 is none of them. */
const NO_COMMON_PROTOCOL = 'ERR_SSL_NO_APPLICATION_PROTOCOL'
/**
 * A program that says nothing on an open connection, or never comes to the end of a head; the engine has clocks of its own while a request runs.
 */
const SILENCE_MS = 120_000
/** While a host without a credential is asked, which has a clock of its own: the program is to hear what became of it. */
const PASSING_MS = HOST_IDLE_MS + 60_000
/** Requests of one connection that may wait for their answers: before there are fewer nothing more of it is read. */
const MOST_OPEN = 32

/** An opened connection: whose, to where, and by which way its requests go. */
interface Opened {
  readonly agent: ProxyAgent
  readonly to: Destination
  /** Undefined where a credential is used. */
  readonly passThrough: PassThrough | undefined
  requests: number
  /** Whether a request was refused here: what is behind it may be a part of that, and no request. */
  isRefused: boolean
  /** Requests that are not answered yet. */
  open: number
  /** Runs while there are none. */
  wait: NodeJS.Timeout | undefined
}

export interface Interceptions {
  /**
   * What it takes to speak in the host's name.
   * @throws where no certificate can be made
   */
  contextOf(host: string): SecureContext
  /** Speaks TLS on the socket. Resolves when it is over, with the number of requests. */
  open(
    socket: Duplex,
    agent: ProxyAgent,
    to: Destination,
    way: 'credential' | 'inspect',
    secureContext: SecureContext,
  ): Promise<number>
}

export function createInterceptions(parts: ProxyDoorParts): Interceptions {
  const contextOf = createLeafContexts(parts.authority, parts.now)
  const opened = new WeakMap<object, Opened>()
  const addresses = { baseUrl: parts.baseUrl, siteUrl: parts.baseUrl, mcpUrl: parts.baseUrl }
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: SILENCE_MS,
    shouldUpgradeCallback: asksForWebSocket,
  })
  server.timeout = SILENCE_MS
  server.on('request', (req, res) => handle(req, res))
  server.on('clientError', refuseMalformed(parts.baseUrl))
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    const upgrade = receiveUpgrade(req, socket, head)
    if (upgrade) handle(req, upgrade.res, upgrade)
  })

  function handle(req: IncomingMessage, res: ServerResponse, upgrade?: UpgradeRequest): void {
    const { observe } = parts
    if (observe) observe.request({ req, res, upgrade, scheme: 'https' }, () => void answer(req, res, upgrade))
    else void answer(req, res, upgrade)
  }

  /** Node's own clocks of heads run for servers that listen alone. */
  function awaitRequest(connection: Opened, socket: Duplex): void {
    clearTimeout(connection.wait)
    connection.wait = setTimeout(() => socket.destroy(), parts.waitMs ?? SILENCE_MS)
  }

  async function answer(req: IncomingMessage, res: ServerResponse, upgrade?: UpgradeRequest): Promise<void> {
    const context = httpContext(req, 0)
    const { socket } = req
    const connection = opened.get(socket)
    if (!connection) return void res.destroy()
    clearTimeout(connection.wait)
    // Node would read on and keep all that is sent; what came in one piece with this is parsed still.
    if (++connection.open === MOST_OPEN) socket.on('resume', pauseAgain).pause()
    // A connection that was taken over, or is at its end, waits for no request.
    res.once('close', () => {
      if (connection.open-- === MOST_OPEN) socket.off('resume', pauseAgain).resume()
      if (connection.open === 0 && !upgrade && !socket.destroyed) awaitRequest(connection, socket)
    })
    // Sent without waiting for the answer before it, which ends the connection once it is out.
    if (connection.isRefused) return
    const { agent, to, passThrough } = connection
    connection.requests++
    try {
      checkInnerRequest(req, to, (req.socket as TLSSocket & { servername?: string | false }).servername)
      if (!passThrough) return await agent.relay(req, res, urlOf(to, req.url ?? '/'), upgrade)
      refuseOwnTokens(req)
      // Node takes the usual bound again once all that was asked is answered.
      socket.setTimeout(PASSING_MS)
      if (upgrade) {
        checkUpgrade(req)
        await passThrough.sendUpgrade(req, upgrade)
      } else await passThrough.send(req, res)
    } catch (thrown) {
      if (upgrade?.isTaken() === true) return
      const error =
        thrown instanceof GatewayError
          ? thrown
          : new GatewayError('internal', 'The proxy failed.', { cause: thrown })
      parts.watch.refused({
        agentId: agent.id,
        host: to.host,
        code: error.code,
        reason: error.reason,
        detail: error.message,
      })
      // What follows on this connection cannot be trusted to be what it says.
      connection.isRefused = true
      const { address, requestId } = context
      await parts.record?.({ agent, token: undefined, address, host: to.host, requestId, error })
      res.shouldKeepAlive = false
      sendProblem(res, error, context, addresses)
    }
  }

  return {
    contextOf,
    open(socket, agent, to, way, secureContext) {
      const tls = new TLSSocket(socket, {
        isServer: true,
        secureContext,
        // Who offers HTTP/2 alone is told so in the handshake.
        ALPNProtocols: ['http/1.1'],
      })
      const connection: Opened = {
        agent,
        to,
        passThrough: way === 'inspect' ? createPassThrough(parts.outside, to) : undefined,
        requests: 0,
        isRefused: false,
        open: 0,
        wait: undefined,
      }
      opened.set(tls, connection)
      return new Promise((resolve) => {
        let hasShaken = false
        const timer = setTimeout(() => tls.destroy(), HANDSHAKE_MS)
        tls.once('secure', () => {
          hasShaken = true
          clearTimeout(timer)
          awaitRequest(connection, tls)
          tls.removeAllListeners('end')
          server.emit('connection', tls)
        })
        // Until the handshake is over Node tells of failures by an event of its own, and nobody reads who would see the end.
        let wantsOther = false
        for (const event of ['error', '_tlsError', 'end'])
          tls.on(event, (failure?: NodeJS.ErrnoException) => {
            if (failure?.code === NO_COMMON_PROTOCOL) wantsOther = true
            tls.destroy()
          })
        tls.resume()
        tls.once('close', () => {
          clearTimeout(timer)
          clearTimeout(connection.wait)
          connection.passThrough?.close()
          socket.destroy()
          // Some programs end the handshake with an alert, others complete it and hang up.
          if (connection.requests === 0)
            parts.watch.refused({
              agentId: agent.id,
              host: to.host,
              code: 'request_invalid',
              reason: hasShaken ? 'no_request' : 'handshake',
              detail: wantsOther
                ? 'The program speaks HTTP/2 alone (as gRPC does), and this proxy speaks HTTP/1.1.'
                : hasShaken
                  ? 'The program hung up without a request: it may not trust the certificates of this proxy.'
                  : 'The TLS handshake failed: the program does not trust the certificates of this proxy.',
            })
          resolve(connection.requests)
        })
      })
    },
  }
}

/** Node goes on with a connection at the end of each request. */
function pauseAgain(this: Duplex): void {
  this.pause()
}
