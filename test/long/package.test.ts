// What is published, as a stranger gets it: packed, installed into an empty folder without a network, started there, paid in. Every module
// that it loads has to come out of its own folder.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getMcpConfigForManifest, type McpbManifestAny, unpackExtension } from '@anthropic-ai/mcpb'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ANVIL_PINS, ANVIL_VERSION } from '../../src/sandbox/anvil-pins.ts'
import { type Installed, installedAt, putAnvil, type Serving, type Variables } from '../support/installed.ts'
import type { Later } from '../support/kept.ts'
import { finish } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { describeRestores } from '../support/restored.ts'
import { createSoftHsm, PACKAGES } from '../support/soft-hsm.ts'
import { openStage, useGateway } from '../support/used-gateway.ts'

const root = new URL('../../', import.meta.url).pathname
const { name, version, mcpName } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  version: string
  mcpName: string
}
const CALLED = `${name}-${version}`

let work: string
let built: string
/** Where `npm install --global` put it. */
let installed: string
let command: string
/** Its processes find nothing outside of it. */
let stranger: Installed
let hook: string
beforeAll(async () => {
  work = realpathSync(await mkdtemp(join(tmpdir(), 'package-')))
  built = join(work, 'built')
  await run('node', ['deploy/package/build.ts', built], { cwd: root })
  const prefix = join(work, 'global')
  await npm(['install', '--global', '--prefix', prefix, join(built, `${CALLED}.tgz`)])
  installed = join(prefix, 'lib/node_modules', name)
  command = join(prefix, 'bin', name)
  // Node is told to find nothing outside of the package, in this process and in every one that it starts.
  hook = join(work, 'only-inside.mjs')
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module'
const inside = [${JSON.stringify(pathToFileURL(installed).href)}, import.meta.url]
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (found.url.startsWith('file:') && !inside.some((place) => found.url.startsWith(place))) {
      process._rawDebug('OUTSIDE ' + found.url)
      throw new Error('outside of the package: ' + found.url)
    }
    return found
  },
})
`,
  )
  stranger = installedAt(command, { env: environment({}), cwd: work })
})
afterAll(() => removeFolder(work))

const running: Serving[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

const bare = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: join(work, 'home'),
  ...more,
})

async function run(command: string, args: readonly string[], options: { cwd: string }) {
  const { code, stdout, stderr } = await finish(command, args, { ...options, env: bare() })
  expect(code, `${command} ${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
  return stdout
}

/** npm without a network, and with a cache of its own. */
const npm = (args: readonly string[], cwd: string = work) =>
  run('npm', [...args, '--offline', '--cache', join(work, 'cache'), '--no-audit', '--no-fund'], { cwd })

