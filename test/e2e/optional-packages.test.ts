// An installation without the packages that only the sandbox uses, as `npm ci --omit=optional` leaves it.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli, startGatewayProcess } from '../support/cli.ts'
import { removeFolder } from '../support/remove-folder.ts'

const { dependencies, optionalDependencies } = JSON.parse(
  await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>

const SANDBOX_ONLY = ['@foundry-rs/anvil']

let folder: string
let env: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'optional-packages-'))
  // Node resolves none of the optional packages, whoever asks and however.
  const hook = join(folder, 'hide.mjs')
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
const hidden = ${JSON.stringify(Object.keys(optionalDependencies))}
registerHooks({
  resolve(specifier, context, next) {
    if (hidden.some((name) => specifier === name || specifier.startsWith(name + '/')))
      throw Object.assign(new Error('hidden by the test: ' + specifier), { code: 'MODULE_NOT_FOUND' })
    return next(specifier, context)
  },
})
`,
  )
  env = {
    PORT: '0',
    GATEWAY_DATA_DIR: join(folder, 'data'),
    NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`,
  }
})
afterEach(() => removeFolder(folder))

/** Starts a gateway, asks it something, and returns what it wrote to stderr. */
async function whileServing(more: Record<string, string>, ask: (baseUrl: string) => Promise<void>) {
  const gateway = startGatewayProcess({ ...env, ...more })
  try {
    await ask(await gateway.listening)
  } finally {
    gateway.kill('SIGTERM')
    await gateway.ended
  }
  return gateway.stderr()
}

/** What is missing of signers, once and at level info. */
function expectOneLine(said: string): void {
  const lines = said.split('\n').filter((line) => line.includes('sodium-native'))
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 30,
      msg: expect.stringMatching(
        /^sodium-native and secp256k1 are not installed: .*npm ci --include=optional$/,
      ),
    }),
  ])
}

const execute = (baseUrl: string, body: unknown) =>
  fetch(`${baseUrl}/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('without the optional packages', () => {
  it('production starts and says nothing of the sandbox', async () => {
    const said = await whileServing(
      { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' },
      async (baseUrl) => {
        expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200)
        expect((await execute(baseUrl, { intent: 'demo' })).status).toBe(200)
      },
    )
    expect(said).toContain('Agent Gateway   production')
    expect(said).not.toMatch(/Missing|anvil|x509/)
    expectOneLine(said)
  })

  it('the sandbox starts, says in a sentence what is missing, and charges nothing that needs it', async () => {
    const said = await whileServing({}, async (baseUrl) => {
      expect((await execute(baseUrl, { intent: 'demo' })).status).toBe(200)
      const paid = await execute(baseUrl, {
        capability: 'web-extraction',
        sources: ['https://sandbox.agent-gateway.test/article'],
      })
      expect(paid.status).toBeGreaterThanOrEqual(400)
    })
    expect(said).toContain(
      'Missing: @foundry-rs/anvil, so test payments do not work. Install with npm ci --include=optional.',
    )
    expect(said).not.toContain('"level":60')
    expectOneLine(said)
  })

  it('an assistant on stdio gets its protocol, and the doctor says what is missing in passing', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }
    const spoken = await runCli(['stdio'], env, `${JSON.stringify(initialize)}\n`)
    expect(spoken.stdout.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(spoken.stdout)).toMatchObject({ id: 1, result: { serverInfo: {} } })
    expect(spoken.stderr).not.toContain('sodium-native')

    const { stdout } = await runCli(['doctor'], env)
    expect(stdout).toMatch(/^ok +signers +sodium-native and secp256k1 are not installed: /m)
  })
})

it('the packages of the sandbox are optional dependencies, and every version is pinned exactly', async () => {
  for (const name of SANDBOX_ONLY) {
    expect(Object.keys(optionalDependencies)).toContain(name)
    expect(Object.keys(dependencies)).not.toContain(name)
  }
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const loose = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] as Record<string, string>).filter(
      ([, version]) => !/^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(version),
    ),
  )
  expect(loose).toEqual([])
})
