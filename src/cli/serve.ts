// `serve`: configuration, gateway, banner, signals. What goes wrong before the first request is said in one line.
import { setTimeout } from 'node:timers/promises'
import { loadConfig } from '../app/config.ts'
import { CORE_DUMPS_OFF, describeCoreDumps } from '../app/core-dumps.ts'
import { describeMissingSigners } from '../app/native-signers.ts'
import { describeUnknownVariables } from '../app/unknown-variables.ts'
import { ConfigError } from '../core/errors.ts'
import type { Config } from '../core/config.ts'
import { parseFault } from '../lib/fault-points.ts'
import type { Gateway, GatewayOptions } from '../app/gateway.ts'
import { createLogger, type Logger } from '../lib/log.ts'
import { missingSandboxPackage } from '../sandbox/packages.ts'
import { operatorKeyFile } from '../app/bootstrap.ts'
import { Exit } from './exit.ts'
import { forgetRunning, localUrl, noteRunning } from '../app/running.ts'
import { explainStartFailure, isAboutFiles } from './start-failure.ts'

/** A terminal, npm and the launcher each deliver one Ctrl-C: the same signal within this time is the same wish. */
const SAME_WISH_MS = 1000

/**
 * Runs the gateway until a signal ends it. Ends the process itself: 0 after a drain or a signal during the start, 1 when the start or the process failed,
 * 78 for a configuration that names every problem.
 * @param options what tests run the same server with
 */
export async function serve(
  env: Readonly<Record<string, string | undefined>>,
  options: GatewayOptions = {},
): Promise<void> {
  // A reader of our output that goes away is no reason to stop serving.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

  const unknown = describeUnknownVariables(env)
  let config: Config
  try {
    config = readConfig(env)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    // A required variable may be missing because its name was misspelled.
    endForConfiguration(thrown, unknown)
  }
  const log = createLogger(config.logLevel, undefined, { isTraced: config.telemetry?.traces !== undefined })
  for (const sentence of unknown)
    if (log.isLevelEnabled('warn')) log.warn(sentence)
    // Whoever wants a quiet log still wants to know that a setting of theirs is none.
    else process.stderr.write(`agent-gateway: ${sentence}\n`)
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (thrown: unknown) => {
      log.fatal({ err: thrown }, event)
      process.exit(Exit.failed)
    })

  let isStarted = false
  const stopping = onSignal(log, () => isStarted)
  let gateway: Gateway
  try {
    const { startGateway } = await import('../app/gateway.ts')
    gateway = await startGateway(config, log, options)
    isStarted = true
  } catch (thrown) {
    // Some of the configuration is in files, which are read on the way.
    if (thrown instanceof ConfigError) endForConfiguration(thrown)
    const words = explainStartFailure(thrown, config)
    if (words === undefined) log.fatal({ err: thrown }, 'start failed')
    process.stderr.write(
      `agent-gateway: ${words ?? 'The gateway could not start; the log line above says where. `agent-gateway doctor` checks the usual causes.'}\n`,
    )
    process.exit(isAboutFiles(thrown, config) ? Exit.config : Exit.failed)
  }
  if (config.mode === 'production' && config.allowPrivateCidrs.length > 0)
    log.warn(
      { cidrs: config.allowPrivateCidrs },
      'a credential that an administrator grants them to may reach private ranges (GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS)',
    )
  const dumped = config.mode === 'production' ? describeCoreDumps() : undefined
  if (dumped !== undefined) log.warn(`${dumped}. ${CORE_DUMPS_OFF}`)
  const slower = describeMissingSigners()
  if (slower !== undefined) log.info(slower)
  const url = localUrl(config, gateway.port)
  await noteRunning(config.dataDir, {
    pid: process.pid,
    url,
    ...(gateway.proxyUrl !== undefined && { proxy_url: gateway.proxyUrl }),
  })
  announce(config, gateway, url)

  const signal = await stopping
  gateway.leave()
  // Whoever presses Ctrl-C waits for it; who manages processes sends SIGTERM.
  if (signal === 'SIGTERM' && config.drainGraceSeconds > 0) await setTimeout(config.drainGraceSeconds * 1000)
  await gateway.close()
  await forgetRunning(config.dataDir, process.pid)
  log.info('stopped')
  process.exit(Exit.ok)
}

