// The start of telemetry, where it fails.
import dns from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { createLifetime } from '../../../src/app/lifetime.ts'
import { startTelemetry } from '../../../src/app/telemetry.ts'
import { ConfigError, GatewayError } from '../../../src/core/errors.ts'
import { createLogger } from '../../../src/lib/log.ts'

const start = (env: Record<string, string>) =>
  startTelemetry(loadConfig(env), { log: createLogger('silent'), bootId: 'i' }, createLifetime())

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a port for Prometheus that cannot be had', () => {
  it('is no fault of the configuration while another has it', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const failure = await start({ GATEWAY_METRICS_PORT: String(port) }).catch((thrown: unknown) => thrown)
    await new Promise((resolve) => other.close(resolve))
    expect(failure).toBeInstanceOf(GatewayError)
    expect(failure).toMatchObject({
      message: expect.stringContaining(
        `GATEWAY_METRICS_PORT: nothing can listen on port ${port} of 127.0.0.1 (EADDRINUSE)`,
      ),
    })
  })

  it.each([
    ['EAI_AGAIN', GatewayError],
    ['ENOTFOUND', ConfigError],
  ])('by the name of its host is told as %s', async (code, kind) => {
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _host: string,
      _options: object,
      done: (err: Error) => void,
    ) => done(Object.assign(new Error(code), { code }))) as never)
    const failure = await start({ GATEWAY_METRICS_PORT: '0', GATEWAY_METRICS_HOST: 'metrics.example' }).catch(
      (thrown: unknown) => thrown,
    )
    expect(failure).toBeInstanceOf(kind)
    expect((failure as Error).message).toContain(`port 0 of metrics.example (${code})`)
  })
})
