// OpenTelemetry behind the port, without a gateway.
import { AsyncLocalStorage } from 'node:async_hooks'
import dns from 'node:dns'
import { once } from 'node:events'
import { get, type OutgoingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OtlpSettings } from '../../../src/core/config.ts'
import { currentTrace } from '../../../src/lib/current-trace.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { type OpenTelemetry, openTelemetry } from '../../../src/telemetry/adapters/open.ts'
import type { Reading } from '../../../src/telemetry/port.ts'
import { type OtlpCollector, startOtlpCollector } from '../../support/otlp-collector.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function collect(): Promise<OtlpCollector> {
  const collector = await startOtlpCollector()
  opened.push(collector)
  return collector
}

const otlp = (url: string, protocol: OtlpSettings['protocol'] = 'http/json'): OtlpSettings => ({
  url,
  protocol,
  headers: new Secret([['x-key', 'the-key-of-a-service']] as const),
})

async function open(
  settings: Partial<Parameters<typeof openTelemetry>[0]>,
): Promise<{ telemetry: OpenTelemetry; log: () => string }> {
  const lines: string[] = []
  const log = createLogger('trace', { write: (line: string) => void lines.push(line) })
  const telemetry = await openTelemetry(
    {
      service: 'test',
      resource: {},
      traces: undefined,
      metrics: undefined,
      prometheus: undefined,
      ...settings,
    },
    log,
    { version: '1', instanceId: 'i' },
  )
  opened.push(telemetry)
  return { telemetry, log: () => lines.join('') }
}

const tracesTo = (collector: OtlpCollector, sampler: 'always_on' | 'traceidratio', ratio = 1) => ({
  traces: { ...otlp(`${collector.url}/v1/traces`), sampler, ratio, delayMs: 5000 },
})
const SERVER = { name: 'a', kind: 'server', labels: {} } as const
const STEP = { name: 'b', kind: 'client', labels: {} } as const

describe('tracing', () => {
  it('begins a step below the span under way, and none outside of one', async () => {
    const collector = await collect()
    const { telemetry } = await open(tracesTo(collector, 'always_on'))
    const tracing = telemetry.tracing!
    expect(tracing.start(STEP)).toBeUndefined()
    const server = tracing.start(SERVER)!
    server.run(() => {
      const step = tracing.start(STEP)!
      step.run(() => expect(currentTrace()!.fields!.span_id).toMatch(/^[\da-f]{16}$/))
      step.end('timeout')
    })
    server.end()
    expect(currentTrace()).toBeUndefined()
    await telemetry.close()
    const [b, a] = collector.spans()
    expect(b).toMatchObject({ name: 'b', parentSpanId: a!.spanId, attributes: { 'error.type': 'timeout' } })
  })

  it('begins a trace inside of another one, linked to it, which is over with its own end', async () => {
    const collector = await collect()
    const { telemetry } = await open(tracesTo(collector, 'always_on'))
    const tracing = telemetry.tracing!
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const connection = tracing.start({ ...SERVER, name: 'connection' })!
      let later: (() => unknown) | undefined
      connection.run(() => {
        const request = tracing.start({ ...SERVER, name: 'request', isOtherTrace: true })!
        request.run(() => {
          tracing.start(STEP)!.end()
          later = AsyncLocalStorage.bind(() => currentTrace())
        })
        request.end()
        vi.advanceTimersByTime(60_001)
        expect(later!()).toBeUndefined()
        expect(currentTrace()).toBeDefined()
      })
      connection.end()
    } finally {
      vi.useRealTimers()
    }
    await telemetry.close()
    const [step, request, connection] = collector.spans()
    expect(request!.traceId).not.toBe(connection!.traceId)
    expect(request!.parentSpanId ?? '').toBe('')
    expect(request!.links.map(({ spanId }) => spanId)).toEqual([connection!.spanId])
    expect(step).toMatchObject({ traceId: request!.traceId, parentSpanId: request!.spanId })
  })

  it('is over a minute after its request, for what that request has left running', async () => {
    const collector = await collect()
    const { telemetry } = await open(tracesTo(collector, 'always_on'))
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const server = telemetry.tracing!.start(SERVER)!
      let later: (() => unknown) | undefined
      server.run(
        () => (later = AsyncLocalStorage.bind(() => [currentTrace(), telemetry.tracing!.start(STEP)])),
      )
      server.end()
      vi.advanceTimersByTime(60_000)
      expect(later!()).toEqual([expect.anything(), expect.anything()])
      vi.advanceTimersByTime(1)
      expect(later!()).toEqual([undefined, undefined])
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['parentbased_always_on', '00', false],
    ['parentbased_always_off', '01', true],
    ['parentbased_traceidratio', '01', true],
    ['always_on', '00', true],
    ['always_off', '01', false],
    // The id decides: this one is the smallest, which every ratio takes.
    ['traceidratio', '00', true],
  ] as const)(
    'with the sampler %s writes a trace whose parent has the flags %s: %s',
    async (sampler, flags, isWritten) => {
      const collector = await collect()
      const traces = { ...otlp(`${collector.url}/v1/traces`), sampler, ratio: 0.0001, delayMs: 5000 }
      const { telemetry } = await open({ traces })
      const parent = `00-${'1'.padStart(32, '0')}-${'1'.padStart(16, '0')}-${flags}`
      telemetry.tracing!.start({ ...SERVER, parent })!.end()
      await telemetry.close()
      expect(collector.paths()).toEqual(isWritten ? ['/v1/traces'] : [])
    },
  )

  it('makes no span of a trace that is not written', async () => {
    const collector = await collect()
    const { telemetry } = await open(tracesTo(collector, 'traceidratio', 0))
    const server = telemetry.tracing!.start(SERVER)!
    server.run(() => {
      expect(telemetry.tracing!.start(STEP)).toBeUndefined()
      expect(currentTrace()!.fields).toBeUndefined()
    })
    server.end()
    await telemetry.close()
    expect(collector.paths()).toEqual([])
  })
})

