// The doctor against sick installations: every illness is named, with what to do, and no secret is shown.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/app/doctor/finding.ts'
import { bareEnv, runCli, startGatewayProcess } from '../support/cli.ts'
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts'
import { startTestChain } from '../support/chain.ts'
import { startFacilitator } from '../support/facilitator-server.ts'
import { exactKind } from '../support/payment-fakes.ts'
import { databaseFor } from '../support/postgres.ts'
import { examine } from '../../src/app/doctor/examine.ts'
import { UNFINISHED_TABLE } from '../../src/store/postgres/unfinished.ts'
import { removeFolder } from '../support/remove-folder.ts'

let dns: TestDnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.close())

let folder: string
let env: Record<string, string>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  env = { PORT: '0', GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_DNS_SERVERS: dns.address }
})
afterEach(() => removeFolder(folder))

const data = (name: string) => join(folder, 'data', name)
const look = (more: Record<string, string> = {}) => examine(bareEnv({ ...env, ...more }))
const found = (findings: readonly Finding[], check: string) =>
  findings.filter((finding) => finding.check === check)

/** A data directory as a gateway leaves it behind. */
async function lived(more: Record<string, string> = {}): Promise<void> {
  const gateway = startGatewayProcess({ ...env, ...more })
  await gateway.listening
  gateway.kill('SIGTERM')
  expect((await gateway.ended).code).toBe(0)
}

