// The image, run as locked up as deploy/kubernetes runs it: what is in it, what it does, and what outlives it.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdtemp, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { type Container, IMAGE, podman, runInImage, startContainer, tryPodman } from '../support/container.ts'
import { freePort } from '../support/free-port.ts'
import { databaseFor } from '../support/postgres.ts'
import { finish } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { createRestBuyer } from '../support/rest-buyer.ts'

const USER = 65532
const DATA = '/var/lib/agent-gateway'
const KEYS = '/etc/agent-gateway/keys'
const MOST_BYTES = 150_000_000

const operatorKey = newToken('sk')
const asOperator = { authorization: `Bearer ${operatorKey}` }
const volumes: string[] = []
const containers: Container[] = []
let folder: string
let chain: TestChain
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-image-test-'))
  chain = await startTestChain(8453)
  await handOver(chain.settlerKeyFile, 'settler')
})
afterAll(async () => {
  for (const container of containers) await container.remove()
  if (volumes.length > 0) await podman('volume', 'rm', ...volumes)
  await chain?.close()
  await removeFolder(folder)
})

/** As a secret of Kubernetes is mounted: of root, and for the group of the pod. */
async function handOver(from: string, name: string): Promise<void> {
  await copyFile(from, join(folder, name))
  await chown(join(folder, name), 0, USER)
  await chmod(join(folder, name), 0o440)
  await chown(folder, 0, USER)
  await chmod(folder, 0o750)
}
async function newVolume(): Promise<string> {
  const name = `gateway-test-${randomUUID().slice(0, 8)}`
  await podman('volume', 'create', name)
  volumes.push(name)
  return name
}
const folderOf = (volume: string) => podman('volume', 'inspect', '--format={{.Mountpoint}}', volume)

interface BomComponent {
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly components?: readonly BomComponent[]
}

