// What is written in Python, JavaScript, Java and Rust, and the package managers of these, behind `agent-gateway run`.
import 'reflect-metadata'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as x509 from '@peculiar/x509'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunWorld, startRunWorld } from '../support/run-world.ts'
import { removeFolder } from '../support/remove-folder.ts'

const TOKEN = 'tok_b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR'

let world: RunWorld
beforeAll(async () => {
  world = await startRunWorld({ secrets: [TOKEN] })
  await world.gw.grant({ secret: TOKEN, credential: { label: 'api', hosts: [world.host] } })
})
afterAll(() => world.close())
beforeEach(() =>
  world.gw.upstream.respond((_request, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
  ),
)

describe('Python', () => {
  it.each([
    ['urllib', 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())'],
    ['requests', 'import sys, requests; print(requests.get(sys.argv[1]).text)'],
    ['httpx', 'import sys, httpx; print(httpx.get(sys.argv[1], timeout=120).text)'],
  ])('calls with %s', async (name, program) => {
    const { stdout } = await world.run('api', ['python3', '-c', program, world.url(`/${name}`)], {
      attempts: 1,
    })
    expect(stdout).toBe('{"ok":true}\n')
  })

  it('gets a package with pip from an index that wants a key', async () => {
    const wheel = await packWheel()
    world.gw.upstream.respond(({ target }, res) => {
      if (target.endsWith('.whl')) return res.end(wheel)
      const digest = createHash('sha256').update(wheel).digest('hex')
      res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<a href="/files/${WHEEL}#sha256=${digest}">${WHEEL}</a>`)
    })
    await world.run(
      'api',
      // What pip asks a whole wheel for is a range of it first, where it may.
      [
        'python3',
        '-m',
        'pip',
        'download',
        '-q',
        '--no-deps',
        '--no-cache-dir',
        '--index-url',
        world.url('/simple/'),
        '-d',
        'wheels',
        'placeholder-demo',
      ],
      { attempts: 2, env: { PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_DEFAULT_TIMEOUT: '120' } },
    )
    expect(await readFile(join(world.folder, 'wheels', WHEEL))).toEqual(wheel)
  })
})

describe('JavaScript', () => {
  const program = (call: string) => `const url = process.argv.at(-1); ${call}`
  it.each([
    ['fetch', `console.log(await (await fetch(url)).text())`],
    [
      'https',
      `(await import('node:https')).get(url, (answer) => answer.setEncoding('utf8').on('data', (text) => console.log(text)))`,
    ],
  ])('calls with %s of Node', async (name, call) => {
    const { stdout } = await world.run(
      'api',
      [process.execPath, '--input-type=module', '-e', program(call), world.url(`/${name}`)],
      { attempts: 1 },
    )
    expect(stdout).toBe('{"ok":true}\n')
  })

  it.each(['deno', 'bun'])('calls with fetch of %s', async (runtime) => {
    await writeFile(
      join(world.folder, 'call.mjs'),
      `console.log(await (await fetch(${JSON.stringify(world.url(`/${runtime}`))})).text())`,
    )
    const options = runtime === 'deno' ? ['--allow-net'] : []
    const { stdout } = await world.run('api', [runtime, 'run', ...options, 'call.mjs'], { attempts: 1 })
    expect(stdout).toBe('{"ok":true}\n')
  })

  it('views and packs with npm what a registry that wants a key has', async () => {
    const tarball = await packTar({
      'package/package.json': '{"name":"placeholder-demo","version":"1.0.0"}',
    })
    const dist = {
      tarball: world.url('/placeholder-demo/-/placeholder-demo-1.0.0.tgz'),
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    }
    world.gw.upstream.respond(({ target }, res) => {
      if (target.endsWith('.tgz')) return res.end(tarball)
      const version = { name: 'placeholder-demo', version: '1.0.0', dist }
      res.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          name: 'placeholder-demo',
          'dist-tags': { latest: '1.0.0' },
          versions: { '1.0.0': version },
        }),
      )
    })
    const npm = [process.execPath, npmCli(), '--registry', world.url('/')]
    const env = { NPM_CONFIG_UPDATE_NOTIFIER: 'false' }
    const viewed = await world.run('api', [...npm, 'view', 'placeholder-demo', 'version'], {
      attempts: 1,
      env,
    })
    expect(viewed.stdout).toBe('1.0.0\n')
    const packed = await world.run('api', [...npm, 'pack', '--silent', 'placeholder-demo@1.0.0'], {
      // How often it reads what is said of a package is its own affair.
      env,
    })
    expect(packed.stdout).toBe('placeholder-demo-1.0.0.tgz\n')
  })
})

describe('Java', () => {
  it('reads what it is sent, by a door that knows whose connection it is, and without a password', async () => {
    const list = await makeRevocationList()
    world.gw.upstream.respond((_request, res) => res.end(list))
    // The one program that every Java brings, which calls as all do that use the classes of the JDK.
    const command = ['keytool', '-printcrl', '-file', world.url('/revoked.crl')]
    const { stdout } = await world.run('api', command, { attempts: 1 })
    expect(stdout).toContain('CN=Agent Gateway test list')
  })
})

describe('Rust', () => {
  it('fetches a crate with cargo from an index that wants a key', async () => {
    const crate = await packTar({
      'placeholder-demo-1.0.0/Cargo.toml': '[package]\nname = "placeholder-demo"\nversion = "1.0.0"\n',
      'placeholder-demo-1.0.0/src/lib.rs': '',
    })
    const cksum = createHash('sha256').update(crate).digest('hex')
    world.gw.upstream.respond(({ target }, res) => {
      if (target === '/index/config.json') return res.end(JSON.stringify({ dl: world.url('/crates') }))
      if (target.startsWith('/index/'))
        return res.end(
          JSON.stringify({
            name: 'placeholder-demo',
            vers: '1.0.0',
            deps: [],
            cksum,
            features: {},
            yanked: false,
          }),
        )
      res.end(crate)
    })
    const project = join(world.folder, 'crate')
    await mkdir(join(project, 'src'), { recursive: true })
    await writeFile(join(project, 'src/lib.rs'), '')
    await writeFile(
      join(project, 'Cargo.toml'),
      '[package]\nname = "uses"\nversion = "0.1.0"\n[dependencies]\nplaceholder-demo = { version = "1", registry = "test" }\n',
    )
    await world.run(
      'api',
      ['cargo', '-Z', 'sparse-registry', 'fetch', '--manifest-path', 'crate/Cargo.toml'],
      {
        attempts: 3,
        // Debian's cargo is older than the day on which these indexes were called stable.
        env: { RUSTC_BOOTSTRAP: '1', CARGO_REGISTRIES_TEST_INDEX: `sparse+${world.url('/index/')}` },
      },
    )
    expect(await readFile(join(project, 'Cargo.lock'), 'utf8')).toContain(cksum)
  })
})

async function makeRevocationList(): Promise<Buffer> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { privateKey: signingKey } = await crypto.subtle.generateKey(signingAlgorithm, true, [
    'sign',
    'verify',
  ])
  const parts = { issuer: 'CN=Agent Gateway test list', thisUpdate: new Date(), signingAlgorithm, signingKey }
  return Buffer.from((await x509.X509CrlGenerator.create(parts, crypto)).rawData)
}

/** The npm that is first on the path, as a script: its first line looks for a node that need not be there. */
const npmCli = () => realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())

const WHEEL = 'placeholder_demo-1.0.0-py3-none-any.whl'

/** An archive of files with these texts, as the tools of their ecosystem make it. */
async function pack(command: readonly string[], files: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'pack-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    const [program = '', ...args] = command
    const roots = new Set(Object.keys(files).map((name) => name.split('/')[0] ?? ''))
    execFileSync(program, [...args, 'archive', ...roots], { cwd: folder })
    return await readFile(join(folder, 'archive'))
  } finally {
    await removeFolder(folder)
  }
}
const packTar = (files: Readonly<Record<string, string>>) => pack(['tar', '-czf'], files)

function packWheel(): Promise<Buffer> {
  const folder = 'placeholder_demo-1.0.0.dist-info'
  return pack(['/usr/bin/python3', '-m', 'zipfile', '-c'], {
    [`${folder}/METADATA`]: 'Metadata-Version: 2.1\nName: placeholder-demo\nVersion: 1.0.0\n',
    [`${folder}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${folder}/RECORD`]: '',
  })
}
