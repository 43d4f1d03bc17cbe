// Opens one TLS connection to one of the vetted addresses, and to nothing else. Names are not resolved here: the
// host name is only what the certificate must be for.
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { AddressPolicy } from '../address.ts'
import { createScheduler } from '../../lib/scheduler.ts'
import type { TlsProblem } from '../ports.ts'
import { tlsProblemOf } from './tls-problem.ts'

export interface DialRequest {
  readonly host: string
  readonly port: number
  /** Tried in this order; the next one only when the connection before it could not be made. */
  readonly addresses: readonly string[]
  /** Asked once more of each address: whoever vetted them may have used another policy than this request's. */
  readonly reach: AddressPolicy
  readonly secureContext: SecureContext
  /** Whether the context is of one credential: then the server is heard about the client before a request is sent. */
  readonly isOwn?: boolean
  /** For that word, in milliseconds; what the product takes unless given. */
  readonly certificateVerdictMs?: number | undefined
  /** Gives up, whatever stage was reached. */
  readonly signal: AbortSignal
}

export type DialResult =
  | { readonly ok: true; readonly socket: TLSSocket }
  | {
      readonly ok: false
      readonly reason: 'connect_failed' | 'tls_failed' | 'address_refused' | 'address_mismatch' | 'timeout'
      readonly tls?: TlsProblem | undefined
    }

/** The time that one address has; another may answer at once. */
const CONNECT_TIMEOUT_MS = 5_000
/** A server that tells nothing about the client's certificate is given the request after this time. */
const CERTIFICATE_VERDICT_MS = 250
/** A handshake costs this thread one or two milliseconds. */
const handshakes = createScheduler(2)

/**
 * Connects to the vetted addresses in turn, and to no other.
 * @returns the connection, or why there is none
 */
export async function dial(request: DialRequest): Promise<DialResult> {
  if (!request.addresses.every((address) => request.reach.classify(address).ok))
    return { ok: false, reason: 'address_refused' }
  for (const address of request.addresses) {
    if (request.signal.aborted) break
    const tcp = await openTcp(address, request)
    if (!tcp) continue
    // The kernel's word counts here, not the address that was asked for.
    if (!isVetted(tcp.remoteAddress, request.addresses)) {
      tcp.destroy()
      return { ok: false, reason: 'address_mismatch' }
    }
    // Thirty handshakes in one turn would keep everybody else waiting for sixty milliseconds.
    await handshakes.turn()
    if (tcp.destroyed) continue
    const opened = await openTls(tcp, request)
    if (opened.socket) return { ok: true, socket: opened.socket }
    if (request.signal.aborted) return { ok: false, reason: 'timeout' }
    return { ok: false, reason: 'tls_failed', tls: opened.problem }
  }
  return { ok: false, reason: request.signal.aborted ? 'timeout' : 'connect_failed' }
}

/** @returns the connection; undefined where there is none in time */
export function openTcp(
  address: string,
  { port, signal }: Pick<DialRequest, 'port' | 'signal'>,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host: address, port, noDelay: true, keepAlive: true })
    const timer = setTimeout(() => end(undefined), CONNECT_TIMEOUT_MS)
    const abort = () => end(undefined)
    function end(result: Socket | undefined) {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      // Errors that come later find no other listener until the next owner has its own.
      socket.off('error', abort).on('error', () => {})
      if (!result) socket.destroy()
      resolve(result)
    }
    socket.on('error', abort).once('connect', () => end(socket))
    signal.addEventListener('abort', abort)
  })
}

interface OpenedTls {
  readonly socket?: TLSSocket
  readonly problem?: TlsProblem | undefined
}

function openTls(
  tcp: Socket,
  { host, secureContext, isOwn, certificateVerdictMs = CERTIFICATE_VERDICT_MS, signal }: DialRequest,
): Promise<OpenedTls> {
  return new Promise((resolve) => {
    const socket = connectTls({
      socket: tcp,
      servername: host,
      secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    })
    let timer: NodeJS.Timeout | undefined
    const abort = () => end({})
    // Many servers send no alert when they do not take a certificate: they hang up.
    const closed = isOwn ? 'closed' : undefined
    const hangUp = () => end({ problem: closed })
    const fail = (error: unknown) => end({ problem: tlsProblemOf(error) ?? closed })
    const done = () => end({ socket })
    // What is written within this event is never sent: OpenSSL is still reading.
    const seen = () => void setImmediate(done)
    let isOver = false
    function end(result: OpenedTls) {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket
        .off('error', fail)
        .off('close', hangUp)
        .off('session', seen)
        .on('error', () => {})
      if (!result.socket) socket.destroy()
      resolve(result)
    }
    socket.on('error', fail).on('close', hangUp)
    socket.once('secureConnect', () => {
      if (!socket.authorized || socket.alpnProtocol === 'h2') end({})
      else if (isOwn === true && socket.getProtocol() === 'TLSv1.3') {
        // In TLS 1.3 the client is done before the server has looked at its certificate. The session ticket comes after that.
        socket.once('session', seen)
        timer = setTimeout(done, certificateVerdictMs)
      } else done()
    })
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
}

/** Compared in one spelling: the kernel's, which is RFC 5952. */
export function isVetted(address: string | undefined, vetted: readonly string[]): boolean {
  if (address === undefined) return false
  if (vetted.includes(address)) return true
  const wanted = canonicalAddress(address)
  return vetted.some((entry) => canonicalAddress(entry) === wanted)
}

function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address
  const text = `http://[${address}]/`
  return URL.canParse(text) ? new URL(text).hostname : address
}