async function startGateway(volume: string, env: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const container = await startContainer({
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      GATEWAY_BASE_URL: base,
      GATEWAY_OPERATOR_KEY: operatorKey,
      GATEWAY_RPC_8453: chain.rpcUrl,
      GATEWAY_PAY_TO: chain.payTo,
      GATEWAY_SETTLER_KEY_FILE: `${KEYS}/settler`,
      ...env,
    },
    volumes: [`${volume}:${DATA}`, `${folder}:${KEYS}:ro`],
  })
  containers.push(container)
  const probe = () =>
    fetch(`${base}/readyz`).then(
      ({ status }) => status,
      () => 0,
    )
  while ((await probe()) !== 200) {
    const state = await podman('inspect', '--format={{.State.Status}}', container.name)
    if (state === 'exited') throw new Error(`the gateway ended: ${await container.logs()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const get = async (path: string) => (await fetch(base + path, { headers: asOperator })).json()
  return { container, base, port, get, probe }
}

describe('what is in it', () => {
  let files: { name: string; mode: string; owner: string }[]
  beforeAll(async () => {
    const name = `gateway-test-${randomUUID().slice(0, 8)}`
    await podman('create', `--name=${name}`, IMAGE)
    const { stdout } = await finish('bash', [
      '-c',
      `podman export ${name} | tar --list --verbose --numeric-owner`,
    ])
    await podman('rm', '--volumes', name)
    files = stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [mode, owner, , , , ...rest] = line.split(/ +/)
        return { mode: mode!, owner: owner!, name: rest.join(' ').replace(/ -> .*/, '') }
      })
  })

  it('is at most 150 MB', async () => {
    expect(Number(await podman('image', 'inspect', '--format={{.Size}}', IMAGE))).toBeLessThan(MOST_BYTES)
  })

  it('is no shell, no package manager, no compiler and no other program than Node', () => {
    expect(files.length).toBeGreaterThan(300)
    const programs = files.filter(
      ({ name, mode }) => /(?:^|\/)s?bin\/[^/]+$/.test(name) && mode.startsWith('-'),
    )
    expect(programs.map(({ name }) => name).toSorted()).toEqual([
      'opt/agent-gateway/bin/copy-keys.js',
      'opt/agent-gateway/bin/health.js',
      'usr/bin/node',
    ])
    expect(
      files.filter(({ name }) => /(?:^|\/)(?:npm|npx|corepack|yarn|node_modules)(?:\/|$)/.test(name)),
    ).toEqual([])
  })

  it('is the licence of everything that is in it, beside it', async () => {
    const names = files.map(({ name }) => name)
    const folders = ['libc6', 'gcc-14-base', 'base-files', 'nodejs']
    expect(names).toEqual(
      expect.arrayContaining([
        ...folders.map((folder) => `usr/share/doc/${folder}/copyright`),
        'opt/agent-gateway/THIRD-PARTY-LICENSES.txt',
      ]),
    )
    const read = "process.stdout.write(fs.readFileSync('/usr/share/doc/nodejs/copyright', 'utf8'))"
    const { stdout } = await runInImage(['/usr/bin/node', '-e', read])
    for (const name of ['Node.js', 'V8', 'OpenSSL', 'ICU', 'llhttp', 'libuv']) expect(stdout).toContain(name)
  })

  it('is named in its bill of materials: Debian with its packages, Node with its libraries, and every package of npm', async () => {
    const inImage = async (code: string) => (await runInImage(['/usr/bin/node', '-e', code])).stdout
    const read = (path: string) => inImage(`process.stdout.write(fs.readFileSync('${path}', 'utf8'))`)
    const text = await read('/opt/agent-gateway/image.cdx.json')
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const { components } = JSON.parse(text) as { components: BomComponent[] }
    const versionOf = (name: string) => components.find((one) => one.name === name)?.version

    expect(await read('/etc/os-release')).toContain(`VERSION_ID="${versionOf('debian')}"`)
    const status = '/var/lib/dpkg/status.d/'
    const packages = files
      .map(({ name }) => `/${name}`)
      .filter((name) => name.startsWith(status) && name !== status)
    expect(packages.map((name) => name.slice(status.length))).toEqual(
      components.filter(({ purl }) => purl?.startsWith('pkg:deb/')).map(({ name }) => name),
    )
    for (const name of ['libc6', 'libstdc++6', 'libgcc-s1', 'base-files'])
      expect(await read(status + name)).toContain(`\nVersion: ${versionOf(name)}\n`)

    const versions = JSON.parse(await inImage('process.stdout.write(JSON.stringify(process.versions))')) as {
      [name: string]: string
    }
    const node = components.find(({ name }) => name === 'node')
    expect(node?.version).toBe(versions['node'])
    for (const name of ['openssl', 'v8', 'uv', 'zlib', 'sqlite', 'llhttp'])
      expect(node?.components).toContainEqual(expect.objectContaining({ name, version: versions[name] }))

    const inner = JSON.parse(await read('/opt/agent-gateway/sbom.cdx.json')) as { components: BomComponent[] }
    expect(inner.components.length).toBeGreaterThan(100)
    expect(components).toEqual(expect.arrayContaining(inner.components))
  })

  it('is no key, no setting and no data', () => {
    expect(
      files.filter(({ name }) =>
        /\.(?:jwk|key|pem|p12|env|db|npmrc|map)$|(?:^|\/)\.(?:git|npm|env)/.test(name),
      ),
    ).toEqual([])
    expect(
      files.filter(({ name }) => name.startsWith(DATA.slice(1))).map(({ mode, owner }) => [mode, owner]),
    ).toEqual([['drwx------', `${USER}/${USER}`]])
  })

  it('is nothing that its user may change but the data, and nothing that makes him another', () => {
    const changeable = files.filter(
      ({ mode, owner, name }) =>
        !mode.startsWith('l') &&
        (mode[8] === 'w' || owner.startsWith(`${USER}/`)) &&
        !name.startsWith(DATA.slice(1)),
    )
    // Of the system, and behind a root that is read-only.
    expect(
      changeable
        .map(({ name }) => name)
        .filter((name) => !/^(?:var\/)?tmp\/$|^(?:run|var)\/lock\/$|^dev\//.test(name)),
    ).toEqual([])
    expect(files.filter(({ mode }) => /[st]/i.test(mode[3]! + mode[6]!))).toEqual([])
  })
})

describe('one gateway on SQLite', () => {
  it('serves without root, capabilities or a place to write; is paid; drains; and its data outlives it', async () => {
    const volume = await newVolume()
    const first = await startGateway(volume)
    const { container } = first

    const status = await readFile(`/proc/${await container.pid()}/status`, 'utf8')
    expect(status).toMatch(new RegExp(`^Uid:\\s+${USER}\\s+${USER}\\s+${USER}\\s+${USER}$`, 'm'))
    for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${name}:\\s+0+$`, 'm'))
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    const write = ['exec', container.name, '/usr/bin/node', '-e', "fs.writeFileSync('/opt/x', '')"]
    expect((await tryPodman(...write)).stderr).toMatch(/EROFS|EACCES/)
    for (const shell of ['/bin/sh', 'sh', 'bash'])
      expect((await tryPodman('exec', container.name, shell, '-c', 'true')).code).not.toBe(0)
    expect((await tryPodman('healthcheck', 'run', container.name)).code).toBe(0)

    const payer = chain.payers[0]!
    const before = await chain.usdcOf(payer.address)
    const bought = await createRestBuyer(first.base, payer).buy(
      '/v1/credits/purchase',
      { credits: 7 },
      asOperator,
    )
    expect([bought.status, bought.body.credits_granted], bought.text).toEqual([200, 7])
    expect(before - (await chain.usdcOf(payer.address))).toBe(BigInt(bought.body.cost.amount_atomic))
    const { balance } = (await first.get('/v1/credits')) as { balance: number }
    const keys = await first.get('/.well-known/gateway-egress-key.json')

    // A call whose body is still on its way when the signal comes.
    const body = JSON.stringify({ target: 'https://example.com/pay', method: 'POST', headers: {}, body: {} })
    const slow = connect(first.port, '127.0.0.1')
    await once(slow, 'connect')
    let answer = ''
    slow.setEncoding('utf8').on('data', (text: string) => (answer += text))
    slow.write(
      `POST /v1/inspect HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    )
    await podman('kill', '--signal=TERM', container.name)
    await expect.poll(first.probe).not.toBe(200)
    slow.write(body.slice(10))
    await once(slow, 'close')
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await container.ended()).toBe(0)
    const logs = await container.logs()
    expect(logs).toContain('"stopped"')
    expect(logs).not.toContain(operatorKey)

    const second = await startGateway(volume)
    expect(await second.get('/v1/credits')).toMatchObject({ balance })
    expect(await second.get('/.well-known/gateway-egress-key.json')).toEqual(keys)
    await podman('kill', '--signal=TERM', second.container.name)
    expect(await second.container.ended()).toBe(0)

    // What replicas are given from here on.
    const data = await folderOf(volume)
    for (const name of ['authority.jwk', 'signing.jwk', 'derivation.jwk'])
      await handOver(join(data, name), name)
  })

  it('ends with 78 and in words where a setting is wrong, and its health check fails where nothing listens', async () => {
    const { code, stderr } = await runInImage(
      ['/usr/bin/node', '/opt/agent-gateway/dist/launcher.js', 'serve'],
      { env: { GATEWAY_BASE_URL: 'http://gateway.example.com' } },
    )
    expect([code, stderr]).toEqual([
      78,
      expect.stringContaining('GATEWAY_BASE_URL must be https in production'),
    ])
    const health = await runInImage(['/usr/bin/node', '/opt/agent-gateway/bin/health.js'], {
      env: { PORT: String(await freePort()) },
    })
    expect([health.code, health.stdout]).toEqual([1, 'no answer\n'])
  })
})

describe('replicas on PostgreSQL, with the keys of a secret', () => {
  const copyKeys = (volume: string, from: string) =>
    runInImage(['/usr/bin/node', '/opt/agent-gateway/bin/copy-keys.js', from, DATA], {
      volumes: [`${volume}:${DATA}`, `${folder}:${KEYS}:ro`],
    })

  it('are one installation: one signing key, and what one sells the other knows', async () => {
    const database = await databaseFor('image')
    const env = { GATEWAY_DATABASE_URL: database, GATEWAY_AUTHORITY_KEY_FILE: `${KEYS}/authority.jwk` }
    const replicas = []
    for (let i = 0; i < 2; i++) {
      const volume = await newVolume()
      const copied = await copyKeys(volume, KEYS)
      expect(copied.code, copied.stderr).toBe(0)
      // As in a pod that is started anew beside its data.
      expect((await copyKeys(volume, KEYS)).code).toBe(0)
      replicas.push(await startGateway(volume, env))
    }
    const [one, two] = replicas as [(typeof replicas)[0], (typeof replicas)[0]]
    const keys = (await one.get('/.well-known/gateway-egress-key.json')) as { keys: { kty: string }[] }
    // Beside it stands the public key of the authority.
    expect(keys.keys.map(({ kty }) => kty).toSorted()).toEqual(['EC', 'OKP'])
    expect(await two.get('/.well-known/gateway-egress-key.json')).toEqual(keys)
    expect(await two.container.logs()).not.toContain('derivation.jwk')

    const bought = await createRestBuyer(one.base, chain.payers[1]!).buy(
      '/v1/credits/purchase',
      { credits: 5 },
      asOperator,
    )
    expect(bought.status, bought.text).toBe(200)
    expect(await two.get('/v1/credits')).toEqual(await one.get('/v1/credits'))
  })

  it('a secret that lacks a key is refused in words', async () => {
    const { code, stderr } = await copyKeys(await newVolume(), '/etc')
    expect([code, stderr]).toEqual([
      78,
      expect.stringContaining('holds no signing.jwk and no derivation.jwk'),
    ])
  })
})
