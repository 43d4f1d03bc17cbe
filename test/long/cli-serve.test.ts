// Starting, refusing to start, draining and dying: the gateway as an operator's process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestChain } from '../support/chain.ts'
import { bareEnv, type GatewayProcess, startGatewayProcess } from '../support/cli.ts'
import { createClient, createWorld, type World } from '../support/gateway.ts'
import { programFile } from '../support/program-bundle.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
let started: GatewayProcess[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serve-'))
  started = []
})
afterEach(async () => {
  for (const gateway of started) gateway.kill('SIGKILL')
  await Promise.all(started.map((gateway) => gateway.ended))
  await removeFolder(folder)
})

function serve(
  env: Record<string, string> = {},
  options?: Parameters<typeof startGatewayProcess>[1],
): GatewayProcess {
  const gateway = startGatewayProcess({ PORT: '0', GATEWAY_DATA_DIR: join(folder, 'data'), ...env }, options)
  started.push(gateway)
  return gateway
}

describe('a log that is not taken', () => {
  it('ends neither the process, nor a call, nor a stop', async () => {
    const full = openSync('/dev/full', 'w')
    const gateway = spawn(process.execPath, [programFile('main')], {
      env: bareEnv({ PORT: '0', GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_LOG_LEVEL: 'info' }),
      stdio: ['ignore', 'pipe', full],
    })
    const ended = once(gateway, 'exit')
    try {
      closeSync(full)
      let said = ''
      while (!/^listening on \S+$/m.test(said)) said += String((await once(gateway.stdout!, 'data'))[0])
      const url = /^listening on (\S+)$/m.exec(said)![1]!
      for (let i = 0; i < 3; i++) expect((await fetch(`${url}/v1/credits`)).status).toBe(401)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      gateway.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      expect(existsSync(join(folder, 'data', 'gateway.json'))).toBe(false)
    } finally {
      gateway.kill('SIGKILL')
      await ended
    }
  })
})