function endForConfiguration(error: ConfigError, warnings: readonly string[] = []): never {
  process.stderr.write(`${[error.message, ...warnings, 'Nothing was started.'].join('\n')}\n`)
  process.exit(Exit.config)
}

function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const config = loadConfig(env)
  try {
    parseFault(config.fault)
  } catch (thrown) {
    throw new ConfigError([thrown instanceof Error ? thrown.message : 'GATEWAY_FAULT is not valid'])
  }
  return config
}

/**
 * Resolves at the first signal, with its name; the next one ends the process at once, and so does the first during the start: nobody is
 * served yet, and what a start waits for may never come.
 */
function onSignal(log: Logger, isStarted: () => boolean): Promise<NodeJS.Signals> {
  let first: { signal: NodeJS.Signals; at: number } | undefined
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => {
        const now = performance.now()
        if (!isStarted()) {
          log.info({ signal }, 'stopped before the start was over')
          process.exit(Exit.ok)
        }
        if (first === undefined) {
          first = { signal, at: now }
          log.info({ signal }, 'draining; a second signal ends the process at once')
          resolve(signal)
        } else if (first.signal !== signal || now - first.at > SAME_WISH_MS) process.exit(Exit.failed)
      })
  })
}

/** People read stderr; stdout carries the lines that a program may want, the key and the first link exactly once. */
function announce(config: Config, gateway: Gateway, url: string): void {
  const { baseUrl, siteUrl, mcpUrl } = gateway.addresses
  const missing = config.mode === 'sandbox' ? missingSandboxPackage(config) : undefined
  const lines = [
    '',
    config.mode === 'sandbox'
      ? '  Agent Gateway   SANDBOX: test money only, loopback only'
      : '  Agent Gateway   production',
    `  site   ${siteUrl}/   see it and try it`,
    `  MCP    ${mcpUrl}`,
    `  A2A    ${baseUrl}/a2a   card ${baseUrl}/.well-known/agent-card.json`,
    `  REST   ${baseUrl}/openapi.json   docs ${siteUrl}/docs`,
    ...(gateway.proxyUrl === undefined
      ? []
      : [`  proxy  ${gateway.proxyUrl}   HTTPS proxy for unmodified programs`]),
    ...(gateway.metricsUrl === undefined ? [] : [`  metrics ${gateway.metricsUrl}   for Prometheus`]),
    `  people ${baseUrl}/console   sign in, decide, watch`,
    `  data   ${config.dataDir}${config.databaseUrl ? ' (keys and documents; state in PostgreSQL)' : ''}`,
    ...(missing === undefined ? [] : [`  ${missing}`]),
    '',
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
  if (gateway.generatedOperatorKey !== undefined)
    announceKey(config, gateway.generatedOperatorKey, gateway.firstLink)
  process.stdout.write(`listening on ${url}\n`)
}

/** Logs keep what they are given: production shows its key to a terminal only, and otherwise says where it is kept. */
function announceKey(config: Config, key: string, firstLink: Gateway['firstLink']): void {
  const file = operatorKeyFile(config.dataDir)
  if (config.mode === 'sandbox' || process.stdout.isTTY) {
    process.stdout.write(`operator key (shown once, kept in ${file}): ${key}\n`)
    firstLink?.use((link) =>
      process.stdout.write(`first person (open within an hour, works once): ${link}\n`),
    )
  } else {
    process.stdout.write(`operator key: generated, kept in ${file} (0600)\n`)
    process.stdout.write('first person: `agent-gateway people invite` on this machine prints a link\n')
  }
}
