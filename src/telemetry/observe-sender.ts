// The one way out as it is measured. Neither path nor header is told of a request, and its host only where it is the API of a provider that
// the gateway or its operator named: other hosts are what somebody stored or bought, and theirs to tell.
import type { Sender, SendFailure, StreamSender } from '../egress/ports.ts'
import { methodLabel, purposeLabel, statusLabel } from './labels.ts'
import { createLevel, type Labels, secondsSince, type Telemetry } from './port.ts'

type Way = Sender & StreamSender

/** @param knownHosts of providers, in lower case */
export function observeSender(telemetry: Telemetry, sender: Way, knownHosts: ReadonlySet<string>): Way {
  const active = createLevel('agent_gateway.egress.purpose')
  telemetry.observe('agent_gateway.egress.active_requests', active.read)

  async function observed<R extends Result>(asked: Asked, send: () => Promise<R>): Promise<R> {
    const started = performance.now()
    const method = methodLabel(asked.method)
    const purpose = purposeLabel(asked.partition)
    const labels = { 'http.request.method': method, 'agent_gateway.egress.purpose': purpose }
    const host = asked.url.hostname
    const span = telemetry.tracing?.start({
      name: method,
      kind: 'client',
      labels: { ...labels, ...(knownHosts.has(host) && { 'server.address': host }) },
    })
    active.change(purpose, 1)
    // A sender never throws: what went wrong is in its result.
    const result = await (span ? span.run(send) : send())
    active.change(purpose, -1)
    const ended = endOf(result)
    telemetry.record('http.client.request.duration', secondsSince(started), { ...labels, ...ended })
    span?.label(ended)
    span?.end(ended['error.type'])
    return result
  }

  return {
    send: (request) => observed(request, () => sender.send(request)),
    open: (request) => observed(request, () => sender.open(request)),
    close: () => sender.close(),
  }
}

type Asked = Pick<Parameters<Way['send']>[0], 'method' | 'partition' | 'url'>
type Result =
  | {
      readonly ok: true
      readonly response?: { readonly status: number }
      readonly answer?: { readonly status: number }
    }
  | ({ readonly ok: false } & (SendFailure | { readonly phase: 'aborted' }))

function endOf(result: Result): Labels & { readonly 'error.type'?: string } {
  if (!result.ok)
    return {
      'error.type': 'reason' in result ? result.reason : result.phase,
      ...('status' in result && { 'http.response.status_code': statusLabel(result.status) }),
    }
  const status = (result.response ?? result.answer)?.status
  // A connection that was taken over for another protocol.
  if (status === undefined) return { 'http.response.status_code': 101 }
  return {
    'http.response.status_code': statusLabel(status),
    ...(status >= 400 && { 'error.type': String(statusLabel(status)) }),
  }
}
