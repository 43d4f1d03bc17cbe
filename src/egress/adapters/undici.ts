// Sends one request over HTTP/1.1 and reads one answer: no redirect, no retry, no decoding, one deadline. Says of every
// failure whether a byte of the request may have left, because that decides what it costs.
import type { Fault } from '../../lib/fault-points.ts'
import type { AddressPolicy } from '../address.ts'
import type { OutboundRequest, Sender, SendFailure, StreamSender } from '../ports.ts'
import { type Connection, createConnections } from './connections.ts'
import { startDeadline } from './deadline.ts'
import { dial } from './dial.ts'
import { exchange } from './exchange.ts'
import { skipInterimAnswers } from './interim.ts'
import { streamExchange } from './stream-exchange.ts'
import { createContexts } from './tls-context.ts'

export interface SenderOptions {
  readonly fault: Fault
  /** The addresses that any request may be dialled to; a request may bring further ones of its own (`OutboundRequest.reach`). */
  readonly policy: AddressPolicy
  /** PEM certificates to trust beside the public ones; for tests. NODE_EXTRA_CA_CERTS is honoured without it. */
  readonly ca?: readonly string[]
  /** For a server's word on a client certificate, in milliseconds; for tests. */
  readonly certificateVerdictMs?: number | undefined
  /** For which an idle connection is kept, in milliseconds; for tests. */
  readonly keepAliveMs?: number | undefined
}

/** Sends one request over a vetted connection: no redirect, no retry, no proxy. */
export function createSender({
  fault,
  policy,
  ca,
  certificateVerdictMs,
  keepAliveMs,
}: SenderOptions): Sender & StreamSender {
  const connections = createConnections(keepAliveMs)
  const contextFor = createContexts(ca)

  async function connect(
    key: string,
    { url, addresses, reach = policy, tls }: Pick<OutboundRequest, 'url' | 'addresses' | 'reach' | 'tls'>,
    signal: AbortSignal,
  ): Promise<Connection | SendFailure> {
    const port = url.port === '' ? 443 : Number(url.port)
    const dialled = await dial({
      host: url.hostname,
      port,
      addresses,
      reach,
      secureContext: contextFor(tls),
      isOwn: tls !== undefined,
      certificateVerdictMs,
      signal,
    })
    if (!dialled.ok) return { phase: 'before_send', reason: dialled.reason, tls: dialled.tls }
    skipInterimAnswers(dialled.socket)
    return connections.create(key, url.origin, dialled.socket)
  }

  /** The connection is as it was: nothing was written on it. */
  async function withdrawn(
    connection: Connection,
    { findWithdrawal }: Pick<OutboundRequest, 'findWithdrawal'>,
  ): Promise<SendFailure | undefined> {
    const withdrawal = await findWithdrawal?.()
    if (!withdrawal) return undefined
    connections.keep(connection)
    return { phase: 'before_send', reason: 'request_rejected', withdrawal }
  }

  return {
    async send(request) {
      const deadline = startDeadline(request.timeoutMs, request.signal)
      try {
        await fault.at('before_connect')
        const key = `${request.partition} ${request.url.host}`
        const connection =
          connections.take(key, request.addresses) ?? (await connect(key, request, deadline.signal()))
        if ('phase' in connection) return { ok: false, ...connection }
        const late = await withdrawn(connection, request)
        if (late) return { ok: false, ...late }
        const result = await exchange(connection, request, { deadline, fault })
        // The rest of an answer that was cut is still on the way.
        if (result.ok && !result.response.isCut) connections.keep(connection)
        else connections.discard(connection)
        return result
      } catch {
        // The injected fault before the connection is all that comes here: nothing was sent.
        return { ok: false, phase: 'before_send', reason: 'connect_failed' }
      } finally {
        deadline.clear()
      }
    },
    async open(request) {
      const deadline = startDeadline(request.clocks.connectMs, request.signal)
      try {
        await fault.at('before_connect')
        const key = `${request.partition} ${request.url.host}`
        const connection =
          connections.take(key, request.addresses) ?? (await connect(key, request, deadline.signal()))
        if ('phase' in connection)
          return request.signal.aborted
            ? { ok: false, phase: 'aborted', isSent: false }
            : { ok: false, ...connection }
        const late = await withdrawn(connection, request)
        if (late) return { ok: false, ...late }
        return await streamExchange(connection, request, {
          fault,
          done: (isReusable) => (isReusable ? connections.keep(connection) : connections.discard(connection)),
        })
      } catch {
        // The injected fault before the connection is all that comes here: nothing was sent.
        return { ok: false, phase: 'before_send', reason: 'connect_failed' }
      } finally {
        deadline.clear()
      }
    },
    close: () => connections.close(),
  }
}