describe('the exporters', () => {
  it('send protobuf where nothing else is asked for', async () => {
    const collector = await collect()
    const url = `${collector.url}/v1/metrics`
    const { telemetry } = await open({ metrics: { ...otlp(url, 'http/protobuf'), intervalMs: 60_000 } })
    telemetry.add('agent_gateway.calls', 1, { 'agent_gateway.code': 'ok' })
    await telemetry.close()
    expect(collector.headers()[0]).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-key': 'the-key-of-a-service',
    })
    expect(collector.bytes().includes('agent_gateway.calls')).toBe(true)
  })

  it.each([
    [400, 'look at OTEL_EXPORTER_OTLP_ENDPOINT'],
    [401, 'look at OTEL_EXPORTER_OTLP_HEADERS'],
    [403, 'look at OTEL_EXPORTER_OTLP_HEADERS'],
  ])(
    'say once that the collector refuses with %s, without the key that it was sent',
    async (status, words) => {
      const collector = await collect()
      collector.answer(status)
      const { telemetry, log } = await open({
        ...tracesTo(collector, 'always_on'),
        metrics: { ...otlp(`${collector.url}/v1/metrics`), intervalMs: 60_000 },
      })
      telemetry.tracing!.start(SERVER)!.end()
      telemetry.add('agent_gateway.calls', 1, {})
      await telemetry.close()
      const said = log()
        .split('\n')
        .filter((line) => line.includes('could not be delivered'))
        .map((line) => JSON.parse(line) as { status?: number; msg: string })
      expect(said.map(({ msg }) => msg.split(' ', 1)[0]).toSorted()).toEqual(['metrics', 'traces'])
      for (const line of said) expect(line).toMatchObject({ status, msg: expect.stringContaining(words) })
      expect(log()).not.toContain('the-key-of-a-service')
    },
  )
})

