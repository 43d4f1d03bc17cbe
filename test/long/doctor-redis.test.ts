// The doctor before a real Redis: well, and in every way in which it can be ill. Its password is in none of its words.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/app/doctor/finding.ts'
import { examine } from '../../src/app/doctor/examine.ts'
import { createTestCa } from '../support/ca.ts'
import { bareEnv, runCli } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { removeFolder } from '../support/remove-folder.ts'

const MEANWHILE = 'Meanwhile replicas share their limits through PostgreSQL.'

let folder: string
let redis: TestRedis
let encrypted: TestRedis
let caFile: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-redis-'))
  const ca = await createTestCa()
  const { key, cert } = await ca.leaf('127.0.0.1')
  const certificate = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
  writeFileSync(certificate.certFile, cert)
  writeFileSync(certificate.keyFile, key)
  caFile = await ca.write(folder)
  redis = await startRedis()
  encrypted = await startRedis({ certificate })
})
afterAll(async () => {
  await Promise.all([redis?.stop(), encrypted?.stop()])
  await removeFolder(folder)
})
const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

const envOf = (url: string) => ({
  PORT: '0',
  GATEWAY_DATA_DIR: join(folder, 'data'),
  // Nobody is there: of the database another finding speaks.
  GATEWAY_DATABASE_URL: 'postgres://127.0.0.1:1/none',
  GATEWAY_DNS_SERVERS: '127.0.0.1:1',
  GATEWAY_REDIS_URL: url,
})
const judge = (findings: readonly Finding[]) => findings.filter(({ check }) => check === 'redis')
const look = async (url: string) => judge(await examine(bareEnv(envOf(url))))
/** A machine that is busy may take a tenth of a second for a round trip, and be told so: until it is near. */
async function untilNear(find: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  let found: readonly Finding[] = []
  await expect
    .poll(async () => (found = await find()).map(({ says }) => says))
    .not.toContainEqual(expect.stringMatching(/ms away, which is far$/))
  return found
}
const lookUntilNear = (url: string) => untilNear(() => look(url))
const inUrl = (from: TestRedis, change: (url: URL) => void) => {
  const url = new URL(from.url)
  change(url)
  return url.href
}
async function listen(server: Server): Promise<string> {
  servers.push(server.on('connection', (socket) => sockets.push(socket)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}
/** Another user of the server, with these rules. */
async function userWith(rules: readonly string[]): Promise<string> {
  const client = await createClient({ url: redis.url }).connect()
  await client.sendCommand(['ACL', 'SETUSER', 'limited', 'reset', 'on', '>canary-limited', ...rules])
  client.destroy()
  return inUrl(redis, (url) => Object.assign(url, { username: 'limited', password: 'canary-limited' }))
}

describe('the doctor and Redis', () => {
  it('says nothing where none is configured', async () => {
    const { GATEWAY_REDIS_URL: _none, ...env } = envOf(redis.url)
    expect(judge(await examine(bareEnv(env)))).toEqual([])
  })

  it('names place, version and distance of one that is well, and leaves nothing there', async () => {
    const [found] = await lookUntilNear(redis.url)
    expect(found).toMatchObject({ level: 'ok' })
    expect(found!.says).toMatch(
      /^redis:\/\/127\.0\.0\.1:\d+\/0: Redis \d+\.\d+\.\d+, (?:less than 1|\d+) ms away$/,
    )
    const client = await createClient({ url: redis.url }).connect()
    expect(await client.keys('*')).toEqual([])
    client.destroy()
  })

  it('goes without the version where it may not ask, and names a user who may not do what limits need', async () => {
    const enough = ['~{agent-gateway}:*', '+@all', '-info']
    expect(await lookUntilNear(await userWith(enough))).toMatchObject([
      { level: 'ok', says: expect.stringContaining('a server that does not say its version') },
    ])
    for (const rules of [
      ['~{agent-gateway}:*', '+@all', '-@scripting'],
      ['~other:*', '+@all'],
    ])
      expect(await look(await userWith(rules)), rules.join(' ')).toMatchObject([
        {
          level: 'warn',
          says: expect.stringContaining('may not run scripts on keys {agent-gateway}:rates:*'),
        },
      ])
  })

  it.each<[string, () => string | Promise<string>, RegExp]>([
    [
      'a wrong password',
      () => inUrl(redis, (url) => (url.password = 'canary-wrong')),
      /refuses the user or the password/,
    ],
    [
      'no password',
      () => inUrl(redis, (url) => (url.password = '')),
      /asks for a password, and GATEWAY_REDIS_URL has none/,
    ],
    [
      'a database that there is not',
      () => inUrl(redis, (url) => (url.pathname = '/99')),
      /has no database of this number/,
    ],
    [
      'nobody',
      async () => `redis://:canary@127.0.0.1:${await freePort()}`,
      /nobody listens there \(ECONNREFUSED\)/,
    ],
    [
      'a name without an address',
      () => 'redis://:canary@redis.invalid',
      /that name has no address \((?:ENOTFOUND|EAI_AGAIN)\)/,
    ],
    ['a certificate that nobody vouches for', () => encrypted.url, /certificate is not trusted \([A-Z_]+\)/],
    [
      'TLS where the server speaks none',
      () => inUrl(redis, (url) => (url.protocol = 'rediss:')),
      /does not answer|TLS handshake failed|closes the connection/,
    ],
    [
      'no TLS where the server speaks it',
      () => inUrl(encrypted, (url) => (url.protocol = 'redis:')),
      /closes the connection/,
    ],
    ['one that hangs up', () => listen(createServer((socket) => socket.destroy())), /closes the connection/],
    ['another server', () => listen(createHttpServer()), /cannot be used|closes the connection/],
  ])('warns of %s, says what to do, and what happens meanwhile', async (what, urlOf, words) => {
    const [found, ...others] = await look(await urlOf())
    expect(others).toEqual([])
    expect(found).toMatchObject({ level: 'warn', says: expect.stringMatching(words) })
    expect(found!.todo).toContain(MEANWHILE)
    if (what.includes('TLS')) expect(found!.todo).toMatch(/rediss:\/\//)
    expect(JSON.stringify(found)).not.toContain('canary')
  })

  it('warns of one that does not answer', async () => {
    const url = await listen(createServer(() => {}))
    expect(await look(url)).toMatchObject([
      { level: 'warn', says: expect.stringContaining('does not answer') },
    ])
  })

  it('warns of a copy, which takes no writes', async () => {
    const client = await createClient({ url: redis.url }).connect()
    try {
      await client.sendCommand(['REPLICAOF', '127.0.0.1', String(await freePort())])
      expect(await look(redis.url)).toMatchObject([
        { level: 'warn', says: expect.stringContaining('a copy of another server') },
      ])
    } finally {
      await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
      client.destroy()
    }
  })

  it('connects over TLS where the authority is trusted, and shows no password on the command line', async () => {
    const env = { ...envOf(encrypted.url), NODE_EXTRA_CA_CERTS: caFile }
    const found = await untilNear(async () => {
      const { stdout, stderr } = await runCli(['doctor', '--json'], env)
      expect(stdout + stderr).not.toContain(encrypted.password)
      return judge((JSON.parse(stdout) as { findings: Finding[] }).findings)
    })
    expect(found).toMatchObject([{ level: 'ok', says: expect.stringMatching(/^rediss:.*: Redis /) }])
  })
})