describe('doctor', () => {
  it('is content before the first start, and says what the first start makes', async () => {
    const { code, stdout, stderr } = await runCli(['doctor'], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^warn {2}data directory .* does not exist yet\n +It is made at the first start/m)
    expect(stdout).toMatch(/\n0 failed, \d+ to look at, \d+ ok\n$/)
  })

  it('reads the own providers as a start would, and says every mistake with its place', async () => {
    const file = join(folder, 'providers.json')
    const entry = {
      id: 'acme',
      name: 'Acme',
      hosts: ['api.acme.example.com'],
      test_call: { method: 'GET', url: 'https://api.acme.example.com/me', what: 'Read' },
      docs: 'https://docs.acme.example.com/',
    }
    const lookAt = async (text: string) => {
      writeFileSync(file, text)
      return found(await look({ GATEWAY_PROVIDERS_FILE: file }), 'providers')
    }
    expect(found(await look(), 'providers')).toMatchObject([{ level: 'ok' }])
    expect(await lookAt(JSON.stringify({ providers: [entry] }))).toMatchObject([
      { level: 'ok', says: expect.stringContaining(`1 of ${file}`) },
    ])
    expect(await lookAt(`{"providers": [\n {"id": "acme",}]}`)).toMatchObject([
      { level: 'fail', says: 'GATEWAY_PROVIDERS_FILE: it is not JSON: look at line 2, column 16' },
    ])
    const wrong = [
      { ...entry, hosts: ['127.0.0.1'] },
      entry,
      { ...entry, id: 'github' },
      { ...entry, docs: 'x' },
    ]
    expect(
      (await lookAt(JSON.stringify({ providers: wrong }))).map(({ level, says }) => `${level} ${says}`),
    ).toEqual([
      expect.stringMatching(/^fail GATEWAY_PROVIDERS_FILE: providers\[0\]\.hosts\.0: /),
      expect.stringMatching(/^fail .*providers\[2\] \(github\): the gateway has a provider of this id/),
      expect.stringMatching(/^fail .*providers\[3\]\.docs: /),
    ])
    expect(found(await look({ GATEWAY_PROVIDERS_FILE: join(folder, 'none') }), 'providers')).toMatchObject([
      { level: 'fail', says: expect.stringContaining('cannot be read (ENOENT)') },
    ])
  })

  it('says that a running gateway has not read the own providers as they are now', async () => {
    const file = join(folder, 'providers.json')
    writeFileSync(file, '{"providers": []}')
    const gateway = startGatewayProcess({ ...env, GATEWAY_PROVIDERS_FILE: file })
    try {
      await gateway.listening
      expect(found(await look({ GATEWAY_PROVIDERS_FILE: file }), 'providers')).toMatchObject([
        { level: 'ok' },
      ])
      utimesSync(file, new Date(), new Date(Date.now() + 5_000))
      expect(found(await look({ GATEWAY_PROVIDERS_FILE: file }), 'providers')).toMatchObject([
        { level: 'warn', says: expect.stringContaining('changed since the gateway started') },
      ])
    } finally {
      gateway.kill('SIGTERM')
      await gateway.ended
    }
  })

  it('finds nothing wrong beside a running gateway, and nothing secret is in its words', async () => {
    const gateway = startGatewayProcess(env)
    try {
      const url = await gateway.listening
      const { port } = new URL(url)
      const { code, stdout } = await runCli(['doctor', '--json'], {
        ...env,
        PORT: port,
        GATEWAY_BASE_URL: url,
      })
      const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] }
      expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
      expect({ ok, code }).toEqual({ ok: true, code: 0 })
      expect(found(findings, 'port')[0]!.says).toContain(`in use by this gateway (process ${gateway.pid})`)
      expect(found(findings, 'base url')[0]!.says).toBe(`${url} answers`)
      for (const file of ['operator.key', 'authority.jwk', 'signing.jwk', 'derivation.jwk'])
        for (const word of readFileSync(data(file), 'utf8').match(/[\w-]{30,}/g) ?? [])
          expect(stdout).not.toContain(word)
    } finally {
      gateway.kill('SIGTERM')
      await gateway.ended
    }
  })

  it('says what consent records have to name, and in production warns where one resolver decides alone', async () => {
    expect(found(await look({ GATEWAY_EDGE_NAME: 'gw.example.com' }), 'edge')).toMatchObject([
      { level: 'ok', says: 'consent records name gw=gw.example.com; 1 resolver must agree' },
    ])
    const production = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gw.example.com' }
    const edgeOf = async (more: Record<string, string>) =>
      found(await look({ ...production, ...more }), 'edge')
    expect(await edgeOf({})).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('two or more validating resolvers') },
    ])
    const two = { GATEWAY_DNS_SERVERS: `${dns.address},127.0.0.1:1` }
    expect(await edgeOf(two)).toMatchObject([
      { level: 'ok', says: 'consent records name gw=gw.example.com; 2 resolvers must agree' },
    ])
    expect(await edgeOf({ ...two, GATEWAY_BASE_URL: 'http://127.0.0.1:1' })).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('GATEWAY_EDGE_NAME') },
    ])
  })

  it('names keys that others can read, that are broken, and that are another kind of key', async () => {
    await lived()
    expect(found(await look(), 'authority key')).toMatchObject([{ level: 'ok' }])
    chmodSync(data('authority.jwk'), 0o644)
    writeFileSync(data('operator.key'), readFileSync(data('operator.key'), 'utf8').replace(/.\n$/, '_\n'))
    const { kty, crv, x } = JSON.parse(readFileSync(data('signing.jwk'), 'utf8')) as Record<string, string>
    writeFileSync(data('signing.jwk'), JSON.stringify({ kty, crv, x }))
    writeFileSync(data('derivation.jwk'), JSON.stringify({ kty: 'oct', k: 'c2hvcnQ' }))
    const findings = await look()
    expect(found(findings, 'authority key')).toMatchObject([
      { level: 'fail', todo: expect.stringContaining('chmod 600') },
    ])
    expect(found(findings, 'operator key')).toMatchObject([{ level: 'fail' }])
    expect(found(findings, 'signing key')).toMatchObject([{ level: 'fail' }])
    expect(found(findings, 'derivation key')).toMatchObject([{ level: 'fail' }])
    const mistyped = await look({ GATEWAY_OPERATOR_KEY: `agw_sk_${'0'.repeat(49)}` })
    expect(found(mistyped, 'configuration')).toMatchObject([
      { level: 'fail', says: expect.stringContaining('GATEWAY_OPERATOR_KEY') },
    ])
  })

  it('warns of a variable that nobody reads, beside a configuration that is fine and beside one that is not', async () => {
    const warning = { level: 'warn', says: expect.stringContaining('Did you mean GATEWAY_LOG_LEVEL?') }
    const fine = await look({ GATEWAY_LOGLEVEL: 'debug' })
    expect(found(fine, 'configuration')).toMatchObject([{ level: 'ok' }, warning])
    const broken = await look({ GATEWAY_LOGLEVEL: 'debug', GATEWAY_MODE: 'live' })
    expect(found(broken, 'configuration')).toMatchObject([{ level: 'fail' }, warning])
  })

  it('names a damaged database, and one of a newer release', async () => {
    await lived()
    expect(found(await look(), 'database')).toMatchObject([{ level: 'ok' }])

    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(data('gateway.db'))
    db.exec('INSERT INTO migrations (version, applied_at) VALUES (99, 0)')
    db.close()
    expect(found(await look(), 'database')).toMatchObject([
      { level: 'fail', says: expect.stringContaining('version 99') },
    ])
    const again = new DatabaseSync(data('gateway.db'))
    again.exec('INSERT INTO table_terms (version, usable_from) VALUES (99, 1)')
    again.close()
    expect(found(await look(), 'database')).toMatchObject([
      { level: 'warn', says: expect.stringContaining('which this one can use') },
    ])

    writeFileSync(data('gateway.db'), Buffer.alloc(8192, 'not a database '))
    expect(found(await look(), 'database')).toMatchObject([
      { level: 'fail', todo: expect.stringContaining('backup') },
    ])
  })

  it('names a data directory that is open, and one that is none', async () => {
    mkdirSync(data(''), { mode: 0o755, recursive: true })
    expect(found(await look(), 'data directory')).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('chmod 700') },
    ])
    writeFileSync(join(folder, 'file'), '')
    const findings = await look({ GATEWAY_DATA_DIR: join(folder, 'file') })
    expect(found(findings, 'data directory')).toMatchObject([{ level: 'fail' }])
  })

  it('names a clock that went back', async () => {
    await lived()
    expect(found(await look(), 'clock')).toMatchObject([{ level: 'ok' }])
    const tomorrow = new Date(Date.now() + 86_400_000)
    utimesSync(data('gateway.db'), tomorrow, tomorrow)
    expect(found(await look(), 'clock')).toMatchObject([
      { level: 'fail', says: expect.stringContaining('went back') },
    ])
  })

  it('names a port that is taken, and is content when it is free', async () => {
    const other: Server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const PORT = String((other.address() as AddressInfo).port)
    expect(found(await look({ PORT }), 'port')).toMatchObject([
      { level: 'fail', says: expect.stringContaining('taken') },
    ])
    await new Promise((resolve) => other.close(resolve))
    expect(found(await look({ PORT }), 'port')).toMatchObject([{ level: 'ok' }])
  })

  it('names a DNS server that does not answer: a failure in production, a hint in the sandbox', async () => {
    const gone = await startDnsServer()
    await gone.close()
    const silent = { GATEWAY_DNS_SERVERS: `${dns.address},${gone.address}` }
    expect(found(await look(silent), 'dns')).toMatchObject([{ level: 'ok' }, { level: 'warn' }])
    const production = { ...silent, GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'http://127.0.0.1:9' }
    expect(found(await look(production), 'dns')).toMatchObject([{ level: 'ok' }, { level: 'fail' }])
  })

  it('names a base URL that does not answer, and protections that are off', async () => {
    const findings = await look({
      GATEWAY_BASE_URL: 'http://127.0.0.1:9',
      GATEWAY_EGRESS_PORTS: '443,8443',
      GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0/8',
    })
    expect(found(findings, 'base url')).toMatchObject([{ level: 'fail' }])
    expect(found(findings, 'egress ports')).toMatchObject([{ level: 'warn', says: '443, 8443' }])
    expect(found(findings, 'egress ranges')).toMatchObject([
      { level: 'warn', says: expect.stringContaining('10.0.0.0/8') },
    ])
  })

  it('looks at PostgreSQL: reachable, migrated, in time; and says when it is not', async () => {
    const url = await databaseFor('doctor')
    const before = await look({ GATEWAY_DATABASE_URL: url })
    expect(found(before, 'database')).toMatchObject([
      { level: 'warn', says: expect.stringContaining('table version 0') },
    ])
    await lived({ GATEWAY_DATABASE_URL: url })
    const after = await look({ GATEWAY_DATABASE_URL: url })
    expect(found(after, 'database')).toMatchObject([{ level: 'ok' }])
    expect(found(after, 'clock skew')).toMatchObject([{ level: 'ok' }])

    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`CREATE TABLE ${UNFINISHED_TABLE} (begun_at TIMESTAMPTZ NOT NULL DEFAULT now())`)
    await client.end()
    expect(found(await look({ GATEWAY_DATABASE_URL: url }), 'database')).toMatchObject([
      { level: 'fail', says: expect.stringContaining(`DROP TABLE ${UNFINISHED_TABLE}`) },
    ])

    const wrong = await look({ GATEWAY_DATABASE_URL: 'postgres://somebody:opensesame@127.0.0.1:9/none' })
    expect(found(wrong, 'database')).toMatchObject([{ level: 'fail' }])
    expect(JSON.stringify(wrong)).not.toContain('opensesame')
  })

  it('looks at payments: who is paid, chains, facilitators, and whether the settler can pay its gas', async () => {
    const chain = await startTestChain(84532)
    const facilitator = await startFacilitator({ kinds: [exactKind('eip155:84532')] })
    try {
      const sandbox = await look(chain.env)
      expect(found(sandbox, 'paid to')).toMatchObject([{ level: 'ok', says: chain.payTo }])
      expect(found(sandbox, 'chain 84532')).toMatchObject([{ level: 'ok' }])
      expect(found(sandbox, 'settler gas')).toMatchObject([{ level: 'ok' }])

      const production = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'http://127.0.0.1:9' }
      expect(found(await look({ ...chain.env, ...production }), 'chain 84532')).toMatchObject([
        { level: 'fail', says: expect.stringContaining('development chain') },
      ])

      const poor = join(folder, 'poor.key')
      writeFileSync(poor, `0x${'5a'.repeat(32)}`, { mode: 0o600 })
      const broke = await look({ ...chain.env, GATEWAY_SETTLER_KEY_FILE: poor })
      expect(found(broke, 'settler gas')).toMatchObject([
        {
          level: 'fail',
          todo: expect.stringMatching(/^Send native coin for gas to 0x[0-9a-fA-F]{40} on Base Sepolia/),
        },
      ])
      expect(JSON.stringify(broke)).not.toContain('5a5a5a5a')
      const both = await look({
        ...chain.env,
        GATEWAY_SETTLER_KEY_FILE: `${chain.settlerKeyFile},${poor}`,
      })
      expect(found(both, 'settler key')).toMatchObject([{ says: chain.settlerKeyFile }, { says: poor }])
      expect(found(both, 'settler gas').map(({ level }) => level)).toEqual(['ok', 'fail'])

      const { GATEWAY_SETTLER_KEY_FILE: _, ...upstream } = chain.env
      const routed = await look({
        ...upstream,
        GATEWAY_FACILITATORS: `${facilitator.url},http://127.0.0.1:9`,
      })
      expect(found(routed, 'facilitator')).toMatchObject([
        { level: 'ok', says: expect.stringContaining('Base Sepolia') },
        { level: 'fail', todo: expect.stringContaining('GATEWAY_FACILITATORS') },
      ])
      const elsewhere = await look({ GATEWAY_RPC_8453: chain.rpcUrl, GATEWAY_FACILITATORS: facilitator.url })
      expect(found(elsewhere, 'chain 8453')).toMatchObject([
        { level: 'fail', says: expect.stringContaining('another chain') },
      ])
      expect(found(elsewhere, 'facilitator')).toMatchObject([{ level: 'warn' }])
    } finally {
      await facilitator.close()
      await chain.close()
    }
  })

  it('says in production what is missing to be paid, and what keeps the gateway from starting', async () => {
    const production = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'http://127.0.0.1:9' }
    const bare = found(await look(production), 'payments')
    expect(bare.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn'])
    const broken = await look({ ...production, GATEWAY_SETTLER_KEY_FILE: join(folder, 'none') })
    expect(found(broken, 'payments').filter(({ level }) => level === 'fail')).toMatchObject([
      { says: expect.stringContaining('no chain to settle on') },
      { says: expect.stringContaining('does not exist') },
    ])
  })

  it('lists the problems of the configuration and ends with 1', async () => {
    const { code, stdout } = await runCli(['doctor'], { ...env, PORT: 'x', GATEWAY_MCP_NAMES: 'y' })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fail {2}configuration {2}PORT must be/m)
    expect(stdout).toMatch(/^fail {2}configuration {2}GATEWAY_MCP_NAMES must be/m)
  })

  it.each([
    ['does not exist', undefined],
    ['holds no certificate', 'not a certificate'],
  ])('says when the extra certificates are of no use: the file %s', async (words, content) => {
    const file = join(folder, 'ca.pem')
    if (content !== undefined) writeFileSync(file, content)
    const { code, stdout } = await runCli(['doctor'], { ...env, NODE_EXTRA_CA_CERTS: file })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      new RegExp(`^fail +extra certificates +NODE_EXTRA_CA_CERTS: ${file} ${words}`, 'm'),
    )
  })
})
