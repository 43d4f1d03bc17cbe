// Hands one decrypted request to the gateway, by the door that names a credential instead of a host (`/via/`), and its answer to the program as
// it arrives. The gateway may be in this process, on this machine or elsewhere.
import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { FOR_PROXY } from '../../doors/via/index.ts'
import { retryHeaders } from '../../doors/relayed-call.ts'
import { endToEndHeaders } from '../../doors/http/end-to-end-headers.ts'
import { endRelayed } from '../../doors/http/reply.ts'
import type { UpgradeRequest } from '../../doors/http/upgrade.ts'
import { checkPath } from '../../egress/target.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import { listed } from '../../lib/websocket.ts'
import { passUpgrade, UPGRADE_HEADERS } from '../../doors/proxy/upgrade-hop.ts'
import type { HeldForHost } from './held.ts'
import { readRefusal, type Refused } from './refusals.ts'

/**
 * RFC 9110, 7.6.1; what is said to the proxy alone; what the gateway makes anew; and what a browser says of its page, which the gateway
 * would take for one at its own address.
 */
const OF_THE_CONNECTION = new Set(
  (
    'connection keep-alive proxy-connection proxy-authorization proxy-authenticate te upgrade host expect x-gateway-capability ' +
    'sec-fetch-site sec-fetch-dest'
  ).split(' '),
)
const ATTEMPT_HEADER = 'x-gateway-attempt'
/** The gateway takes 16 KiB from an upstream, which is all that Node reads by itself, and adds the attempt, the receipt and a policy of its own. */
const MAX_ANSWER_HEADER_BYTES = 64 * 1024
const WRITE_THE_PATH =
  'Write the path without dot segments, empty segments and characters that have to be escaped.'
const NO_ANSWER = 'The gateway behind this proxy does not answer.'
const GATEWAY_LOST =
  'The gateway behind this proxy was lost with the request. Whether it was sent is not known: look at the attempts of the gateway before ' +
  'it is sent again.'

/** What became of a request. */
export interface Relayed {
  /** Id of the attempt, where the answer is that of the upstream. */
  readonly attempt: string | undefined
  /** Why the program was answered something else. */
  readonly refused: Refused | undefined
}

export interface GatewayRelay {
  /**
   * Never rejects; where the gateway does not answer, the program gets a 502, which tells its library not to send again what may have been sent.
   * Nothing is sent for a program that went away before, or once the relay is closed.
   * @param path of the program, raw, with its query
   * @param upgrade where it asks for a WebSocket; `res` is its own then
   */
  send(
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    held: HeldForHost,
    upgrade?: UpgradeRequest,
  ): Promise<Relayed>
  close(): void
}