const environment = (more: Variables) =>
  bare({ PORT: '0', NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`, ...more })

async function serve(env: Variables) {
  const gateway = await stranger.serve(env)
  running.push(gateway)
  return gateway
}

const post = async (url: string, body: unknown, token?: string) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('the package', () => {
  it('brings nothing along, and runs nothing when it is installed', async () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >
    for (const field of ['dependencies', 'optionalDependencies', 'peerDependencies', 'scripts'])
      expect(manifest, field).not.toHaveProperty(field)
    expect(existsSync(join(installed, 'node_modules'))).toBe(false)
    expect(manifest).toMatchObject({ name, version, mcpName, publishConfig: { provenance: true } })
    const files = readdirSync(installed, { recursive: true }) as string[]
    expect(files.filter((file) => /\.(?:ts|map|pem|jwk|env)$/.test(file))).toEqual([])
  })

  it('says its version through npx', async () => {
    const said = await npm([
      'exec',
      '--yes',
      '--package',
      join(built, `${CALLED}.tgz`),
      '--',
      name,
      '--version',
    ])
    expect(said).toContain(version)
  })

  it('serves production, with every page, list and worker that it has', async () => {
    const { log, url } = await serve({
      GATEWAY_MODE: 'production',
      GATEWAY_BASE_URL: 'https://gateway.example',
      GATEWAY_DATA_DIR: join(work, 'production'),
      // A lookup fails at once: what the lists alone decide needs none.
      GATEWAY_DNS_SERVERS: '127.0.0.1:9',
    })
    const pages = [
      '/',
      '/docs',
      '/docs/architecture',
      '/openapi.json',
      '/agent.txt',
      '/console/sign-in',
      '/healthz',
    ]
    for (const path of pages) expect((await fetch(`${url}${path}`)).status, path).toBe(200)
    const home = await (await fetch(`${url}/`)).text()
    const [asset] = /\/[\w/.-]+\.css/.exec(home)!
    expect((await fetch(`${url}${asset}`)).headers.get('content-type')).toContain('text/css')

    expect((await post(`${url}/v1/execute`, { intent: 'demo' })).body).toMatchObject({ ok: true })

    const key = await post(`${url}/v1/keys/free`, {})
    expect(key.status).toBe(201)
    const verified = await post(`${url}/v1/verify`, { email: 'a@mailinator.com' }, key.body['key'] as string)
    expect(JSON.stringify(verified.body)).toContain('disposable-email-domains-js')

    const client = new Client({ name: 'package', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    const called = await client.callTool({ name: 'gateway_execute', arguments: { intent: 'demo' } })
    expect(called.isError ?? false).toBe(false)
    await client.close()
    expect(log()).not.toContain('OUTSIDE')
  })

  it('says once that it has no native signers, and nothing where they are installed beside it', async () => {
    const linesOf = (text: string) => text.split('\n').filter((line) => line.includes('sodium-native'))
    const production = {
      GATEWAY_MODE: 'production',
      GATEWAY_BASE_URL: 'https://gateway.example',
      GATEWAY_DATA_DIR: join(work, 'signers'),
    }
    const alone = await serve(production)
    const [line = '{}', ...others] = linesOf(alone.log())
    expect(others).toEqual([])
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      msg: expect.stringMatching(/npm install --global sodium-native@5\.1\.0 secp256k1@5\.0\.2$/),
    })
    await alone.stop()

    // As `npm install --global` of all three puts them.
    const beside = dirname(installed)
    for (const one of [
      'sodium-native',
      'secp256k1',
      'require-addon',
      'node-gyp-build',
      'bare-addon-resolve',
      'bare-module-resolve',
      'bare-semver',
      'which-runtime',
    ])
      cpSync(join(root, 'node_modules', one), join(beside, one), { recursive: true })
    try {
      // Without the hook, as they stand outside of the package.
      const gateway = await installedAt(command, { env: bare({ PORT: '0' }), cwd: work }).serve(production)
      running.push(gateway)
      expect(linesOf(gateway.log())).toEqual([])
    } finally {
      for (const one of readdirSync(beside)) if (one !== name) await removeFolder(join(beside, one))
    }
  })

  it('pays for every paid tool of its sandbox once', async () => {
    const dataDir = join(work, 'sandbox')
    await putAnvil(dataDir)
    const { code, stdout, stderr } = await stranger.run(['demo', '--json'], { GATEWAY_DATA_DIR: dataDir })
    expect(code, stderr).toBe(0)
    const { steps } = JSON.parse(stdout) as { steps: { verifies: boolean }[] }
    expect(steps.length).toBeGreaterThan(4)
    expect(steps.every(({ verifies }) => verifies)).toBe(true)
    expect(stderr).not.toContain('OUTSIDE')
  })
})

describe('a sandbox of it that was used', () => {
  let later: Later
  beforeAll(async () => {
    const stage = await openStage()
    const env = stage.envOf('used')
    const serving = await stranger.serve(env)
    later = { stage, by: stranger, env, serving, holdings: await useGateway(stage, stranger, serving, env) }
  })
  afterAll(async () => {
    await later?.serving.stop()
    await later?.stage.close()
  })

  describeRestores('sqlite', () => later)

  it('found all that in its own folder', () => {
    expect(later.serving.log()).not.toContain('OUTSIDE')
  })
})

// The others are at work in every gateway above.
it.each(['aside-worker', 'search-worker'])('%s loads in a thread', async (worker) => {
  const program = `import { parentPort } from 'node:worker_threads'
const { postMessage } = parentPort
await import(${JSON.stringify(pathToFileURL(join(installed, 'dist', `${worker}.js`)).href)})
postMessage.call(parentPort, 'loaded')`
  const code = `const { Worker } = require('node:worker_threads')
const thread = new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(program)})))
thread.on('message', (said) => said === 'loaded' && (console.log(said), process.exit(0)))`
  const { stdout, stderr } = await finish(process.execPath, ['-e', code], {
    env: environment({}),
    cwd: work,
  })
  expect(stdout, stderr).toBe('loaded\n')
})

it('finds the process for PKCS#11 tokens in itself, and its package beside itself', async () => {
  const hsm = await createSoftHsm()
  const beside = join(dirname(installed), 'pkcs11js')
  const start = (env: Variables = {}) =>
    stranger.run(['serve', '--without-test-payments'], {
      GATEWAY_DATA_DIR: join(work, 'token'),
      GATEWAY_AUTHORITY: hsm.uri('object=agent-gateway').replace('token=gateway', 'token=nothing'),
      ...hsm.env,
      ...env,
    })
  try {
    const without = await start()
    expect([without.code, without.stderr]).toEqual([
      78,
      expect.stringMatching(/`npm install .* pkcs11js@2\.1\.7`/),
    ])
    cpSync(join(PACKAGES, 'pkcs11js'), beside, { recursive: true })
    // What an operator installs there is outside, and meant to be found.
    const { code, stderr } = await start({ NODE_OPTIONS: '' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('no token in a slot is so named')])
  } finally {
    rmSync(beside, { recursive: true, force: true })
    await hsm.close()
  }
})

describe('a sandbox without the node of its chains', () => {
  it('says what to run and ends with a code of its own where nobody can be asked', async () => {
    for (const word of ['serve', 'demo']) {
      const dataDir = join(work, `no-node-${word}`)
      const { code, stdout, stderr } = await stranger.run([word], { GATEWAY_DATA_DIR: dataDir })
      expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
      expect(stderr).toMatch(
        /^agent-gateway: Missing: .*`agent-gateway sandbox install`.*Nothing was started\.\n$/,
      )
      expect(existsSync(dataDir)).toBe(false)
    }
  })

  it('starts where chains of others are named, or where it is told to', async () => {
    const { log, url } = await serve({
      GATEWAY_DATA_DIR: join(work, 'others'),
      GATEWAY_RPC_8453: 'http://127.0.0.1:9',
      GATEWAY_RPC_84532: 'http://127.0.0.1:9',
    })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(log()).not.toContain('Missing')
  })

  it('installs nothing that has another digest, and leaves nothing half', async () => {
    // A registry that gives whatever it likes under the right name and version.
    const strange = join(work, 'strange')
    const pin = ANVIL_PINS[`${process.platform}-${process.arch}`]!.name
    mkdirSync(strange)
    writeFileSync(join(strange, 'package.json'), JSON.stringify({ name: pin, version: ANVIL_VERSION }))
    await npm(['pack', strange, '--pack-destination', strange])
    const tarball = readFileSync(
      join(
        strange,
        readdirSync(strange).find((file) => file.endsWith('.tgz'))!,
      ),
    )
    const registry = createServer((req, res) => {
      if (req.url?.endsWith('.tgz')) return void res.end(tarball)
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
      const dist = { tarball: `http://${req.headers.host}/strange.tgz`, integrity }
      const versions = { [ANVIL_VERSION]: { name: pin, version: ANVIL_VERSION, dist } }
      res.end(JSON.stringify({ name: pin, 'dist-tags': { latest: ANVIL_VERSION }, versions }))
    })
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
    const dataDir = join(work, 'digest')
    try {
      const { code, stderr } = await finish(command, ['sandbox', 'install'], {
        env: bare({
          GATEWAY_DATA_DIR: dataDir,
          npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
          npm_config_cache: join(work, 'digest-cache'),
        }),
        cwd: work,
      })
      expect(code).toBe(1)
      expect(stderr).toMatch(/npm could not install it: .*EINTEGRITY/)
      expect(readdirSync(join(dataDir, 'programs'))).toEqual([])
    } finally {
      registry.close()
    }
  })
})

