import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { ConfigError } from '../../../src/core/errors.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
const read = (env: Record<string, string>) => loadConfig(env).telemetry

function problemsOf(env: Record<string, string>): string {
  try {
    loadConfig(env)
    return ''
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.message
    throw thrown
  }
}

describe('telemetry', () => {
  it.each([
    ['nothing is set', {}],
    [
      'a machine sets what has no endpoint',
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'odd' },
    ],
    ['it is disabled', { ...ENDPOINT, GATEWAY_METRICS_PORT: '9464', OTEL_SDK_DISABLED: 'true' }],
    [
      'it is disabled, with what would be wrong',
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'odd', OTEL_SDK_DISABLED: 'TRUE' },
    ],
    ['both exporters are none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
  ])('is off where %s', (_why, env) => {
    expect(read(env)).toBeUndefined()
  })

  it('sends both signals below one endpoint, each where it belongs', () => {
    const settings = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example/base/' })!
    expect(settings).toMatchObject({
      service: 'agent-gateway',
      traces: {
        url: 'https://otel.example/base/v1/traces',
        protocol: 'http/protobuf',
        sampler: 'parentbased_always_on',
        ratio: 1,
        delayMs: 5000,
      },
      metrics: { url: 'https://otel.example/base/v1/metrics', intervalMs: 60_000 },
      prometheus: undefined,
    })
  })

  it('uses the address of a signal as it stands, and may have one signal alone', () => {
    const settings = read({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://vm:8428/opentelemetry/v1/metrics',
      OTEL_METRIC_EXPORT_INTERVAL: '10000',
    })!
    expect(settings.traces).toBeUndefined()
    expect(settings.metrics).toMatchObject({
      url: 'http://vm:8428/opentelemetry/v1/metrics',
      intervalMs: 10_000,
    })
  })

  it('takes a query of the address of a signal, and a blank share as none', () => {
    const url = 'https://otel.example/v1/traces?tenant=1'
    expect(
      read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: ' ' })!.traces,
    ).toMatchObject({ url, ratio: 1 })
  })

  it('takes values of a resource that no header could have', () => {
    expect(read({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: 'host/name=%E2%82%AC' })!.resource).toEqual({
      'host/name': '€',
    })
  })

  it('listens for Prometheus on loopback unless told otherwise', () => {
    expect(read({ GATEWAY_METRICS_PORT: '9464' })!.prometheus).toEqual({ host: '127.0.0.1', port: 9464 })
  })

  it('keeps the headers of the collector from being printed', () => {
    const { headers } = read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-tenant=1' })!.traces!
    expect(JSON.stringify(headers)).toBe('"[secret]"')
    expect(headers.use((pairs) => pairs)).toEqual([
      ['x-key', 'a b'],
      ['x-tenant', '1'],
    ])
  })

  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pass@otel/' }, 'without user name and password'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318?tenant=1' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be without query and fragment',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318/#' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be without query and fragment',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://otel:4318/v1/traces#a' },
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be without fragment',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'x-a=1,x-key=hush%E2%82%AC' },
      'OTEL_EXPORTER_OTLP_HEADERS: entry 2 has a character that no header may have',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'x/key=hush' },
      'OTEL_EXPORTER_OTLP_HEADERS: entry 1 has a character that no header may have',
    ],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'port 4318, where gRPC has 4317'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER must be one of always_on'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '10' }, 'a share from 0 to 1'],
    [{ ...ENDPOINT, OTEL_METRIC_EXPORT_INTERVAL: '1s' }, 'OTEL_METRIC_EXPORT_INTERVAL must be milliseconds'],
    [{ ...ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: '0' }, 'OTEL_BSP_SCHEDULE_DELAY must be milliseconds'],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'jaeger' }, 'OTEL_TRACES_EXPORTER must be otlp or none'],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'Bearer hush' },
      'OTEL_EXPORTER_OTLP_HEADERS: entry 1 is not name=value',
    ],
    [{ GATEWAY_METRICS_HOST: '0.0.0.0' }, 'GATEWAY_METRICS_HOST: needs GATEWAY_METRICS_PORT'],
    [{ GATEWAY_METRICS_PORT: '99999' }, 'GATEWAY_METRICS_PORT must be at most 65535'],
  ])('refuses %j in words', (env, words) => {
    const said = problemsOf(env)
    expect(said).toContain(words)
    expect(said).not.toMatch(/hush|user:pass/)
  })
})
