// A start that must not happen: with the authority key gone, or with data of the other mode.
import { once } from 'node:events'
import { mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Exit } from '../../src/cli/exit.ts'
import { runCli, startCli } from '../support/cli.ts'
import { ENGINES } from '../support/gateway.ts'
import { databaseFor } from '../support/postgres.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
let env: Record<string, string>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'installation-'))
})
afterEach(() => removeFolder(folder))

async function useEngine(engine: (typeof ENGINES)[number]): Promise<void> {
  env = { PORT: '0', GATEWAY_DATA_DIR: join(folder, 'data') }
  if (engine === 'postgres') env['GATEWAY_DATABASE_URL'] = await databaseFor('installation')
}

/** Runs a gateway while `during` does. */
async function whileServing(during: () => Promise<void>): Promise<void> {
  const gateway = startCli(['serve'], env)
  try {
    await gateway.until('stdout', /^listening on/m)
    await during()
  } finally {
    const ended = once(gateway.child, 'exit')
    gateway.kill('SIGTERM')
    await ended
  }
}

async function refusal(more: Record<string, string> = {}): Promise<string> {
  const { code, stderr } = await startedAndEnded(more)
  expect(code).toBe(Exit.config)
  return stderr
}

async function startedAndEnded(more: Record<string, string>) {
  const gateway = startCli(['serve'], { ...env, ...more })
  // A gateway that starts after all would never end by itself.
  const started = gateway.until('stdout', /^listening on/m).then(
    () => gateway.kill('SIGKILL'),
    () => {},
  )
  const { code } = await gateway.ended
  await started
  return { code, stderr: gateway.stderr() }
}

const PRODUCTION = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' }

describe.each(ENGINES)('an installation (%s)', (engine) => {
  it('does not start with a fresh authority key over stored credentials, and doctor says why', async () => {
    await useEngine(engine)
    await whileServing(async () => {
      const added = await runCli(
        [
          'credentials',
          'add',
          '--provider',
          'github',
          '--path',
          '/repos',
          '--method',
          'GET',
          '--label',
          'kept',
        ],
        env,
        'ghp_kept',
      )
      expect(added.code, added.stderr).toBe(Exit.ok)
    })
    const file = join(env['GATEWAY_DATA_DIR']!, 'authority.jwk')
    const kid = (JSON.parse(await readFile(file, 'utf8')) as { keys: { kid: string }[] }).keys[0]!.kid

    await rename(file, `${file}.away`)
    expect(await refusal()).toMatch(new RegExp(`authority\\.jwk does not exist.*sealed to ${kid}`))
    await expect(readFile(file)).rejects.toThrow('ENOENT')
    const doctor = await runCli(['doctor'], env)
    expect(doctor.code).toBe(Exit.failed)
    expect(doctor.stdout).toMatch(new RegExp(`fail +authority key +.*${kid}`))

    // A key of another installation is no better than none.
    const other = { PORT: '0', GATEWAY_DATA_DIR: join(folder, 'other') }
    const stranger = startCli(['serve'], other)
    await stranger.until('stdout', /^listening on/m)
    stranger.kill('SIGTERM')
    await stranger.ended
    await writeFile(file, await readFile(join(folder, 'other', 'authority.jwk')), { mode: 0o600 })
    expect(await refusal()).toContain('holds another key')

    await rename(`${file}.away`, file)
    await whileServing(async () => {})
    expect((await runCli(['doctor'], env)).stdout).not.toMatch(/fail +authority/)
  })

  it('does not go from sandbox to production, nor back', async () => {
    await useEngine(engine)
    await whileServing(async () => {})
    expect(await refusal(PRODUCTION)).toContain('this data was begun in sandbox mode')
    await whileServing(async () => {})

    await useEngine(engine)
    env = { ...env, ...PRODUCTION, GATEWAY_DATA_DIR: join(folder, 'production') }
    await whileServing(async () => {})
    expect(await refusal({ GATEWAY_MODE: 'sandbox' })).toContain('this data was begun in production mode')
  })
})
