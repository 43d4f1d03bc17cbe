// The HTTP listener: bound before anything else, so that generated documents know its port, and closed with patience.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Addresses, Config } from '../core/config.ts'
import { refuseMalformed } from '../doors/http/malformed.ts'
import { answerProbe, STARTING } from '../doors/http/probes.ts'
import { receiveUpgrade, type Upgrades } from '../doors/http/upgrade.ts'
import { type Bound, listenAt } from './acceptors.ts'
import type { Lifetime } from './lifetime.ts'
import { type QuietConnections, watchQuietConnections } from './quiet-connections.ts'

const MAX_HEADER_BYTES = 16 * 1024
const IDLE_CHECK_MS = 50
/** A request that was sent before its sender could know of the end has so long to arrive. */
const ON_ITS_WAY_MS = 1000

/**
 * Bounds on the arrival of a request: a sender that dribbles holds a connection and what it sent so far. Node looks for
 * them once an interval, so they live that much longer. Milliseconds.
 */
export const TIMEOUTS = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 }
/** A connection on which nothing moved for this long is dead: calls end within 30 s, and streams speak every 15 s. */
const SILENCE_MS = 120_000

export type ListenerTimeouts = Partial<typeof TIMEOUTS> & { readonly silence?: number }

export interface Listener {
  readonly addresses: Addresses
  readonly port: number
  /** Requests are handled from here on; before, each is answered 503 with `Retry-After`, but for the question whether it lives. */
  serve(handle: (req: IncomingMessage, res: ServerResponse) => void, upgrades?: Upgrades): void
  /** Accepts nothing more and resolves when the last connection is gone, after `deadlineMs` by force. */
  drain(deadlineMs: number): Promise<void>
}

/**
 * Listens before anything else opens; until `serve` is called every request is answered 503.
 * @throws where the port cannot be had, on both loopbacks where HOST is `localhost`
 */
export async function openListener(
  config: Config,
  lifetime: Lifetime,
  timeouts: ListenerTimeouts = {},
): Promise<Listener> {
  const { silence = SILENCE_MS, ...arrival } = timeouts
  let handle = refuseUntilReady
  let takeUpgrades: Upgrades | undefined
  /** A connection that was taken over is none of the server's any more, which waits for its end all the same. */
  const upgraded = new Set<Duplex>()
  function openServer(): Server {
    const server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        keepAliveTimeout: 65_000,
        ...TIMEOUTS,
        ...arrival,
        shouldUpgradeCallback: (req: IncomingMessage) => takeUpgrades?.takes(req) === true,
      },
      (req, res) => handle(req, res),
    )
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      upgraded.add(socket)
      socket.once('close', () => upgraded.delete(socket))
      const asked = receiveUpgrade(req, socket, head)
      if (!asked) return
      if (takeUpgrades?.takes(req) === true) takeUpgrades.handle(req, asked)
      // Node before 22.21 and 24.9 asks nobody, and hands over whatever offers another protocol.
      else handle(req, asked.res)
    })
    server.timeout = silence
    return server
  }
  const places = await listenAtAll(config, openServer)
  const drainAll = async (deadlineMs: number) => {
    await Promise.all(places.map((place) => drain(place, deadlineMs, upgraded)))
  }
  lifetime.onClose(() => drainAll(0))
  const [{ port }] = places
  const addresses = addressesOf(config, port)
  for (const { server } of places) server.on('clientError', refuseMalformed(addresses.baseUrl))
  return {
    addresses,
    port,
    serve(ready, upgrades) {
      handle = ready
      takeUpgrades = upgrades
    },
    drain: drainAll,
  }
}

interface Place extends Bound {
  readonly server: Server
  readonly quiet: QuietConnections
}

/** A browser takes either loopback for `localhost`, so whoever held the other one would be handed what is meant for this gateway. */
const addressesAt = (host: string): readonly string[] =>
  host.toLowerCase() === 'localhost' ? ['127.0.0.1', '::1'] : [host]

/** PORT=0 takes a port that is free on the first address; the other one may have somebody there. */
const FREE_PORT_TRIES = 20

/**
 * Listens on every address, on one port. An address that this machine does not have (containers often lack `::1`) is left out where
 * there is another.
 * @throws the error of the first address that cannot be had; nothing is left listening
 */
async function listenAtAll(
  { host, port, mode }: Pick<Config, 'host' | 'port' | 'mode'>,
  openServer: () => Server,
): Promise<readonly [Place, ...Place[]]> {
  for (let tries = 1; ; tries++) {
    const places: Place[] = []
    let missing: unknown
    try {
      for (const address of addressesAt(host)) {
        const server = openServer()
        try {
          const quiet = watchQuietConnections(server)
          places.push({
            server,
            quiet,
            ...(await listenAt(server, { port: places[0]?.port ?? port, host: address, mode })),
          })
        } catch (thrown) {
          if (!isMissing(thrown)) throw thrown
          missing ??= thrown
        }
      }
      const [bound, ...more] = places
      if (bound) return [bound, ...more]
      throw missing
    } catch (thrown) {
      await Promise.all(places.map((place) => drain(place, 0)))
      if (port !== 0 || codeOf(thrown) !== 'EADDRINUSE' || tries === FREE_PORT_TRIES) throw thrown
    }
  }
}

const codeOf = (thrown: unknown) =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined

/** The machine has no such address, or nothing of its family. Somebody else who listens there is another matter. */
const isMissing = (thrown: unknown) => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(thrown) ?? '')

/** A process that is starting is alive: whoever ends it for being slow makes it start again. */
function refuseUntilReady(req: IncomingMessage, res: ServerResponse): void {
  if (answerProbe(req, res, STARTING)) return
  res.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end()
}

function addressesOf(config: Config, port: number): Addresses {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const baseUrl = config.baseUrl ?? `http://${host}:${port}`
  return { baseUrl, siteUrl: config.siteUrl ?? baseUrl, mcpUrl: config.mcpUrl ?? `${baseUrl}/mcp` }
}

async function drain(
  { server, quiet, close }: Place,
  deadlineMs: number,
  upgraded: ReadonlySet<Duplex> = new Set(),
): Promise<void> {
  if (!server.listening) return
  const closed = close()
  const deadline = setTimeout(() => {
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
  }, deadlineMs)
  // A connection that delivers its last answer now would stay open for the next request: it is closed as it falls idle.
  const reaper = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  // And one on which no request arrives, or only a part of its head, would be waited for until the deadline.
  const sweeper = setInterval(() => quiet.end(), ON_ITS_WAY_MS)
  await closed
  clearInterval(sweeper)
  clearInterval(reaper)
  clearTimeout(deadline)
}
