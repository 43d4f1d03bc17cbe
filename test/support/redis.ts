// A real Redis of the test, from Debian's package (.ci/install-programs).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { freePort } from './free-port.ts'

const PROGRAM = '/usr/bin/redis-server'

export interface TestRedis {
  /** With its password. */
  readonly url: string
  readonly password: string
  /** Ends it, as a crash would. */
  stop(): Promise<void>
  /** Starts it again at the same place, empty. */
  start(): Promise<void>
}

/**
 * @param options.certificate PEM files with which it speaks TLS, and nothing else
 * @throws where the program is not installed: no server is a failure, never a skip
 */
export async function startRedis(
  options: { readonly certificate?: { readonly certFile: string; readonly keyFile: string } } = {},
): Promise<TestRedis> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: .ci/install-programs installs it`)
  const port = await freePort()
  const password = `canary-${port}`
  let server: ChildProcess | undefined
  async function start(): Promise<void> {
    const { certificate } = options
    const listening = certificate
      ? ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no']
          .concat('--tls-cert-file', certificate.certFile, '--tls-key-file', certificate.keyFile)
          .concat('--tls-ca-cert-file', certificate.certFile)
      : ['--port', String(port)]
    const own = [...listening, '--bind', '127.0.0.1', '--requirepass', password]
    server = spawn(PROGRAM, [...own, '--save', '', '--appendonly', 'no', '--dir', tmpdir()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    for await (const chunk of server.stdout!) {
      said += String(chunk)
      if (said.includes('Ready to accept connections')) return
    }
    throw new Error(`Redis ended: ${said}`)
  }
  await start()
  return {
    url: `${options.certificate ? 'rediss' : 'redis'}://:${password}@127.0.0.1:${port}/0`,
    password,
    async stop() {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      const gone = once(server, 'exit')
      server.kill('SIGKILL')
      await gone
    },
    start,
  }
}
