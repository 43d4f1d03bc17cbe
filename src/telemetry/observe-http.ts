// The HTTP server as OpenTelemetry sees it: one span, one duration and one place among those under way for each request to a door.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIVE_PATH, READY_PATH } from '../documents/probes.ts'
import { readTraceparent } from '../doors/http/request.ts'
import { createRouteLabels, methodLabel, OTHER } from './labels.ts'
import { createLevel, secondsSince, type Telemetry } from './port.ts'

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/** TLS ends in front of the gateway, if anywhere. */
const SCHEME = 'http'

/** @param routes paths of every door, as labels.ts reads them */
export function observeHttp(telemetry: Telemetry, handle: Handle, routes: Iterable<string>): Handle {
  const routeLabel = createRouteLabels(routes)
  const active = createLevel('http.request.method')
  telemetry.observe('http.server.active_requests', active.read)
  return (req, res) => {
    const path = pathOf(req.url)
    // Probes come every second for ever, and say nothing of how callers fare.
    if (path === LIVE_PATH || path === READY_PATH) return handle(req, res)
    const started = performance.now()
    const method = methodLabel(req.method)
    const route = routeLabel(path)
    const place = { 'http.request.method': method, 'url.scheme': SCHEME }
    const request = { ...place, 'http.route': route }
    active.change(method, 1)
    const span = telemetry.tracing?.start({
      name: `${method} ${route}`,
      kind: 'server',
      labels: request,
      parent: readTraceparent(req.headers['traceparent']),
    })
    res.once('close', () => {
      const failure = failureOf(res)
      active.change(method, -1)
      telemetry.record('http.server.request.duration', secondsSince(started), {
        ...place,
        // Every method at every address would be a series for whoever tries them.
        'http.route': res.statusCode === 405 ? OTHER : route,
        'http.response.status_code': res.statusCode,
        ...(failure !== undefined && { 'error.type': failure }),
      })
      span?.label({ 'http.response.status_code': res.statusCode })
      span?.end(failure)
    })
    if (span) span.run(() => handle(req, res))
    else handle(req, res)
  }
}

/** A refusal is the caller's to mend; a client that goes away before the end of its answer has no answer. */
function failureOf(res: ServerResponse): string | undefined {
  if (!res.writableFinished) return 'disconnected'
  return res.statusCode >= 500 ? String(res.statusCode) : undefined
}

/** As the doors read it (doors/http/request.ts). */
function pathOf(url = '/'): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}
