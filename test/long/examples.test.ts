// Every program of examples/ against one gateway in sandbox mode, run by the command of its first line.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Started, start } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const root = new URL('../../', import.meta.url)
const launcher = new URL('dist/launcher.js', root).pathname

/** What each program writes, in order. */
const WRITES: Readonly<Record<string, readonly RegExp[]>> = {
  'store-credential.ts': [/^export CREDENTIAL_ID=cred_\w+$/m, /^export CAPABILITY=agw_cap_\w+$/m],
  'rest-fetch.ts': [/^200 \{"authenticated":true/m, /charged: 1, balance: null/, /\/v1\/receipts\/rcp_\w+/],
  'verify-receipt.ts': [
    /action: 'egress\.fetch'/,
    /charge: \{ amount: 1, unit: 'credit' \}/,
    /leak_gate: 'clean'/,
  ],
  'mcp-client.ts': [/^\d+ tools, for example gateway_/m, /"status": 200/, /"receipt_id": "rcp_/],
  'mcp-stdio.ts': [/"status": 200/, /"receipt_id": "rcp_/],
  'ai-sdk.ts': [
    /^gateway_egress_fetch .*"receipt_id":"rcp_/m,
    /^The API answered, and I never saw the secret\.$/m,
  ],
  'langchain.ts': [/^Sends one HTTPS request with a credential that the gateway holds/m, /"?status"?: 200/],
  'a2a-client.ts': [/\\"authenticated\\":true/, /"receipt_id":"rcp_/],
  'permit.ts': [
    /^pending_approval$/m,
    /^ready$/m,
    /^200 http\S+\/v1\/receipts\/rcp_\w+$/m,
    /^409 permit_used$/m,
  ],
  'edge-merchant.ts': [/"authorized": true/, /^200 .*Green tea/m, /^http\S+\/v1\/receipts\/rcp_\w+$/m],
  'inspect.ts': [/"protocol": "acp"/, /"decision": "deny"/, /"code": "UNSAFE_WITHOUT_IDEMPOTENCY"/],
  // What is said of the first address depends on the DNS that the machine reaches.
  'verify-email.ts': [
    /^ada@example\.com (?:accept|review|reject) \[/m,
    /^not an address reject \[ 'syntax' \]$/m,
  ],
  'x402-fetch.ts': [/"capability":"feed-digest"/, /"amount_atomic":"2000"/, /"jws":"ey/],
  'x402-axios.ts': [/How green tea is steeped/, /"amount_atomic":"1000"/, /"jws":"ey/],
  'x402-sign-in.ts': [/^payment_claimed$/m, /^settled \{.*"capability":"feed-digest".*"jws":"ey/m],
  'seller-wallet.ts': [/^0x[0-9a-fA-F]{40}$/m],
  'rest_client.py': [/^200 \{"authenticated":true/m, /'charged': 1/, /\/v1\/receipts\/rcp_\w+/],
}
/** Imported by a program beside it, or tested elsewhere. */
const PARTS = ['scripted-model.ts', 'tsconfig.json', 'README.md', 'clients', 'frameworks', 'policies']

let directory: string
let gateway: Started
let environment: Record<string, string | undefined>
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-gateway-examples-'))
  environment = { PATH: process.env['PATH'], GATEWAY_DATA_DIR: join(directory, 'data') }
  gateway = start(process.execPath, [launcher, 'serve'], { env: { ...environment, PORT: '0' } })
  const [, url] = await gateway.until('stdout', /^listening on (\S+)$/m)
  environment['GATEWAY_BASE_URL'] = url
  const stored = await run('store-credential.ts')
  for (const [, name, value] of stored.matchAll(/^export (\w+)=(\S+)$/gm)) environment[name!] = value
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  await removeFolder(directory)
})

/** The command of the first line, from the root of the repository. `npx node` is the Node that runs this test. */
async function run(file: string): Promise<string> {
  const [command = ''] = (await readFile(new URL(`examples/${file}`, root), 'utf8')).split('\n')
  const [, program, path] = /^(?:\/\/|#) (npx node|python3) (examples\/\S+)$/.exec(command) ?? []
  expect(path, `the first line of ${file} is its command`).toBe(`examples/${file}`)
  const child = start(program === 'python3' ? 'python3' : process.execPath, [path!], {
    cwd: root.pathname,
    env: environment,
  })
  const { code } = await child.ended
  expect(code, `${file}\n${child.stdout()}\n${child.stderr()}`).toBe(0)
  return child.stdout()
}

// A machine that only uses the gateway needs no Python: there the program is not among the tests, neither passed nor skipped.
// Where changes are checked (CI is set) it is, and a missing python3 fails it.
const hasPython =
  process.env['CI'] !== undefined || spawnSync('python3', ['--version'], { stdio: 'ignore' }).status === 0
const programs = Object.keys(WRITES).filter((file) => hasPython || !file.endsWith('.py'))

describe('examples', () => {
  it('are all tested', async () => {
    const found = await readdir(new URL('examples/', root))
    expect(found.filter((name) => !PARTS.includes(name)).toSorted()).toEqual(Object.keys(WRITES).toSorted())
    expect(Object.keys(WRITES).length).toBeGreaterThanOrEqual(12)
  })

  it.each(['store-credential.ts', 'permit.ts', 'edge-merchant.ts', 'x402-fetch.ts', 'x402-axios.ts'])(
    '%s says in a sentence which file it misses where no gateway was started',
    async (file) => {
      const missing = join(directory, 'elsewhere')
      const child = start(process.execPath, [`examples/${file}`], {
        cwd: root.pathname,
        env: { ...environment, GATEWAY_DATA_DIR: missing },
      })
      expect((await child.ended).code).toBe(1)
      expect(child.stderr()).toMatch(
        new RegExp(
          `^There is no ${missing}/\\S+\\. Run this where .* started, or set GATEWAY_DATA_DIR\\.\\n$`,
        ),
      )
    },
  )

  it.each(programs)('%s runs as it stands and writes what it promises', async (file) => {
    const written = await run(file)
    expect(written).not.toContain('a-secret-the-agent-never-sees')
    let rest = written
    for (const pattern of WRITES[file]!) {
      const match = pattern.exec(rest)
      expect(match, `${file}: ${pattern} in ${rest}`).not.toBeNull()
      rest = rest.slice(match!.index + match![0].length)
    }
  })
})
