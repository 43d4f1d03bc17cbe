// Composition: adapters, services, call path, doors, listener. The command line and the tests start the same gateway.
import { tools as productTools } from '../../tools/index.ts'
import type { Addresses, Config } from '../core/config.ts'
import { withEarlyRefusal } from '../doors/http/early-refusal.ts'
import { type AnyTool, createRegistry } from '../core/registry.ts'
import type { Services } from '../../tools/services.ts'
import type { Store } from '../store/ports.ts'
import { servedSkills } from '../documents/skills.ts'
import type { McpDoor } from '../doors/mcp/index.ts'
import type { AddressPolicy } from '../egress/address.ts'
import type { EgressParts } from '../egress/index.ts'
import type { MailTimes } from '../email/ports.ts'
import type { Logger } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import { bootstrapOperator } from './bootstrap.ts'
import { createClock } from './clock.ts'
import { type DoorExtensions, openDoors } from './doors.ts'
import { openPlatform } from './platform.ts'
import { startHousekeeping } from './housekeeping.ts'
import { createLifetime, type Lifetime } from './lifetime.ts'
import { type ListenerTimeouts, openListener } from './listener.ts'
import { observeHttp } from '../telemetry/observe-http.ts'
import { observeMessages } from '../telemetry/observe-messages.ts'
import { observeParts } from '../telemetry/observe-state.ts'
import { openNetworks } from './networks.ts'
import { readPaymentSetup } from './payment-settings.ts'
import { openPayments } from './payments.ts'
import { openProxy } from './proxy.ts'
import { createReadiness } from './readiness.ts'
import type { ReadingTimes } from './reading.ts'
import { openServices } from './services.ts'
import { readSkills } from './skills.ts'

export interface Gateway {
  readonly addresses: Addresses
  readonly port: number
  /** Where unmodified programs find the proxy on this machine; undefined where none is configured. */
  readonly proxyUrl: string | undefined
  /** Where Prometheus reads metrics; undefined where it does not. */
  readonly metricsUrl: string | undefined
  /** The first service key, when this start generated it: to be shown once. */
  readonly generatedOperatorKey: string | undefined
  /** The link with which the first person joins, when this start generated the key: to be shown once. */
  readonly firstLink: Secret<string> | undefined
  /** A client in this process uses it: `agent-gateway stdio` without a gateway to bridge to. */
  readonly mcp: Pick<McpDoor, 'stdio'>
  /** Readiness fails from here on, so that a balancer sends nothing more; whatever comes is answered all the same. */
  leave(): void
  /** Stop accepting, finish what runs (at most `deadlineMs`), close the store. */
  close(deadlineMs?: number): Promise<void>
}

const DRAIN_MS = 35_000
const IN_FLIGHT_CHECK_MS = 20

/**
 * In milliseconds. Tests of something else give longer ones: they have the clocks and what these wait for in one process, where a clock that
 * is over is looked at before an answer that is there.
 */
export interface GatewayTimes {
  /** For a server's word on a client certificate. */
  readonly certificateVerdictMs?: number
  /** For what follows a message of a WebSocket that may end with the beginning of a secret. */
  readonly messageHoldMs?: number
  readonly mail?: Partial<MailTimes>
  readonly reading?: ReadingTimes
}

/** Tests and benchmarks pass these; none of it is configuration. */
export interface GatewayOptions {
  /** Replaces the product's tools. */
  readonly tools?: readonly AnyTool[]
  /** In the place of every clock. */
  readonly now?: () => number
  /** In the place of the machine's clock, by which a gateway goes that has its database to itself. */
  readonly wall?: (() => number) | undefined
  /** PEM of authorities that outbound TLS trusts besides the default ones. */
  readonly extraCa?: readonly string[]
  /** Addresses that count as public: the upstreams of tests are on loopback. */
  readonly publicAddresses?: AddressPolicy
  readonly createLeakGate?: EgressParts['createLeakGate']
  /** Whether a call fails that ends in a code which its tool does not document; logged unless said otherwise. */
  readonly undocumented?: 'log' | 'fail'
  /** Fixtures of the conformance suites, which the doors serve besides the product. */
  readonly extend?: DoorExtensions
  /** Given what is behind the doors, once it is there. */
  readonly onOpen?: (parts: { readonly services: Services; readonly store: Store }) => void
  /** Every timeout is in milliseconds. */
  readonly timeouts?: ListenerTimeouts
  readonly times?: GatewayTimes
}

