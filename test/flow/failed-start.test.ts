// A start that fails leaves nothing behind: no port, no lock on the data directory.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { ConfigError } from '../../src/core/errors.ts'
import { createLogger } from '../../src/lib/log.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { freePort } from '../support/free-port.ts'

it('frees its port and its data directory, so that the next start with a mended file succeeds', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'failed-start-'))
  const port = await freePort()
  const config = loadConfig({ PORT: String(port), GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'silent' })
  const log = createLogger('silent')
  const keyFile = join(dataDir, 'signing.jwk')
  writeFileSync(keyFile, '{"kty":"nothing"}', { mode: 0o600 })
  await expect(startGateway(config, log)).rejects.toThrow(ConfigError)

  await removeFolder(keyFile)
  const gateway = await startGateway(config, log)
  expect((await fetch(`${gateway.addresses.baseUrl}/healthz`)).status).toBe(200)
  await gateway.close()
  await removeFolder(dataDir)
})

it('names the variable of the proxy where its socket or its port cannot be had', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'failed-start-'))
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const start = (env: Record<string, string>) =>
    startGateway(
      loadConfig({ PORT: '0', GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'silent', ...env }),
      createLogger('silent'),
    )
  const socket = join(dataDir, 'gone', 'proxy.sock')
  await expect(start({ GATEWAY_PROXY_SOCKET: socket })).rejects.toMatchObject({
    problems: [expect.stringContaining(`GATEWAY_PROXY_SOCKET: nothing can listen at ${socket} (EACCES)`)],
  })
  // What is taken may be free in a moment: whoever starts it again may do so.
  await expect(start({ GATEWAY_PROXY_PORT: String(port) })).rejects.toMatchObject({
    code: 'state_conflict',
    message: expect.stringContaining(
      `GATEWAY_PROXY_PORT: nothing can listen on port ${port} of 127.0.0.1 (EADDRINUSE)`,
    ),
  })
  other.close()
  await removeFolder(dataDir)
})