/** @param gateway its address, http or https */
export function createGatewayRelay(gateway: string): GatewayRelay {
  const base = new URL(gateway)
  const isTls = base.protocol === 'https:'
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const request = isTls ? requestHttps : requestHttp
  let isClosed = false

  return {
    close() {
      isClosed = true
      agent.destroy()
    },
    send: (req, res, path, held, upgrade) =>
      new Promise((resolve) => {
        // The end of the program's connection was told already, and is not told again.
        if (isClosed || res.destroyed || res.closed) {
          res.destroy()
          return resolve({ attempt: undefined, refused: undefined })
        }
        // The gateway refuses it, too; a proxy before it may resolve such a path, and it would lead out of `/via/`.
        if (!checkPath(path.split('?', 1)[0] ?? '/', { asWritten: true }).ok) {
          res.writeHead(400, { 'content-type': 'text/plain', connection: 'close' }).end(`${WRITE_THE_PATH}\n`)
          return resolve({ attempt: undefined, refused: { code: 'target_invalid', detail: WRITE_THE_PATH } })
        }
        const outgoing = request({
          agent,
          maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
          protocol: base.protocol,
          hostname: base.hostname.replace(/^\[|\]$/g, ''),
          port: base.port || (isTls ? 443 : 80),
          method: req.method,
          path: `${base.pathname.replace(/\/$/, '')}/via/${held.credentialId}${path}`,
          headers: held.token.use((token) => [
            ...withoutOwnTokens(kept(req)),
            'host',
            base.host,
            'x-gateway-capability',
            token,
            ...(upgrade ? UPGRADE_HEADERS : []),
            FOR_PROXY,
            '1',
          ]),
        })
        let hasConnection = false
        outgoing.on('socket', (socket) => {
          // One that is kept from an earlier request is there already.
          if (!socket.connecting) hasConnection = true
          else socket.once(isTls ? 'secureConnect' : 'connect', () => (hasConnection = true))
        })
        let attempt: string | undefined
        let refused: Refused | undefined
        const end = () => resolve({ attempt, refused })
        if (upgrade)
          outgoing.on('upgrade', (answer, socket, head) => {
            attempt = attemptOf(answer)
            void passUpgrade(upgrade, answer, socket, head).then(end)
          })
        outgoing.on('response', (answer) => {
          attempt = attemptOf(answer)
          const refusal = readRefusal(answer)
          res.writeHead(answer.statusCode ?? 502, kept(answer))
          // The head of a stream is not to wait for its first event.
          res.flushHeaders()
          answer.pipe(res, { end: false })
          answer.on('end', () => {
            if (Object.keys(answer.trailers).length > 0) res.addTrailers(answer.trailers)
            endRelayed(res)
            // The gateway needs no more of a request that it has answered.
            if (!outgoing.writableFinished) outgoing.destroy()
            refused = refusal()
            end()
          })
          answer.on('error', () => {
            res.destroy()
            end()
          })
        })
        outgoing.on('error', () => {
          if (upgrade?.isTaken() === true) return end()
          if (res.headersSent || res.destroyed) res.destroy()
          else refused = answerForGateway(res, hasConnection)
          end()
        })
        // A program that went away stops what was begun for it.
        res.once('close', () => {
          if (upgrade?.isTaken() === true) return
          if (!res.writableFinished) outgoing.destroy()
          end()
        })
        req.on('error', () => outgoing.destroy())
        req.socket.setTimeout(0)
        // One that asks for a WebSocket has no body, and its connection is handed over already.
        if (upgrade) outgoing.end()
        else req.pipe(outgoing)
      }),
  }
}

/**
 * Without a connection nothing was sent, and the program's library may try again. On one the gateway may have charged and sent the request before it
 * was gone, and whoever sends it again may have it done twice.
 */
function answerForGateway(res: ServerResponse, mayBeSent: boolean): Refused {
  const code = mayBeSent ? 'outcome_ambiguous' : 'upstream_unreachable'
  const detail = mayBeSent ? GATEWAY_LOST : NO_ANSWER
  res
    .writeHead(502, { 'content-type': 'text/plain', connection: 'close', ...retryHeaders({ code }) })
    .end(`${detail}\n`)
  return { code, detail }
}

function attemptOf({ headers }: IncomingMessage): string | undefined {
  const named = headers[ATTEMPT_HEADER]
  return typeof named === 'string' ? named : undefined
}

const kept = (message: IncomingMessage) => endToEndHeaders(message, OF_THE_CONNECTION)

/**
 * The capability of the run is the one word on who asks: a token of the gateway that the program has from elsewhere stays behind, so that no gateway,
 * of whatever version, takes it in its place. Of the subprotocols of a WebSocket the others stay.
 * @param pairs names and values by turns
 */
function withoutOwnTokens(pairs: readonly string[]): string[] {
  const clean: string[] = []
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at] ?? ''
    const value = pairs[at + 1] ?? ''
    if (!findEncodedToken(value)) clean.push(name, value)
    else if (name.toLowerCase() === 'sec-websocket-protocol') {
      const others = listed(value).filter((protocol) => !findEncodedToken(protocol))
      if (others.length > 0) clean.push(name, others.join(', '))
    }
  }
  return clean
}