describe('the listener for Prometheus', () => {
  const listening = { prometheus: { host: '127.0.0.1', port: 0 } }

  it('shows metrics at one address, to no web page', async () => {
    const { telemetry } = await open(listening)
    telemetry.observe('agent_gateway.ready', () => [{ value: 1 }])
    const url = telemetry.metricsUrl!
    const ask = (path: string, init?: RequestInit) =>
      fetch(new URL(path, url), init).then(({ status }) => status)
    expect(await (await fetch(url)).text()).toContain('agent_gateway_ready 1\n')
    expect(await ask('/')).toBe(404)
    expect(await ask('/metrics/')).toBe(404)
    expect(await ask('/metrics?name[]=up')).toBe(200)
    expect(await ask('/metrics', { method: 'POST' })).toBe(405)
    expect(await ask('/metrics', { headers: { 'sec-fetch-site': 'cross-site' } })).toBe(403)
  })

  /** As fetch cannot ask: with the Host that a browser would send for a name. */
  const statusFor = (url: string, headers: OutgoingHttpHeaders) =>
    new Promise<number | undefined>((resolve, reject) => {
      get(url, { headers }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
    })

  it.each([
    [{ host: '127.0.0.1:9464' }, 200],
    [{ host: 'localhost' }, 200],
    [{ host: '[::1]:9464' }, 200],
    [{ host: 'evil.example:9464' }, 403],
    [{ host: '127.0.0.1.evil.example' }, 403],
    [{ host: 'a b' }, 403],
    [{ origin: 'http://127.0.0.1:9464' }, 403],
    [{ origin: 'null' }, 403],
  ])('on loopback answers %j with %s', async (headers, status) => {
    const { telemetry } = await open(listening)
    expect(await statusFor(telemetry.metricsUrl!, headers)).toBe(status)
  })

  it('answers to the name that it was told to listen at, and elsewhere than on loopback to any, but to no page', async () => {
    vi.spyOn(dns, 'lookup').mockImplementationOnce(((
      _name: string,
      { all = false }: { all?: boolean },
      done: (err: null, address: unknown, family?: number) => void,
    ) => (all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4))) as never)
    const named = await open({ prometheus: { host: 'Metrics.internal', port: 0 } })
    const everywhere = await open({ prometheus: { host: '0.0.0.0', port: 0 } })
    const statusOf = ({ telemetry }: typeof named, headers: OutgoingHttpHeaders) =>
      statusFor(`http://127.0.0.1:${new URL(telemetry.metricsUrl!).port}/metrics`, headers)
    expect(await statusOf(named, { host: 'metrics.internal:9464' })).toBe(200)
    expect(await statusOf(named, { host: 'evil.example' })).toBe(403)
    expect(await statusOf(everywhere, { host: 'gateway:9464' })).toBe(200)
    expect(await statusOf(everywhere, { host: 'gateway:9464', origin: 'http://gateway:9464' })).toBe(403)
  })

  it('leaves out a figure that cannot be read, and shows the others', async () => {
    const { telemetry } = await open(listening)
    telemetry.observe('agent_gateway.ready', () => [{ value: 1 }])
    telemetry.observe('agent_gateway.payments.open', () => Promise.reject(new Error('the database is away')))
    const text = await (await fetch(telemetry.metricsUrl!)).text()
    expect(text).toContain('agent_gateway_ready 1\n')
    expect(text).not.toContain('agent_gateway_payments_open{')
  })

  it('waits for no figure that hangs, and does not ask for it again until it is there', async () => {
    const { telemetry } = await open(listening)
    const asked: PromiseWithResolvers<readonly Reading[]>[] = []
    telemetry.observe('agent_gateway.payments.open', () => {
      const question = Promise.withResolvers<readonly Reading[]>()
      asked.push(question)
      return question.promise
    })
    let collected = Promise.withResolvers<void>()
    telemetry.observe('agent_gateway.ready', () => {
      collected.resolve()
      return [{ value: 1 }]
    })
    async function scrape(meanwhile: () => unknown): Promise<string> {
      collected = Promise.withResolvers()
      const answer = fetch(telemetry.metricsUrl!)
      await collected.promise
      await meanwhile()
      return (await answer).text()
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      for (const round of ['first', 'second']) {
        const text = await scrape(() => vi.advanceTimersByTimeAsync(3000))
        expect(text, round).toContain('agent_gateway_ready 1\n')
        expect(text, round).not.toContain('agent_gateway_payments_open{')
        expect(asked, round).toHaveLength(1)
      }
    } finally {
      vi.useRealTimers()
    }
    asked[0]!.resolve([])
    const text = await scrape(() => asked[1]!.resolve([{ value: 8 }]))
    expect(text).toContain('agent_gateway_payments_open 8\n')
  })

  const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'

  /** A connection that sends something and reads nothing, unless it is told to. */
  async function connectTo(url: string, sent: string): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    opened.push({ close: async () => void socket.destroy() })
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(sent)
    return socket
  }

  async function textOf(socket: Socket): Promise<string> {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    return text
  }

  it('answers a scraper, however many connections send requests ahead and read no answer', async () => {
    const { telemetry } = await open(listening)
    const url = telemetry.metricsUrl!
    telemetry.observe('agent_gateway.ready', () => [{ value: 1 }])
    for (let i = 0; i < 16; i++) await connectTo(url, REQUEST.repeat(2_000))
    expect(await (await fetch(url)).text()).toContain('agent_gateway_ready 1\n')
  })

  it('closes the oldest of 17 connections, and leaves the others open', async () => {
    const { telemetry } = await open(listening)
    const sockets: Socket[] = []
    for (let i = 0; i < 16; i++) sockets.push(await connectTo(telemetry.metricsUrl!, ''))
    const [first, ...others] = sockets.map((socket) => textOf(socket))
    const isOpen = Promise.race(others).then(() => 'closed')
    await connectTo(telemetry.metricsUrl!, '')
    expect(await first).toBe('')
    expect(await Promise.race([isOpen, new Promise((resolve) => setImmediate(resolve, 'open'))])).toBe('open')
  })

  it('gives one answer a connection', async () => {
    const { telemetry } = await open(listening)
    const text = await textOf(await connectTo(telemetry.metricsUrl!, REQUEST.repeat(2)))
    expect(text.match(/^HTTP\/1\.1 200 OK\r$/gm)).toHaveLength(1)
    expect(text).toMatch(/^connection: close\r$/im)
  })

  it.each([
    ['sends nothing', ''],
    ['sends half a head', 'GET /metrics HTTP/1.1\r\nHost: '],
  ])(
    'closes a connection that %s after ten seconds',
    async (_, sent) => {
      const { telemetry } = await open(listening)
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      try {
        const closed = once((await connectTo(telemetry.metricsUrl!, sent)).resume(), 'close')
        // Connections are taken in their order: the other one is known by now, too.
        await (await fetch(telemetry.metricsUrl!)).text()
        vi.advanceTimersByTime(10_000)
        await closed
      } finally {
        vi.useRealTimers()
      }
    },
    15_000,
  )

  it('fails to open where its port is taken', async () => {
    const { telemetry } = await open(listening)
    const port = Number(new URL(telemetry.metricsUrl!).port)
    await expect(open({ prometheus: { host: '127.0.0.1', port } })).rejects.toThrow('EADDRINUSE')
  })
})
