// An upgrade as an operator does it: the release before was used for real, its data is taken over by this release, backed up while it serves, and restored
// elsewhere. What users hold is good at every step for what it was good for.
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { TABLE_VERSION } from '../../src/store/migrations.ts'
import { ENGINES } from '../support/gateway.ts'
import { type Installed, installedAt, putAnvil, type Variables } from '../support/installed.ts'
import { installedInImage } from '../support/installed-image.ts'
import { clientAt, itKeeps, type Later } from '../support/kept.ts'
import { databaseFor } from '../support/postgres.ts'
import { describeRestores, KEY_FILES } from '../support/restored.ts'
import { execute, type Holdings, openStage, type Stage, useGateway } from '../support/used-gateway.ts'

const releases = inject('releases')
/** This release is then the image that `npm run image` made, on the same data. */
const isImage = process.env['UPGRADE_IMAGE'] === '1'

let stage: Stage
let before: Installed
let current: Installed
beforeAll(async () => {
  stage = await openStage()
  const home = join(stage.folder, 'home')
  await mkdir(home)
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, HOME: home, PORT: '0' }
  before = installedAt(releases.before.command, { env, cwd: home })
  current = isImage
    ? installedInImage(stage.folder)
    : installedAt(releases.current.command, { env, cwd: home })
})
afterAll(async () => {
  await stage?.close()
})

interface Plan {
  readonly ok: boolean
  readonly table_version: number
  readonly migrations: object[]
}
async function check(env: Variables): Promise<Plan> {
  const { code, stdout, stderr } = await current.run(['upgrade-check', '--json'], env)
  const plan = JSON.parse(stdout || '{}') as Plan
  expect([code, plan.ok], stdout + stderr).toEqual([0, true])
  return plan
}

/** Name and digest of each file. */
async function digestsOf(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const digests = files.map(async ({ parentPath, name }) => {
    const content = await readFile(join(parentPath, name))
    return [join(parentPath, name), createHash('sha256').update(content).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}

describe.each(ENGINES)(`from ${releases.before.name} to this release, on %s`, (engine) => {
  let env: Variables
  let holdings: Holdings
  let reached: number
  beforeAll(async () => {
    env = stage.envOf(engine, engine === 'postgres' ? await databaseFor('upgrade') : undefined)
    const serving = await before.serve(env)
    try {
      holdings = await useGateway(stage, before, serving, env)
    } finally {
      await serving.stop()
    }
  })

  it('upgrade-check of this release says which migrations it will run, and changes nothing', async () => {
    const folder = env['GATEWAY_DATA_DIR']!
    const files = await digestsOf(folder)
    const plan = await check(env)
    reached = plan.table_version
    expect(reached).toBeGreaterThan(0)
    expect(plan.migrations).toHaveLength(TABLE_VERSION - reached)
    expect(await digestsOf(folder)).toEqual(files)
  })

  describe('this release, on the same data', () => {
    let later: Later
    beforeAll(async () => {
      later = { stage, by: current, env, serving: await current.serve(env), holdings }
    })
    afterAll(async () => {
      await later?.serving.stop()
    })

    it('has run them', async () => {
      expect(await check(env)).toMatchObject({ table_version: TABLE_VERSION, migrations: [] })
    })

    itKeeps(() => later)

    it('a permit of before that nobody has used is executed once', async () => {
      const client = await clientAt(later)
      const permit = holdings.openPermits.pop()!
      const { status, body } = await execute(client, permit)
      expect([status, body.upstream?.status]).toEqual([200, 201])
      holdings.receipts.push({ id: body.receipt.receipt_id, jws: body.receipt.jws })
      expect((await execute(client, permit)).body).toMatchObject({ code: 'permit_used' })
    })

    it('receipts of this release verify by the program of the release before, which others may have', async () => {
      const { jws } = holdings.receipts.at(-1)!
      const args = ['receipts', 'verify', '-', '--keys', holdings.keysFile]
      const { code, stdout, stderr } = await before.run(args, {}, jws)
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining('This receipt verifies')])
    })

    it(`${releases.before.name} serves these tables where they are its own, and says why not where they are newer`, async () => {
      const data = { ...env, PORT: '0' }
      await later.serving.stop()
      try {
        if (reached === TABLE_VERSION) {
          const serving = await before.serve(data)
          expect(await serving.stop()).toBe(0)
        } else {
          const { code, stderr } = await before.run(['serve'], data)
          // A data directory is for a person to mend; a database may be another one in a moment.
          const exit = engine === 'sqlite' ? 78 : 1
          expect([code, stderr]).toEqual([exit, expect.stringContaining('run the newer release again')])
        }
      } finally {
        later = { ...later, serving: await current.serve(env) }
      }
    })

    describeRestores(engine, () => later)
  })
})

interface Demo {
  readonly steps: { verifies: boolean }[]
  readonly market: { verifies: boolean }
  readonly balances: { network: string; who: string; before: string; after: string }[]
}

// The image runs no chains: there is no shell in it.
if (!isImage)
  describe('a sandbox with chains of its own', () => {
    const env = (name: string) => ({ GATEWAY_DATA_DIR: join(stage.folder, name) })
    let last: Demo
    async function demo(by: Installed, name: string): Promise<Demo> {
      const { code, stdout, stderr } = await by.run(['demo', '--json'], env(name))
      expect(code, stderr).toBe(0)
      const shown = JSON.parse(stdout) as Demo
      for (const { verifies } of [...shown.steps, shown.market]) expect(verifies).toBe(true)
      return shown
    }
    /** The seller of before is bought from as well: he is found by the demo, or it fails. */
    async function expectGoesOn(name: string): Promise<void> {
      const shown = await demo(current, name)
      const left = last.balances.map(({ network, who, after }) => ({ network, who, before: after }))
      expect(shown.balances).toEqual(left.map((row) => expect.objectContaining(row)))
      last = shown
    }

    it('goes on with their money', async () => {
      await putAnvil(join(stage.folder, 'sandbox'))
      last = await demo(before, 'sandbox')
      await expectGoesOn('sandbox')
    })

    it('goes on elsewhere with a copy of them beside the keys', async () => {
      const file = join(stage.folder, 'sandbox.gz')
      const made = await current.run(['backup', '--out', file], env('sandbox'))
      expect(made.code, made.stderr).toBe(0)
      const [from, to] = [join(stage.folder, 'sandbox'), join(stage.folder, 'elsewhere')]
      await mkdir(to, { mode: 0o700 })
      for (const name of [...KEY_FILES, 'chains', 'programs'])
        await cp(join(from, name), join(to, name), { recursive: true })
      const restored = await current.run(['restore', file], env('elsewhere'))
      expect(restored.code, restored.stderr).toBe(0)
      await expectGoesOn('elsewhere')
    })
  })
