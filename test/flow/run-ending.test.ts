// The end of a run: what it was given is taken back, whatever the program left behind.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { type RunParts, runProgram } from '../../src/cli/run/session.ts'

let folder: string
let said: string
/** What was there of the run when something was first said of its end. */
let ends: number
let endsWhenSaid: number | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  vi.stubEnv('TMPDIR', folder)
  said = ''
  ends = 0
  endsWhenSaid = undefined
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    endsWhenSaid ??= ends
    return (said += String(text)) !== ''
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  // Paths that are too long for a name of the system are not for Node to remove.
  await promisify(execFile)('rm', ['-rf', folder])
})

const run = (program: string, parts: Partial<RunParts> = {}) =>
  runProgram({
    client: {
      url: 'http://localhost:1',
      call: async () => ({ providers: [] }) as never,
      get: async () => ({}),
    },
    holder: {
      providers: new Set(),
      covers: async () => true,
      find: async () => undefined,
      made: () => [],
      end: async () => {
        ends++
        return 0
      },
    },
    config: loadConfig({ GATEWAY_DATA_DIR: folder }),
    unknown: 'deny',
    isSandboxed: false,
    secretFiles: [],
    command: [process.execPath, '--input-type=module', '-e', program],
    env: { PATH: process.env['PATH'], TMPDIR: folder, HOME: folder },
    ...parts,
  })
const runFolders = async () => (await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))

describe('the end of a run', () => {
  it('takes everything back before it says a word', async () => {
    expect(await run('process.exit(3)')).toBe(3)
    expect(said).toContain('ended with 3')
    expect([ends, endsWhenSaid]).toEqual([1, 1])
    expect(await runFolders()).toEqual([])
  })

  it('keeps the exit code of the program, and says so, where the folder of the run cannot be removed', async () => {
    const listeners = process.listenerCount('SIGTERM')
    // A path that no call of the system takes in one piece.
    const program = `
      import { mkdirSync } from 'node:fs'
      import { dirname } from 'node:path'
      process.chdir(dirname(process.env.NODE_EXTRA_CA_CERTS))
      for (let i = 0; i < 20; i++) { mkdirSync('x'.repeat(250)); process.chdir('x'.repeat(250)) }
      process.exit(4)`
    expect(await run(program)).toBe(4)
    const [left] = await runFolders()
    expect(said).toContain('ended with 4')
    expect(said).toContain(`${left} is still there (ENAMETOOLONG).`)
    expect(process.listenerCount('SIGTERM')).toBe(listeners)
  })
})
