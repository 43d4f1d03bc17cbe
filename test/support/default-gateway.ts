// The gateway as a newcomer starts it: `npm start` without a setting, except that it takes any free port and an empty folder. Its
// chains, names and pages are those of the sandbox.
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import { createBuyer } from './buyer.ts'
import { start } from './process.ts'
import { removeFolder } from './remove-folder.ts'

const launcher = new URL('../../dist/launcher.js', import.meta.url).pathname

export interface DefaultGateway {
  /** `http://localhost:PORT`, as documentation writes it. */
  readonly url: string
  readonly mcpUrl: string
  readonly dataDir: string
  /** A wallet of stock x402 parts with the sandbox's test money. */
  wallet(): Promise<ReturnType<typeof createBuyer>>
  close(): Promise<void>
}

export async function startDefaultGateway(): Promise<DefaultGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-gateway-default-'))
  const dataDir = join(directory, 'data')
  const child = start(process.execPath, [launcher, 'serve'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], PORT: '0', GATEWAY_DATA_DIR: dataDir },
  })
  const [, port] = await child.until('stdout', /^listening on http\S+:(\d+)$/m)
  const url = `http://localhost:${port}`
  return {
    url,
    mcpUrl: `${url}/mcp`,
    dataDir,
    async wallet() {
      const { payer } = JSON.parse(await readFile(join(dataDir, 'chains/accounts.json'), 'utf8')) as {
        payer: { private_key: Hex }
      }
      return createBuyer(privateKeyToAccount(payer.private_key))
    },
    async close() {
      child.kill('SIGTERM')
      await child.ended
      await removeFolder(directory)
    },
  }
}
