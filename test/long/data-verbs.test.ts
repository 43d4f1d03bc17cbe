// backup, restore and migrate as an operator runs them, as processes and against both engines: under a load of writers, killed in the middle, with the
// wrong keys. Whatever is brought to another place starts there, and its calls go on.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { openStore } from '../../src/store/index.ts'
import { runCli, startGatewayProcess as startPlain } from '../support/cli.ts'
import { createWorld, ENGINES, type Engine, type World } from '../support/gateway.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { databaseFor } from '../support/postgres.ts'
import {
  addAccount,
  log,
  nextTransaction,
  NOW,
  queryOf,
  sumOfLedger,
  times,
  unbalancedAccounts,
} from '../support/store.ts'

const KEY_FILES = ['authority.jwk', 'signing.jwk', 'derivation.jwk']

const worlds: World[] = []
let folders = 0

/** Variables of an empty place for the data of the world, with its key files. */
async function newPlace(world: World, engine: Engine, keys: readonly string[] = KEY_FILES): Promise<Env> {
  const dataDir = join(world.dataDir, `place-${++folders}`)
  await mkdir(dataDir, { mode: 0o700 })
  for (const name of keys) await cp(join(world.env['GATEWAY_DATA_DIR']!, name), join(dataDir, name))
  const { GATEWAY_DATABASE_URL: _url, ...env } = world.env
  return {
    ...env,
    GATEWAY_DATA_DIR: dataDir,
    ...(engine === 'postgres' && { GATEWAY_DATABASE_URL: await databaseFor('verbs') }),
  }
}
type Env = Readonly<Record<string, string>>

const placeOf = (env: Env) => ({
  query: queryOf({ dataDir: env['GATEWAY_DATA_DIR']!, databaseUrl: env['GATEWAY_DATABASE_URL'] }),
})
const startAt = (world: World, env: Env) => startGatewayProcess({ ...world, env })
async function run(args: readonly string[], env: Env) {
  const { code, stdout, stderr } = await runCli(args, env)
  return { code, stdout, said: stdout + stderr }
}
/** What a gateway says that does not start. One that does is ended, and fails the test. */
async function refusal(env: Env): Promise<string> {
  const started = startPlain(env)
  void started.listening.then(
    () => started.kill('SIGKILL'),
    () => {},
  )
  const { code } = await started.ended
  const said = started.stdout() + started.stderr()
  expect([code, said]).toEqual([expect.toSatisfy((exit) => exit !== 0 && exit !== null), expect.any(String)])
  return said
}

async function seed(world: World) {
  const gateway = await startAt(world, world.env)
  const { capability } = await gateway.grant({ capability: { ttl_seconds: 86_400 } })
  const receipts: string[] = []
  for (let i = 0; i < 3; i++) {
    const answer = await gateway.fetch(capability, { url: world.url(`/seed-${i}`), method: 'GET' })
    receipts.push(answer.body.receipt.jws)
  }
  return { gateway, capability, receipts }
}

/** It serves the same accounts and capabilities, with the same keys, and counts on. */
async function expectAlive(world: World, env: Env, was: { capability: string; receipts: string[] }) {
  const gateway = await startAt(world, env)
  try {
    const balance = await gateway.balance()
    const answer = await gateway.fetch(was.capability, { url: world.url('/after'), method: 'GET' })
    expect([answer.status, answer.body.code]).toEqual([200, undefined])
    expect(await gateway.balance()).toBe(balance - 1)
    const keys = (await gateway.rest('GET', '/.well-known/gateway-egress-key.json')).body
    for (const jws of [...was.receipts, answer.body.receipt.jws])
      expect(await verifyJws(jws, keys, JWS_TYPES.receipt)).toMatchObject({ ok: true })
  } finally {
    await gateway.stop('SIGTERM')
  }
  expect(await unbalancedAccounts(placeOf(env))).toEqual([])
  expect(await sumOfLedger(placeOf(env))).toBe(0)
}

afterAll(async () => {
  for (const world of worlds) await world.close()
})

