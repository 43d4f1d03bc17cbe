// Composition of telemetry: opened where it is configured, and given to the parts that are wrapped. Where it is not, nothing of it is loaded.
import type { Config } from '../core/config.ts'
import { API_VERSION, type TelemetrySettings } from '../core/config.ts'
import type { Logger } from '../lib/log.ts'
import { ConfigError, GatewayError } from '../core/errors.ts'
import { isLoopbackHost } from './addresses.ts'
import type { Lifetime } from './lifetime.ts'
import type { OpenTelemetry } from '../telemetry/adapters/open.ts'

/**
 * @returns undefined where nothing is configured
 * @throws {ConfigError} where the port for Prometheus cannot be had
 * @throws {GatewayError} state_conflict where it cannot be had now, and perhaps in a moment
 */
export async function startTelemetry(
  { telemetry: settings }: Pick<Config, 'telemetry'>,
  { log, bootId }: { readonly log: Logger; readonly bootId: string },
  lifetime: Lifetime,
): Promise<OpenTelemetry | undefined> {
  if (!settings) return undefined
  const [{ openTelemetry }, { observeProcess }] = await Promise.all([
    import('../telemetry/adapters/open.ts'),
    import('../telemetry/observe-state.ts'),
  ])
  const telemetry = await openTelemetry(settings, log, {
    version: API_VERSION,
    instanceId: bootId,
  }).catch((thrown: unknown) => {
    throw explain(thrown, settings)
  })
  lifetime.onClose(() => telemetry.close())
  lifetime.onClose(observeProcess(telemetry))
  const { prometheus } = settings
  if (prometheus && !isLoopbackHost(prometheus.host))
    log.warn(
      'metrics can be read by whoever reaches GATEWAY_METRICS_HOST, without a key: let the scraper alone reach that port',
    )
  return telemetry
}

function explain(thrown: unknown, { prometheus }: TelemetrySettings): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
  if (!prometheus || code === undefined || !LISTENING.includes(code)) return thrown
  const words = `GATEWAY_METRICS_PORT: nothing can listen on port ${prometheus.port} of ${prometheus.host} (${code}): choose another, or 0 for any free one`
  return PASSING.includes(code) ? new GatewayError('state_conflict', words) : new ConfigError([words])
}

const LISTENING = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND', 'EAI_AGAIN']
/** What is taken may be free in a moment, and a resolver that is away may be back: whoever starts it again may do so. */
const PASSING = ['EADDRINUSE', 'EAI_AGAIN']