describe('what is published beside it', () => {
  it('is named with its SHA-256', () => {
    const lines = readFileSync(join(built, 'SHA256SUMS'), 'utf8').trim().split('\n')
    const named = lines.map((line) => line.split('  '))
    for (const [digest, file = ''] of named)
      expect(
        createHash('sha256')
          .update(readFileSync(join(built, file)))
          .digest('hex'),
        file,
      ).toBe(digest)
    expect(named.map(([, file]) => file)).toEqual([
      `${CALLED}.tgz`,
      `${CALLED}.mcpb`,
      `${CALLED}.cdx.json`,
      'server.json',
    ])
  })

  it('is a bill of materials that its schema takes, with every package of the licences', async () => {
    const text = readFileSync(join(built, `${CALLED}.cdx.json`), 'utf8')
    expect(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')).toBe(text)
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const bom = JSON.parse(text) as {
      components: { group?: string; name: string; version: string; hashes: { content: string }[] }[]
      dependencies: { ref: string; dependsOn: string[] }[]
    }
    const names = bom.components.map((one) => `${one.group ? `${one.group}/` : ''}${one.name} ${one.version}`)
    const licences = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
    const [, list = ''] = licences.split('-'.repeat(80))
    expect(
      list
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith(' '))
        .map((line) => line.split(': ')[0]),
    ).toEqual(names)
    expect(readFileSync(join(root, 'docs/dependencies.md'), 'utf8')).toContain(
      ` ${names.length} packages are in it;`,
    )
    // Of direct dependencies, one that only tests use, and data of packages that are not installed.
    expect(names).toContain('express 5.3.0')
    expect(names.join()).toMatch(/preact 11.*unpdf/)
    expect(names.join()).not.toMatch(/vitest|playwright|typescript/)
    expect(names).toContain('mailchecker 6.0.21')
    for (const { hashes } of bom.components) expect(hashes[0]!.content).toMatch(/^[0-9a-f]{128}$/)
    const refs = new Set(bom.dependencies.map(({ ref }) => ref))
    for (const { dependsOn } of bom.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref)
  })

  it('has the words of every licence that a package in it has a file of, also of the code of others', () => {
    const { components } = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
      components: { purl: string; components?: { name: string }[] }[]
    }
    const purls = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string }>
    }
    const folders = Object.entries(packages).flatMap(([folder, { version: locked }]) =>
      purls.has(`pkg:npm/${folder.split('node_modules/').at(-1)}@${locked}`) && existsSync(join(root, folder))
        ? [folder]
        : [],
    )
    expect(folders.length).toBeGreaterThanOrEqual(purls.size)
    const files = folders.flatMap((folder) =>
      (readdirSync(join(root, folder), { recursive: true }) as string[])
        .filter((file) => /(?:licen[cs]e|notice|copying)[^/]*$/i.test(file))
        .filter((file) => !/(?:^|\/)(?:node_modules|\.[^/]+)\/|\.(?:[cm]?[jt]sx?|map|json)$/.test(file))
        .map((file) => `${folder}/${file}`),
    )
    const text = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
    expect(files.filter((file) => !text.includes(readFileSync(join(root, file), 'utf8').trim()))).toEqual([])
    expect(files).toEqual(
      expect.arrayContaining([
        'node_modules/undici/lib/milo/LICENSE.md',
        'node_modules/oidc-provider/THIRD-PARTY-NOTICES.md',
      ]),
    )
    // Its words are in no file.
    expect(text).toContain('Copyright (c) Fedor Indutny, 2018')
    const undici = components.find(({ purl }) => purl.startsWith('pkg:npm/undici@'))
    expect(undici?.components?.map(({ name }) => name)).toEqual(['llhttp', 'milo'])
  })

  it('is a server.json that its schema takes and that names this package', () => {
    const schema = JSON.parse(
      readFileSync(new URL('../data/server-2025-12-11.schema.json', import.meta.url), 'utf8'),
    ) as object
    const ajv = new Ajv({ strict: false, allErrors: true })
    formats.default(ajv)
    const validate = ajv.compile(schema)
    const server = JSON.parse(readFileSync(join(built, 'server.json'), 'utf8')) as {
      name: string
      description: string
      packages: { identifier: string; fileSha256?: string }[]
    }
    expect(validate(server), JSON.stringify(validate.errors)).toBe(true)
    expect(server.name).toBe(mcpName)
    expect(server.description.length).toBeLessThanOrEqual(100)
    expect(server.packages[0]).toMatchObject({ identifier: name, version })
    const digest = createHash('sha256')
      .update(readFileSync(join(built, `${CALLED}.mcpb`)))
      .digest('hex')
    expect(server.packages[1]).toMatchObject({ fileSha256: digest })
    expect(validate({ ...server, description: 'x'.repeat(101) })).toBe(false)
  })

  it('is a bundle that an assistant unpacks, starts and talks to', async () => {
    const folder = join(work, 'unpacked')
    expect(
      await unpackExtension({ mcpbPath: join(built, `${CALLED}.mcpb`), outputDir: folder, silent: true }),
    ).toBe(true)
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as McpbManifestAny
    for (const asked of Object.values(manifest.user_config ?? {}))
      expect(asked.description.length).toBeGreaterThan(20)
    expect(manifest.user_config?.['token']?.sensitive).toBe(true)
    const home = join(work, 'assistant')
    const config = await getMcpConfigForManifest({
      manifest,
      extensionPath: folder,
      systemDirs: { HOME: home },
      userConfig: {},
      pathSeparator: '/',
    })
    // Whatever is left in braces would be taken for an address, a token, or a folder of that name.
    expect(JSON.stringify(config)).not.toContain('${')
    const client = new Client({ name: 'assistant', version: '1.0.0' })
    await client.connect(
      new StdioClientTransport({
        command: config!.command,
        args: config!.args ?? [],
        env: { ...bare(), ...config!.env },
        stderr: 'ignore',
        cwd: work,
      }),
    )
    const called = await client.callTool({ name: 'gateway_execute', arguments: { intent: 'demo' } })
    expect(called.isError ?? false).toBe(false)
    await client.close()
    expect(existsSync(join(home, '.agent-gateway', 'gateway.db'))).toBe(true)
  })
})