describe.each(ENGINES)('from a gateway on %s', (engine) => {
  let world: World
  let gateway: GatewayProcess
  let seeded: Awaited<ReturnType<typeof seed>>
  let backup: string
  beforeAll(async () => {
    // Enough for whatever callers spend until the backup is made.
    world = await createWorld({ engine, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000000' } })
    worlds.push(world)
    seeded = await seed(world)
    gateway = seeded.gateway
    backup = join(world.dataDir, 'seeded.gz')
  })
  afterAll(async () => {
    await gateway.stop()
  })

  it('a backup is made while calls go on, and is one moment of them', async () => {
    const load = { isDone: false, calls: 0, grants: 0 }
    const callers = times(8, async () => {
      while (!load.isDone) {
        const { status } = await gateway.fetch(seeded.capability, { url: world.url('/load'), method: 'GET' })
        if (status === 200) load.calls++
      }
    })
    const grants = (async () => {
      while (!load.isDone) {
        const { account_id } = (await gateway.rest('GET', '/v1/credits')).body
        const grant = { account_id, amount: 50, reference: `more-${load.grants}` }
        const { status } = await gateway.rest('POST', '/v1/credits/grants', grant)
        if (status === 201) load.grants++
      }
    })()
    const made = await run(['backup', '--out', backup, '--json'], world.env)
    load.isDone = true
    await Promise.all([...callers, grants])
    expect([made.code, made.said]).toEqual([0, expect.stringContaining('"sha256"')])
    expect(load.calls).toBeGreaterThan(0)
    expect(load.grants).toBeGreaterThan(0)
    expect(await readdir(world.dataDir)).not.toContainEqual(expect.stringMatching(/\.part$/))
    // No key and no secret, whatever the compression hides.
    for (const name of KEY_FILES) {
      const key = JSON.parse(await readFile(join(world.env['GATEWAY_DATA_DIR']!, name), 'utf8'))
      const text = gunzipSync(await readFile(backup)).toString()
      for (const secret of [key.d, key.k].filter(Boolean)) expect(text).not.toContain(secret)
      expect(text).not.toContain('upstream-secret-1')
    }
  })

  it('it is restored into the other engine, where calls go on', async () => {
    const env = await newPlace(world, engine === 'sqlite' ? 'postgres' : 'sqlite')
    const restored = await run(['restore', backup], env)
    expect([restored.code, restored.said]).toEqual([
      0,
      expect.stringMatching(/every balance is what its ledger adds up to/),
    ])
    expect(restored.stdout).toMatch(/[1-9]\d* receipts of a sample verify/)
    await expectAlive(world, env, seeded)
    const events = await placeOf(env).query(`SELECT body FROM audit_events WHERE chain = 'installation'`)
    expect(events.map(({ body }) => JSON.parse(String(body)).event)).toContain('backup.restored')
    expect((await run(['restore', backup], env)).said).toMatch(/not empty/)
  })

  it('a restore that is killed leaves a place where no gateway starts, and is run again', async () => {
    const env = await newPlace(world, engine)
    const { code } = await runCli(['restore', backup], { ...env, GATEWAY_FAULT: 'after_rows_loaded:kill' })
    expect(code).toBe(null)
    expect(await refusal(env)).toMatch(/was begun and did not end/)
    expect((await run(['restore', backup], env)).code).toBe(0)
    await expectAlive(world, env, seeded)
  })

  // What does not depend on the engine.
  if (engine === 'postgres') return

  it('a backup that is killed leaves no file of its name', async () => {
    const file = join(world.dataDir, 'killed.gz')
    const { code } = await runCli(['backup', '--out', file], {
      ...world.env,
      GATEWAY_FAULT: 'after_backup_written:kill',
    })
    expect(code).toBe(null)
    expect(await readdir(world.dataDir)).not.toContain('killed.gz')
    expect((await run(['backup', '--out', file], world.env)).code).toBe(0)
  })

  it('is not restored without the keys that its data needs, and says which', async () => {
    const missing = await newPlace(world, engine, ['signing.jwk'])
    const said = (await run(['restore', backup], missing)).said
    expect(said).toMatch(/authority\.jwk: It is missing[^]*derivation\.jwk: It is missing/)
    expect(said).toContain('Nothing was written.')
    expect((await readdir(missing['GATEWAY_DATA_DIR']!)).toSorted()).toEqual(['signing.jwk'])

    const other = await newPlace(world, engine)
    const wrong = join(other['GATEWAY_DATA_DIR']!, 'derivation.jwk')
    await writeFile(
      wrong,
      `${JSON.stringify({ kty: 'oct', k: Buffer.alloc(32, 7).toString('base64url') })}\n`,
    )
    expect((await run(['restore', backup], other)).said).toMatch(
      /derivation\.jwk: It is the key of another installation/,
    )
  })

  it('ends every token but the operator key where that is asked for', async () => {
    const env = await newPlace(world, engine)
    const restored = await run(['restore', backup, '--revoke-tokens'], env)
    expect([restored.code, restored.said]).toEqual([
      0,
      expect.stringContaining('(1 service keys, 0 capabilities'),
    ])
    const revived = await startAt(world, env)
    try {
      const answer = await revived.fetch(seeded.capability, { url: world.url('/thief'), method: 'GET' })
      expect(answer.status).toBe(401)
      expect((await revived.rest('GET', '/v1/credits')).status).toBe(200)
    } finally {
      await revived.stop()
    }
  })

  it('is not restored in the other mode, nor by a release that does not know it', async () => {
    const env = await newPlace(world, engine)
    const production = { ...env, GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' }
    const said = (await run(['restore', backup], production)).said
    expect(said).toMatch(/is of a gateway in sandbox mode/)

    const text = gunzipSync(await readFile(backup)).toString('latin1')
    const newer = join(world.dataDir, 'newer.gz')
    await writeFile(
      newer,
      gzipSync(Buffer.from(text.replace(/"schema_version":\d+/, '"schema_version":999'), 'latin1')),
    )
    expect((await run(['restore', newer], env)).said).toMatch(/table version 999\), and this release knows/)
    // What is refused in words leaves a place like any other.
    expect((await run(['restore', backup], env)).code).toBe(0)
  })
})

describe('moving from SQLite to PostgreSQL', () => {
  let world: World
  let seeded: Awaited<ReturnType<typeof seed>>
  beforeAll(async () => {
    world = await createWorld()
    worlds.push(world)
    seeded = await seed(world)
  })

  it('is refused while a gateway runs there, and by an address that is an argument', async () => {
    const env = { ...world.env, GATEWAY_DATABASE_URL: await databaseFor('moved') }
    expect((await run(['migrate'], env)).said).toMatch(/A gateway runs on/)
    await seeded.gateway.stop('SIGTERM')
    const said = (await run(['migrate', '--to', 'postgres://user:hunter2@127.0.0.1/x'], world.env)).said
    expect(said).toMatch(/holds its password/)
    expect(said).not.toContain('hunter2')
    expect((await run(['migrate'], world.env)).said).toMatch(/Where to\?/)
  })

  it('begins anew after it was killed, knows when all had arrived, and keeps the copy from starting', async () => {
    const env = { ...world.env, GATEWAY_DATABASE_URL: await databaseFor('moved') }
    const before = await readFile(join(world.env['GATEWAY_DATA_DIR']!, 'gateway.db'))
    await runCli(['migrate'], { ...env, GATEWAY_FAULT: 'after_rows_loaded:kill' })
    expect(await refusal(world.env)).toMatch(/was begun on .* and did not end/)
    expect(await refusal(env)).toMatch(/was begun and did not end/)

    await runCli(['migrate'], { ...env, GATEWAY_FAULT: 'after_rows_committed:kill' })
    const again = await run(['migrate'], env)
    expect([again.code, again.said]).toEqual([
      0,
      expect.stringContaining('An earlier run had carried everything'),
    ])
    expect(await refusal(world.env)).toMatch(/was moved to PostgreSQL/)
    expect((await run(['doctor'], world.env)).said).toMatch(/fail +database +.*was moved to PostgreSQL/)
    expect((await run(['migrate'], env)).said).toMatch(/already/)
    expect((await run(['backup', '--out', join(world.dataDir, 'stale.gz')], world.env)).said).toMatch(
      /was moved/,
    )
    await expectAlive(world, env, seeded)
    expect(await readFile(join(world.env['GATEWAY_DATA_DIR']!, 'gateway.db'))).toEqual(before)

    // The way back is the copy as it was, but for what may have been used since.
    expect((await run(['migrate', '--back'], world.env)).said).toMatch(/--back --yes/)
    const back = await run(['migrate', '--back', '--yes'], world.env)
    expect([back.code, back.said]).toEqual([
      0,
      expect.stringMatching(
        /^What happened in those \d+ minutes is not here:[^]*Ended, because[^]*may start on/,
      ),
    ])
    await expectAlive(world, world.env, seeded)
  })

  it('takes the copy as it is where the database is none for it', async () => {
    const full = await databaseFor('moved')
    const env = { ...world.env, GATEWAY_DATABASE_URL: full }
    const there = { ...(await newPlace(world, 'sqlite')), GATEWAY_DATABASE_URL: full }
    const other = await startAt(world, there)
    await other.stop('SIGTERM')
    expect((await run(['migrate'], env)).said).toMatch(/not empty/)
    await expectAlive(world, world.env, seeded)
  })
})

it('a backup ends under thousands of commits a second', async () => {
  const world = await createWorld()
  worlds.push(world)
  const config = { dataDir: join(world.dataDir, 'busy'), databaseUrl: undefined }
  const store = await openStore({ config, log, bootId: 'busy' })
  const account = await addAccount(store, 1)
  const load = { isDone: false, commits: 0 }
  const writer = (async () => {
    while (!load.isDone) {
      await Promise.all(
        times(64, (i) =>
          store.grant({
            accountId: account,
            amount: 1,
            transactionId: nextTransaction(),
            reference: `grant-${load.commits + i}`,
            now: NOW,
          }),
        ),
      )
      load.commits += 64
    }
  })()
  while (load.commits < 20_000) await new Promise((resolve) => setTimeout(resolve, 20))
  const at = load.commits
  const file = join(world.dataDir, 'busy.gz')
  const made = await run(['backup', '--out', file, '--json'], { GATEWAY_DATA_DIR: config.dataDir })
  const during = load.commits - at
  load.isDone = true
  await writer
  await store.close()
  expect([made.code, made.said]).toEqual([0, expect.anything()])
  expect(during).toBeGreaterThan(100)
  const target = join(world.dataDir, 'calm')
  expect((await run(['restore', file], { GATEWAY_DATA_DIR: target })).said).toMatch(
    /every balance is what its ledger/,
  )
  const [row] = await queryOf({ dataDir: target, databaseUrl: undefined })(
    'SELECT max(balance) AS balance FROM accounts',
  )
  expect(Number(row!['balance'])).toBeGreaterThanOrEqual(at)
  await rm(target, { recursive: true })
})