/**
 * @throws {ConfigError} with every problem of the configuration and of the data directory that the start found
 * @throws whatever else stops the start; what was opened until then is closed again
 */
export async function startGateway(
  config: Config,
  log: Logger,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const lifetime = createLifetime()
  try {
    return await open(config, log, options, lifetime)
  } catch (thrown) {
    await lifetime.close().catch((err: unknown) => log.error({ err }, 'a failed start could not be closed'))
    throw thrown
  }
}

async function open(
  config: Config,
  log: Logger,
  options: GatewayOptions,
  lifetime: Lifetime,
): Promise<Gateway> {
  const clock = createClock({ log, wall: options.wall })
  const { now = clock.now } = options
  const { warnings, ...keys } = await readPaymentSetup(config)
  for (const warning of warnings) log.warn(`payments: ${warning}`)

  const served = await openNetworks(config, { log, now }, lifetime)
  const listener = await openListener(config, lifetime, options.timeouts)
  const { addresses, port } = listener
  const { extraCa, publicAddresses, times = {} } = options
  const { certificateVerdictMs } = times
  const platform = await openPlatform(
    {
      config,
      addresses,
      log,
      now,
      clock: options.now ? undefined : clock,
      extraCa,
      publicAddresses,
      certificateVerdictMs,
    },
    lifetime,
  )
  const generatedOperatorKey = await bootstrapOperator(platform)
  const payments = await openPayments(platform, served, keys, lifetime)
  const registry = createRegistry(options.tools ?? productTools, config, now())

  const { calls, services, analyses, housekeeping, webhooks, endWaits, refusals, forProxy } =
    await openServices(platform, payments, registry, { ...options, times, port }, lifetime)
  const firstLink =
    generatedOperatorKey === undefined ? undefined : await services.identity.people.inviteFirst()
  const readiness = createReadiness({
    ...platform,
    ...payments,
    authority: platform.authorityWatch,
    elapsedMs: () => performance.now(),
  })
  const { telemetry } = platform
  if (telemetry) observeParts(telemetry, { ...platform, ...payments, calls, readiness, analyses })
  const parts = {
    ...platform,
    readiness,
    ...(telemetry && { observeMessage: observeMessages(telemetry, registry) }),
    registry,
    calls,
    webhooks,
    refusals,
    payments: payments.gate,
    services,
    documents: services.documents,
    identity: services.identity,
    skills: servedSkills(await readSkills(), registry),
    marketplace: services.marketplace,
    ...(payments.testWallet && { testWallet: payments.testWallet }),
  }
  options.onOpen?.(parts)
  const doors = await openDoors(parts, options.extend)
  const patient = withEarlyRefusal(doors.handle, {
    isCrowded: () => calls.isCrowded,
    baseUrl: addresses.baseUrl,
    trustProxy: config.trustProxy,
    log,
    elapsedMs: () => performance.now(),
  })
  // Refusals are what an operator wants to see of a gateway that has too much to do.
  const observed = telemetry && observeHttp(telemetry, doors.routes)
  listener.serve(
    observed ? observed.handle(patient) : patient,
    observed ? observed.upgrades(doors.upgrades) : doors.upgrades,
  )
  const observe = observed?.proxy
  const proxyUrl = await openProxy(platform, { calls, addresses, refusals, observe, ...forProxy }, lifetime)
  const stopHousekeeping = startHousekeeping(platform, housekeeping)

  async function stop(deadlineMs: number): Promise<void> {
    readiness.drain()
    stopHousekeeping()
    calls.drain()
    endWaits()
    await Promise.all([doors.close(), listener.drain(deadlineMs)])
    // A caller that went away does not end its attempt: those are waited for too before the store closes.
    for (const end = performance.now() + deadlineMs; calls.inFlight > 0 && performance.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, IN_FLIGHT_CHECK_MS))
    await lifetime.close()
  }
  let stopping: Promise<void> | undefined
  return {
    addresses,
    port,
    proxyUrl,
    metricsUrl: telemetry?.metricsUrl,
    generatedOperatorKey,
    firstLink: firstLink?.link,
    mcp: doors.mcp,
    leave: () => readiness.drain(),
    close: (deadlineMs = DRAIN_MS) => (stopping ??= stop(deadlineMs)),
  }
}
