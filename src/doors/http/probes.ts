// Answers `/livez` and `/readyz`, in front of every door: without the guard, since probes come under any name, without limits and without
// a line in the log.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIVE_PATH, READY_PATH, type ReadinessReport } from '../../documents/probes.ts'
import { sendJson, sendText } from './reply.ts'

export interface Readiness {
  /** Cheap however often it is asked. Never throws. */
  report(): ReadinessReport | Promise<ReadinessReport>
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const PLAIN = { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }

/** Before the parts of a gateway stand. */
export const STARTING: Readiness = {
  report: () => ({
    status: 'unready',
    failing: [{ part: 'starting', cannot: 'answer any call yet: the gateway is starting' }],
    degraded: [],
  }),
}

/** @returns whether the request was for one of the two, and is answered */
export function answerProbe(
  req: Pick<IncomingMessage, 'method' | 'url'>,
  res: ServerResponse,
  readiness: Readiness,
): boolean {
  const { url = '' } = req
  const isLive = isAt(url, LIVE_PATH)
  if (!isLive && !isAt(url, READY_PATH)) return false
  if (req.method !== 'GET' && req.method !== 'HEAD')
    sendText(res, 405, 'Use GET or HEAD.\n', { ...PLAIN, allow: 'GET, HEAD' })
  else if (isLive) sendText(res, 200, 'ok\n', PLAIN)
  else void sendReadiness(res, readiness)
  return true
}

const isAt = (url: string, path: string) =>
  url.startsWith(path) && (url.length === path.length || url[path.length] === '?')

async function sendReadiness(res: ServerResponse, readiness: Readiness): Promise<void> {
  const report = await readiness.report()
  sendJson(res, report.status === 'ready' ? 200 : 503, report, HEADERS)
}
