// Telemetry, from the variables that OpenTelemetry names and two of ours. They are judged where an endpoint is set: a machine may set the
// others for all of its programs.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { OtlpSettings, TelemetrySettings, TraceSettings } from '../core/config.ts'
import { Secret } from '../lib/secret.ts'
import { hasUserinfo } from './addresses.ts'

export interface TelemetryVariables {
  readonly OTEL_SDK_DISABLED?: string | undefined
  readonly OTEL_SERVICE_NAME: string
  readonly OTEL_RESOURCE_ATTRIBUTES: readonly string[]
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined
  readonly OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string | undefined
  readonly OTEL_EXPORTER_OTLP_PROTOCOL?: string | undefined
  readonly OTEL_EXPORTER_OTLP_HEADERS: readonly string[]
  readonly OTEL_TRACES_EXPORTER?: string | undefined
  readonly OTEL_METRICS_EXPORTER?: string | undefined
  readonly OTEL_TRACES_SAMPLER?: string | undefined
  readonly OTEL_TRACES_SAMPLER_ARG?: string | undefined
  readonly OTEL_BSP_SCHEDULE_DELAY?: string | undefined
  readonly OTEL_METRIC_EXPORT_INTERVAL?: string | undefined
  readonly GATEWAY_METRICS_PORT?: number | undefined
  readonly GATEWAY_METRICS_HOST?: string | undefined
}

const LEAST_MS = 100
const MOST_MS = 3_600_000

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** @returns undefined settings where nothing is measured; the problems in words beside what is left */
export function readTelemetry(e: TelemetryVariables): {
  readonly telemetry: TelemetrySettings | undefined
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const isDisabled = e.OTEL_SDK_DISABLED?.toLowerCase() === 'true'
  const tracesUrl = urlOf(e, 'TRACES', problems)
  const metricsUrl = urlOf(e, 'METRICS', problems)
  const { GATEWAY_METRICS_PORT: port, GATEWAY_METRICS_HOST: host = '127.0.0.1' } = e
  if (port === undefined && e.GATEWAY_METRICS_HOST !== undefined)
    problems.push('GATEWAY_METRICS_HOST: needs GATEWAY_METRICS_PORT, without which nothing listens there')
  const isSent = tracesUrl !== undefined || metricsUrl !== undefined
  if (isDisabled) return { telemetry: undefined, problems: [] }
  if (!isSent && port === undefined) return { telemetry: undefined, problems: [...new Set(problems)] }

  const otlp = isSent ? otlpOf(e, problems) : undefined
  const telemetry: TelemetrySettings = {
    service: e.OTEL_SERVICE_NAME,
    resource: Object.fromEntries(pairsOf(e.OTEL_RESOURCE_ATTRIBUTES, 'OTEL_RESOURCE_ATTRIBUTES', problems)),
    traces:
      otlp && tracesUrl
        ? {
            ...otlp,
            url: tracesUrl,
            ...samplerOf(e, problems),
            delayMs: millisecondsOf(e, 'OTEL_BSP_SCHEDULE_DELAY', 5000, problems),
          }
        : undefined,
    metrics:
      otlp && metricsUrl
        ? {
            ...otlp,
            url: metricsUrl,
            intervalMs: millisecondsOf(e, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000, problems),
          }
        : undefined,
    prometheus: port === undefined ? undefined : { host, port },
  }
  return { telemetry: problems.length > 0 ? undefined : telemetry, problems: [...new Set(problems)] }
}

/** A signal's own endpoint is used as it stands; the one for all of them gets the path of the signal. */
function urlOf(e: TelemetryVariables, signal: 'TRACES' | 'METRICS', problems: string[]): string | undefined {
  const exporter = e[`OTEL_${signal}_EXPORTER`]
  const name = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT` as const
  const common = e.OTEL_EXPORTER_OTLP_ENDPOINT
  const own = e[name]
  if (exporter === 'none' || (own === undefined && common === undefined)) return undefined
  if (exporter !== undefined && exporter !== 'otlp')
    problems.push(`OTEL_${signal}_EXPORTER must be otlp or none`)
  const text = own ?? `${(common ?? '').replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`
  if (!isEndpoint(text))
    problems.push(
      `${own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : name} must be an http or https URL without user name and password`,
    )
  else if (own === undefined && /[?#]/.test(text))
    problems.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be without query and fragment: the path of each signal is put behind it. The address of a signal may have a query',
    )
  else if (text.includes('#')) problems.push(`${name} must be without fragment: none is sent`)
  else return text
  return undefined
}

const isEndpoint = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !hasUserinfo(text)

function otlpOf(e: TelemetryVariables, problems: string[]): Omit<OtlpSettings, 'url'> {
  const protocol = e.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf'
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    problems.push(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json: collectors take it at port 4318, where gRPC has 4317',
    )
  const headers = pairsOf(e.OTEL_EXPORTER_OTLP_HEADERS, 'OTEL_EXPORTER_OTLP_HEADERS', problems, isHeader)
  return { protocol: protocol === 'http/json' ? protocol : 'http/protobuf', headers: new Secret(headers) }
}

function samplerOf(e: TelemetryVariables, problems: string[]): Pick<TraceSettings, 'sampler' | 'ratio'> {
  const wanted = e.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on'
  const sampler = SAMPLERS.find((one) => one === wanted)
  if (!sampler) problems.push(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}`)
  // A blank would be the number 0, and no trace be written.
  const ratio = Number(e.OTEL_TRACES_SAMPLER_ARG?.trim() || '1')
  if (!(ratio >= 0 && ratio <= 1))
    problems.push('OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, e.g. 0.1')
  return { sampler: sampler ?? 'parentbased_always_on', ratio }
}

/** Between two deliveries. */
function millisecondsOf(
  e: TelemetryVariables,
  name: 'OTEL_BSP_SCHEDULE_DELAY' | 'OTEL_METRIC_EXPORT_INTERVAL',
  otherwise: number,
  problems: string[],
): number {
  const text = e[name]
  if (text === undefined) return otherwise
  const milliseconds = Number(text)
  if (Number.isInteger(milliseconds) && milliseconds >= LEAST_MS && milliseconds <= MOST_MS)
    return milliseconds
  problems.push(`${name} must be milliseconds from ${LEAST_MS} to ${MOST_MS}`)
  return otherwise
}

/** `key=value` each, percent-encoded. Values are not quoted back: they may be keys of a service. */
function pairsOf(
  entries: readonly string[],
  variable: string,
  problems: string[],
  isAllowed: (name: string, value: string) => boolean = () => true,
): readonly (readonly [string, string])[] {
  return entries.flatMap((entry, i): (readonly [string, string])[] => {
    const mark = entry.indexOf('=')
    const name = entry.slice(0, mark).trim()
    const value = decoded(entry.slice(mark + 1).trim())
    if (mark <= 0 || !/^[\w.\-/]+$/.test(name) || value === undefined || /[\r\n\0]/.test(value))
      problems.push(`${variable}: entry ${i + 1} is not name=value`)
    else if (!isAllowed(name, value))
      problems.push(`${variable}: entry ${i + 1} has a character that no header may have`)
    else return [[name, value]]
    return []
  })
}

/** As Node judges it when it is sent: each delivery would fail. */
function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