describe('start', () => {
  it('picks a free port, says where it listens, and shows a new operator key once', async () => {
    const first = serve()
    const url = await first.listening
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(first.stderr()).toContain('SANDBOX')
    expect(JSON.parse(readFileSync(join(folder, 'data', 'gateway.json'), 'utf8'))).toEqual({
      pid: first.pid,
      url,
    })

    const key = readFileSync(join(folder, 'data', 'operator.key'), 'utf8').trim()
    expect(statSync(join(folder, 'data', 'operator.key')).mode & 0o777).toBe(0o600)
    expect(first.stdout().split(key)).toHaveLength(2)
    expect(first.stderr()).not.toContain(key)

    first.kill('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(existsSync(join(folder, 'data', 'gateway.json'))).toBe(false)

    const second = serve()
    await second.listening
    expect(second.stdout()).not.toContain('agw_sk_')
  })

  it('keeps a new key out of the logs of production', async () => {
    const gateway = serve({ GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' })
    await gateway.listening
    expect(gateway.stdout() + gateway.stderr()).not.toContain('agw_sk_')
    expect(gateway.stdout()).toContain(join(folder, 'data', 'operator.key'))
    expect(gateway.stderr()).not.toContain('SANDBOX')
  })

  it('warns in production that private ranges may be reached', async () => {
    const gateway = serve({
      GATEWAY_MODE: 'production',
      GATEWAY_BASE_URL: 'https://gateway.example',
      GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.1.0.0/16',
    })
    await gateway.listening
    expect(gateway.stderr()).toMatch(/"level":40.*10\.1\.0\.0\/16.*may reach private ranges/)
  })

  const isHardLimitOpen = /^Max core file size +\S+ +unlimited /m.test(
    readFileSync('/proc/self/limits', 'utf8'),
  )
  const CORE_LIMITS: [mode: string, limit: string, lines: number][] = [
    ['production', '0', 0],
    ['sandbox', '1', 0],
    ['production', '1', 1],
  ]
  // Nobody may allow more than the hard limit does.
  it.each(CORE_LIMITS.filter(([, limit]) => isHardLimitOpen || limit === '0'))(
    'in %s warns of core dumps under `ulimit -c %s`: %i lines',
    async (mode, limit, lines) => {
      const command = `ulimit -S -c ${limit} && exec "$0" "$@"`
      const gateway = spawn('bash', ['-c', command, process.execPath, programFile('main')], {
        env: bareEnv({
          PORT: '0',
          GATEWAY_DATA_DIR: join(folder, 'data'),
          GATEWAY_MODE: mode,
          ...(mode === 'production' && { GATEWAY_BASE_URL: 'https://gateway.example' }),
        }),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const ended = once(gateway, 'close')
      try {
        let said = ''
        gateway.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
        let listens = ''
        while (!listens.includes('listening on ')) listens += String((await once(gateway.stdout, 'data'))[0])
        gateway.kill('SIGKILL')
        await ended
        expect(said.match(/"level":40.*a core dump of up to 1024 bytes.*LimitCORE=0/g) ?? []).toHaveLength(
          lines,
        )
      } finally {
        gateway.kill('SIGKILL')
        await ended
      }
    },
  )

  it('names every problem of the configuration at once, and nothing listens', async () => {
    const gateway = serve({
      PORT: 'http',
      HOST: '0.0.0.0',
      GATEWAY_BASE_URL: 'gateway.example',
      GATEWAY_EGRESS_PORTS: '443,x',
      GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0',
      GATEWAY_OPERATOR_KEY: 'agw_sk_short',
    })
    expect(await gateway.ended).toEqual({ code: 78, signal: null })
    const problems = gateway.stderr().split('\n- ').slice(1)
    expect(problems.map((problem) => /GATEWAY_\w+|HOST|PORT/.exec(problem)![0]).sort()).toEqual([
      'GATEWAY_BASE_URL',
      'GATEWAY_EGRESS_PORTS',
      'GATEWAY_OPERATOR_KEY',
      'GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS',
      'HOST',
      'PORT',
    ])
    expect(gateway.stderr()).not.toContain('agw_sk_short')
    expect(gateway.stdout()).toBe('')
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })

  it('warns of a data directory that is open to other users', async () => {
    mkdirSync(join(folder, 'data'))
    chmodSync(join(folder, 'data'), 0o755)
    const gateway = serve()
    await gateway.listening
    expect(gateway.stderr()).toMatch(/"level":40.*the data directory is open to other users/)
  })

  it('warns of a misspelled variable, names the nearest, and starts', async () => {
    const gateway = serve({ GATEWAY_LOGLEVEL: 'a-value-of-somebody' })
    await gateway.listening
    expect(gateway.stderr()).toMatch(
      /"level":40.*GATEWAY_LOGLEVEL is no variable of the gateway and is not read\. Did you mean GATEWAY_LOG_LEVEL\?/,
    )
    expect(gateway.stderr()).not.toContain('a-value-of-somebody')
  })

  it('says beside a missing variable which one was misspelled', async () => {
    const gateway = serve({ GATEWAY_MODE: 'production', GATEWAY_BASEURL: 'https://gateway.example' })
    expect((await gateway.ended).code).toBe(78)
    expect(gateway.stderr()).toContain('- GATEWAY_BASE_URL is required in production')
    expect(gateway.stderr()).toContain('GATEWAY_BASEURL is no variable of the gateway')
  })

  it('reads the settler key before anything listens, and says what is wrong with it', async () => {
    const file = join(folder, 'settler.key')
    writeFileSync(file, `0x${'5a'.repeat(32)}`, { mode: 0o644 })
    const gateway = serve({ GATEWAY_SETTLER_KEY_FILE: file })
    expect((await gateway.ended).code).toBe(78)
    expect(gateway.stderr()).toContain(`- GATEWAY_SETTLER_KEY_FILE: ${file} may be read by others: chmod 600`)
    expect(gateway.stdout()).toBe('')
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })

  it('has every chain prove its token before anything listens', async () => {
    const chain = await startTestChain(84532)
    try {
      const gateway = serve({ GATEWAY_RPC_8453: chain.rpcUrl, GATEWAY_RPC_84532: chain.rpcUrl })
      expect((await gateway.ended).code).toBe(78)
      const problems = gateway.stderr().split('\n- ').slice(1)
      expect(problems).toEqual([
        expect.stringMatching(/^GATEWAY_RPC_8453: the node answers for another chain than 8453/),
      ])
      expect(gateway.stderr()).not.toContain(chain.rpcUrl)
      expect(gateway.stdout()).toBe('')
      expect(existsSync(join(folder, 'data'))).toBe(false)
    } finally {
      await chain.close()
    }
  })

  it('does not pass over the endpoint of a chain that no token is known on', async () => {
    const gateway = serve({ GATEWAY_RPC_59144: 'http://127.0.0.1:1' })
    expect((await gateway.ended).code).toBe(78)
    expect(gateway.stderr()).toMatch(/- GATEWAY_RPC_59144: no USDC is known .* in GATEWAY_PAYMENT_ASSETS/)
  })

  it.each([
    ['in production', { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' }],
    ['with a log that says nothing', { GATEWAY_LOG_LEVEL: 'silent' }],
  ])('names a variable that it does not know, %s', async (_, env) => {
    const gateway = serve({ ...env, GATEWAY_DATA_DRI: '/x' })
    await gateway.listening
    expect(gateway.stderr()).toContain(
      'GATEWAY_DATA_DRI is no variable of the gateway and is not read. Did you mean GATEWAY_DATA_DIR?',
    )
  })

  it('warns in production that nobody can pay', async () => {
    const gateway = serve({ GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' })
    await gateway.listening
    expect(gateway.stderr()).toMatch(/"level":40.*nobody can pay: set GATEWAY_PAY_TO/)
  })

  it.each([
    ['a fault point that there is not', { GATEWAY_FAULT: 'after_lunch:kill' }, 'GATEWAY_FAULT: use <point>:'],
    [
      'fault injection in production',
      { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://g.example', GATEWAY_FAULT: 'after_send:kill' },
      'refused in production',
    ],
    ['production without an address', { GATEWAY_MODE: 'production' }, 'GATEWAY_BASE_URL is required'],
  ])('refuses %s', async (_, env, words) => {
    const gateway = serve(env)
    expect((await gateway.ended).code).toBe(78)
    expect(gateway.stderr()).toContain(words)
  })

  it('says in one line that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const gateway = serve({ PORT: String(port) })
    const { code } = await gateway.ended
    await new Promise((resolve) => other.close(resolve))
    expect(code).toBe(1)
    expect(gateway.stderr()).toBe(
      `agent-gateway: Port ${port} on 127.0.0.1 is taken by another process. ` +
        'Stop that one, or set PORT (PORT=0 picks a free port).\n',
    )
  })

  it('says in one line that the data directory cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '')
    const gateway = serve({ GATEWAY_DATA_DIR: join(folder, 'file', 'data') })
    expect((await gateway.ended).code).toBe(78)
    expect(gateway.stderr()).toMatch(/^agent-gateway: .*\/file.* is not a directory\. Set GATEWAY_DATA_DIR/)
  })

  it('says that the database does not answer, without the words of the driver', async () => {
    const gateway = serve({ GATEWAY_DATABASE_URL: 'postgres://somebody:opensesame@127.0.0.1:1/gateway' })
    expect((await gateway.ended).code).not.toBe(0)
    expect(gateway.stderr()).toMatch(/^agent-gateway: .*(?:PostgreSQL|database|GATEWAY_DATABASE_URL)/m)
    expect(gateway.stderr()).not.toMatch(/opensesame|ECONNREFUSED 127/)
  })

  it('ends at the first signal while it is still starting', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    const asked = once(silent, 'connection')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const gateway = serve({ GATEWAY_DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c` })
    const [connection] = (await asked) as [Socket]
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
    expect(gateway.stderr()).toContain('stopped before the start was over')
    connection.destroy()
    silent.close()
  })

  it('leaves a data directory to the process that owns it, and gets it once that one is killed', async () => {
    const owner = serve()
    const url = await owner.listening
    const intruder = serve()
    expect((await intruder.ended).code).not.toBe(0)
    expect(intruder.stderr()).toContain(`${join(folder, 'data')} is in use by another gateway process`)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)

    owner.kill('SIGKILL')
    await owner.ended
    const heir = serve()
    expect((await fetch(`${await heir.listening}/healthz`)).status).toBe(200)
  })
})

describe('end', () => {
  let world: World
  let gateway: GatewayProcess
  let baseUrl: string
  /** Resolves with the answer to give once the upstream holds a request. */
  let held: Promise<ServerResponse>
  let call: Promise<{ status: number }>

  beforeEach(async () => {
    world = await createWorld()
    gateway = serve(
      { ...world.env, NODE_EXTRA_CA_CERTS: await world.ca.write(world.dataDir) },
      { upstreamsOnLoopback: true },
    )
    baseUrl = await gateway.listening
    held = new Promise((resolve) => world.upstream.respond((_request, res) => resolve(res)))
    const client = createClient(baseUrl, world)
    const { capability } = await client.grant()
    call = client.fetch(capability, { method: 'GET', url: world.url('/held') })
    // Tests that kill the gateway do not look at the answer.
    call.catch(() => {})
    await held
  })
  afterEach(() => world.close())

  it('finishes the running call at SIGTERM, takes no new ones, and ends with 0', async () => {
    gateway.kill('SIGTERM')
    await gateway.until('stderr', /draining/)
    await expect(fetch(`${baseUrl}/healthz`)).rejects.toThrow('fetch failed')
    ;(await held).writeHead(200, { 'content-type': 'text/plain' }).end('late')
    expect((await call).status).toBe(200)
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
  })

  it('takes the same signal twice in a moment as one: a terminal, npm and the launcher each send it', async () => {
    const at = performance.now()
    gateway.kill('SIGINT')
    gateway.kill('SIGINT')
    await gateway.until('stderr', /draining/)
    // What comes more than a second after the first is another wish.
    if (performance.now() - at < 500) gateway.kill('SIGINT')
    ;(await held).writeHead(200).end('late')
    expect((await call).status).toBe(200)
    expect((await gateway.ended).code).toBe(0)
  })

  it('takes calls during the grace after SIGTERM, while a balancer already hears that it is not ready', async () => {
    const leaving = serve({ GATEWAY_DATA_DIR: join(folder, 'other'), GATEWAY_DRAIN_GRACE_SECONDS: '300' })
    const url = await leaving.listening
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    leaving.kill('SIGTERM')
    await leaving.until('stderr', /draining/)
    const statuses = await Promise.all(
      ['/readyz', '/livez', '/healthz'].map(async (path) => (await fetch(`${url}${path}`)).status),
    )
    expect(statuses).toEqual([503, 200, 200])
    leaving.kill('SIGINT')
    expect((await leaving.ended).code).toBe(1)
    ;(await held).destroy()
    await call
  })

  it('ends at once at another signal', async () => {
    gateway.kill('SIGTERM')
    await gateway.until('stderr', /draining/)
    gateway.kill('SIGINT')
    expect((await gateway.ended).code).toBe(1)
    await expect(call).rejects.toThrow()
    ;(await held).destroy()
  })
})
