// A sandbox inside this process, for commands that need a gateway where none runs.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../core/config.ts'
import type { Gateway } from '../app/gateway.ts'
import { createLogger } from '../lib/log.ts'
import { makeDirectory } from '../store/make-directory.ts'
import { CommandFailure, Exit } from './exit.ts'
import { forgetRunning, localUrl, noteRunning } from '../app/running.ts'
import { explainStartFailure, isAboutFiles } from './start-failure.ts'

export interface EmbeddedSandbox {
  readonly gateway: Gateway
  /** The configuration that it runs with: its data directory is temporary where the wanted one cannot be made. */
  readonly config: Config
  readonly url: string
  close(): Promise<void>
}

/** @throws {CommandFailure} with what to do */
export async function startEmbeddedSandbox(wanted: Config): Promise<EmbeddedSandbox> {
  const { dataDir, isTemporary } = await usableDataDirectory(wanted.dataDir)
  // Any free port: the address is for other commands on this machine, which find it in the data directory.
  const config: Config = {
    ...wanted,
    dataDir,
    port: 0,
    ...(isTemporary ? authorityIn(dataDir) : {}),
    // It lives as long as a command: alerts on gateways that end young are not about it.
    ...(wanted.telemetry && {
      telemetry: { ...wanted.telemetry, service: `${wanted.telemetry.service}-sandbox` },
    }),
  }
  let gateway: Gateway
  try {
    const { startGateway } = await import('../app/gateway.ts')
    gateway = await startGateway(config, createLogger(config.logLevel))
  } catch (thrown) {
    const words = explainStartFailure(thrown, config)
    if (words === undefined) throw thrown
    throw new CommandFailure(isAboutFiles(thrown, config) ? Exit.config : Exit.failed, words)
  }
  const url = localUrl(config, gateway.port)
  await noteRunning(dataDir, {
    pid: process.pid,
    url,
    ...(gateway.proxyUrl !== undefined && { proxy_url: gateway.proxyUrl }),
  })
  return {
    gateway,
    config,
    url,
    async close() {
      await gateway.close()
      await forgetRunning(dataDir, process.pid)
      if (isTemporary) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const authorityIn = (dataDir: string) => ({
  authorityKeyFile: join(dataDir, 'authority.jwk'),
  authorities: [{ kind: 'file' }] as const,
})

/** Desktop assistants start their servers anywhere, also where ./data cannot be made. */
async function usableDataDirectory(wanted: string): Promise<{ dataDir: string; isTemporary: boolean }> {
  try {
    makeDirectory(wanted)
    return { dataDir: wanted, isTemporary: false }
  } catch {
    return { dataDir: await mkdtemp(join(tmpdir(), 'agent-gateway-')), isTemporary: true }
  }
}
