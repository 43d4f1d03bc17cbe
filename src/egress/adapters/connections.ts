// Kept connections: each has one owner at a time, belongs to one partition, host and port for its whole life, and is
// handed out again only while its peer is among the addresses vetted for the new request.
import type { TLSSocket } from 'node:tls'
import { Client, errors } from 'undici'
import { isVetted } from './dial.ts'

export interface Connection {
  readonly client: Client
  readonly socket: TLSSocket
  readonly key: string
}

export interface Connections {
  /** A kept connection, the most recently used first; undefined when a new one has to be made. */
  take(key: string, vetted: readonly string[]): Connection | undefined
  create(key: string, origin: string, socket: TLSSocket): Connection
  /** Takes it back after a complete exchange. */
  keep(connection: Connection): void
  discard(connection: Connection): void
  close(): Promise<void>
}

const MAX_IDLE = 256
/** As many calls of one account may come back at once: whatever is let go then is a handshake a moment later, which costs as much as the call. */
const MAX_IDLE_PER_KEY = 64
/** Shorter than servers and balancers keep theirs: a request on a connection that is being closed is ambiguous. */
const KEEP_ALIVE_MS = 4_000
const MAX_HEADER_BYTES = 16 * 1024

/**
 * Idle connections by partition, host and port; one is handed out only while its peer is among the vetted addresses.
 * @param keepAliveMs for which one is kept; for tests
 */
export function createConnections(keepAliveMs = KEEP_ALIVE_MS): Connections {
  const idle = new Map<string, Connection[]>()
  const all = new Set<Connection>()
  let idleCount = 0

  function forget(connection: Connection): void {
    all.delete(connection)
    const kept = idle.get(connection.key)
    const at = kept?.indexOf(connection) ?? -1
    if (!kept || at < 0) return
    kept.splice(at, 1)
    idleCount--
    if (kept.length === 0) idle.delete(connection.key)
  }
  function takeIdle(key: string): Connection | undefined {
    const kept = idle.get(key)
    const connection = kept?.pop()
    if (!kept || !connection) return undefined
    idleCount--
    if (kept.length === 0) idle.delete(key)
    return connection
  }
  function discard(connection: Connection): void {
    forget(connection)
    // Without a reason undici takes it for the end of an answer that ends with its connection, also of one that was given up: it throws then
    // where nobody catches it.
    connection.socket.destroy(new errors.InformationalError('discarded'))
    void connection.client.destroy()
  }

  return {
    take(key, vetted) {
      for (let connection = takeIdle(key); connection; connection = takeIdle(key)) {
        if (isUsable(connection.socket) && isVetted(connection.socket.remoteAddress, vetted))
          return connection
        discard(connection)
      }
      return undefined
    },

    create(key, origin, socket) {
      let handedOver = false
      const client = new Client(origin, {
        // The one connection this client will ever have: it must not dial on its own.
        connect: (_options, done) => {
          if (handedOver) return done(new Error('the connection is gone'), null)
          handedOver = true
          // undici ignores a wish to go on that comes while it is still asking for the connection, so it comes a moment later.
          queueMicrotask(() => done(null, socket))
        },
        allowH2: false,
        pipelining: 1,
        maxHeaderSize: MAX_HEADER_BYTES,
        // One deadline covers the whole exchange (undici.ts); it would not be kept by timeouts between chunks.
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMs,
      })
      const connection = { client, socket, key }
      all.add(connection)
      socket.on('error', () => {}).once('close', () => discard(connection))
      return connection
    },

    keep(connection) {
      const { key } = connection
      if (!isUsable(connection.socket) || !all.has(connection)) return discard(connection)
      const kept = idle.get(key)
      const crowded =
        kept && kept.length >= MAX_IDLE_PER_KEY ? kept : idleCount >= MAX_IDLE ? longest(idle.values()) : []
      const [oldest] = crowded
      if (oldest) discard(oldest)
      // The list may be gone from the map: what was discarded may have been the last in it.
      const left = idle.get(key)
      if (left) left.push(connection)
      else idle.set(key, [connection])
      idleCount++
    },

    discard,

    async close() {
      const open = [...all]
      for (const connection of open) discard(connection)
      await Promise.all(open.map(({ client }) => client.destroy()))
    },
  }
}

/** Of several the first: whoever keeps most gives way, so that a busy key costs nobody else his connection. */
function longest(lists: Iterable<readonly Connection[]>): readonly Connection[] {
  let found: readonly Connection[] = []
  for (const list of lists) if (list.length > found.length) found = list
  return found
}

const isUsable = (socket: TLSSocket) => !socket.destroyed && socket.writable && socket.readable
