// The HTTP servers as OpenTelemetry sees them: one span, one duration and one place among those under way for each request to a door. A
// connection that is taken over (a WebSocket, a CONNECT) has the duration of its answer, and a span for as long as it is open.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { LIVE_PATH, READY_PATH } from '../documents/probes.ts'
import { readTraceparent } from '../doors/http/request.ts'
import type { UpgradeRequest, Upgrades } from '../doors/http/upgrade.ts'
import { type ObservedConnect, type ObserveProxy, type Way, WAYS } from '../doors/proxy/ports.ts'
import { createRouteLabels, methodLabel, OTHER, PROXY_ROUTE, statusLabel } from './labels.ts'
import { createLevel, secondsSince, type Telemetry } from './port.ts'

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** Each door with what measures it around it. */
export interface ObservedHttp {
  handle(handle: Handle): Handle
  upgrades(upgrades: Upgrades): Upgrades
  readonly proxy: ObserveProxy
}

interface Place {
  readonly route: string
  readonly scheme: 'http' | 'https'
}

/** One request, from its head on. */
interface Watched {
  run(work: () => void): void
  label(labels: Readonly<Record<string, string>>): void
  /**
   * Counts once, whatever is said after it.
   * @param status undefined where there was no answer
   */
  answered(status: number | undefined, failure?: string): void
  end(): void
}

/** @param routes paths of every door, as labels.ts reads them */
export function observeHttp(telemetry: Telemetry, routes: Iterable<string>): ObservedHttp {
  const routeLabel = createRouteLabels(routes)
  const active = createLevel('http.request.method')
  const open = createLevel('agent_gateway.connection', ['websocket', ...WAYS])
  telemetry.observe('http.server.active_requests', active.read)
  telemetry.observe('agent_gateway.connections.open', open.read)

  function begin(req: IncomingMessage, { route, scheme }: Place): Watched {
    const started = performance.now()
    const method = methodLabel(req.method)
    const place = { 'http.request.method': method, 'url.scheme': scheme }
    active.change(method, 1)
    const span = telemetry.tracing?.start({
      name: `${method} ${route}`,
      kind: 'server',
      labels: { ...place, 'http.route': route },
      parent: readTraceparent(req.headers['traceparent']),
      // A connection of the proxy may be open for days: requests in it are linked to it, and have traces of their own.
      isOtherTrace: true,
    })
    let isAnswered = false
    let failed: string | undefined
    return {
      run: (work) => (span ? span.run(work) : work()),
      label: (labels) => span?.label(labels),
      answered(status, failure) {
        if (isAnswered) return
        isAnswered = true
        failed = failure
        const answer = status !== undefined && { 'http.response.status_code': statusLabel(status) }
        active.change(method, -1)
        telemetry.record('http.server.request.duration', secondsSince(started), {
          ...place,
          // Every method at every address would be a series for whoever tries them.
          'http.route': status === 405 ? OTHER : route,
          ...answer,
          ...(failure !== undefined && { 'error.type': failure }),
        })
        if (answer) span?.label(answer)
      },
      end: () => span?.end(failed),
    }
  }

  function watchResponse(watched: Watched, res: ServerResponse): void {
    res.once('close', () => {
      // Before there is a head the status is Node's default, 200.
      watched.answered(res.headersSent ? res.statusCode : undefined, failureOf(res))
      watched.end()
    })
  }

  function watchUpgrade(watched: Watched, { socket }: IncomingMessage, upgrade: UpgradeRequest): void {
    const { res } = upgrade
    void upgrade.taken.then(() => {
      watched.answered(101)
      open.change('websocket', 1)
    })
    res.once('finish', () => watched.answered(res.statusCode, failureOf(res)))
    socket.once('close', () => {
      if (upgrade.isTaken()) open.change('websocket', -1)
      watched.answered(undefined, 'disconnected')
      watched.end()
    })
  }

  return {
    handle: (handle) => (req, res) => {
      const path = pathOf(req.url)
      // Probes come every second for ever, and say nothing of how callers fare.
      if (path === LIVE_PATH || path === READY_PATH) return handle(req, res)
      // TLS ends in front of the gateway, if anywhere.
      const watched = begin(req, { route: routeLabel(path), scheme: 'http' })
      watchResponse(watched, res)
      watched.run(() => handle(req, res))
    },

    upgrades: ({ takes, handle }) => ({
      takes,
      handle(req, upgrade) {
        const watched = begin(req, { route: routeLabel(pathOf(req.url)), scheme: 'http' })
        watchUpgrade(watched, req, upgrade)
        watched.run(() => handle(req, upgrade))
      },
    }),

    proxy: {
      request({ req, res, upgrade, scheme }, handle) {
        // The path is the upstream's, and the program's to tell.
        const watched = begin(req, { route: PROXY_ROUTE, scheme })
        if (upgrade) watchUpgrade(watched, req, upgrade)
        else watchResponse(watched, res)
        watched.run(handle)
      },

      connect(req: IncomingMessage, socket: Duplex, handle: (told: ObservedConnect) => void) {
        const watched = begin(req, { route: PROXY_ROUTE, scheme: 'http' })
        let way: Way | undefined
        socket.once('close', () => {
          if (way) open.change(way, -1)
          watched.answered(undefined, 'disconnected')
          watched.end()
        })
        watched.run(() =>
          handle({
            established(by) {
              way = by
              open.change(by, 1)
              watched.label({ 'agent_gateway.connection': by })
              watched.answered(200)
            },
            refused: (status) =>
              watched.answered(status, status >= 500 ? String(statusLabel(status)) : undefined),
          }),
        )
      },
    },
  }
}

/** A refusal is the caller's to mend; a client that goes away before the end of its answer has no answer. */
function failureOf(res: ServerResponse): string | undefined {
  if (!res.writableFinished) return 'disconnected'
  return res.statusCode >= 500 ? String(statusLabel(res.statusCode)) : undefined
}

/** As the doors read it (doors/http/request.ts). */
function pathOf(url = '/'): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}
