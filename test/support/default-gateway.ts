// The gateway as a newcomer starts it: `npm start` without a setting, except that it takes any free port and an empty folder. Its
// chains, names and pages are those of the sandbox.
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import { must } from '../../src/lib/must.ts'
import { createBuyer } from './buyer.ts'
import { finish, start } from './process.ts'
import { removeFolder } from './remove-folder.ts'

const example = new URL('../../examples/store-credential.ts', import.meta.url).pathname
const launcher = new URL('../../dist/launcher.js', import.meta.url).pathname

export interface DefaultGateway {
  /** `http://localhost:PORT`, as documentation writes it. */
  readonly url: string
  readonly mcpUrl: string
  readonly dataDir: string
  /** Of the operator, as the first start wrote it. */
  readonly operatorKey: string
  /** Makes whoever opens it the first person; printed once, by the first start. */
  readonly firstLink: string
  /** What examples/store-credential.ts issues: GET below `https://sandbox.agent-gateway.test/api`. */
  grant(): Promise<string>
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
  const [, firstLink] = await child.until('stdout', /^first person \([^)]*\): (\S+)$/m)
  const url = `http://localhost:${port}`
  return {
    url,
    mcpUrl: `${url}/mcp`,
    dataDir,
    firstLink: must(firstLink, 'the link of the first person'),
    operatorKey: (await readFile(join(dataDir, 'operator.key'), 'utf8')).trim(),
    async grant() {
      const { stdout } = await finish(process.execPath, [example], {
        env: { PATH: process.env['PATH'], GATEWAY_BASE_URL: url, GATEWAY_DATA_DIR: dataDir },
      })
      const [, capability] = /^export CAPABILITY=(\S+)$/m.exec(stdout) ?? []
      if (capability === undefined) throw new Error(`no capability in ${stdout}`)
      return capability
    },
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
