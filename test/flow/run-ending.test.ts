// The end of a run: what it was given is taken back, whatever the program left behind.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect, givenUpWith } from '../../src/cli/client.ts'
import { holdCredentials } from '../../src/cli/run/held.ts'
import { type RunParts, runProgram } from '../../src/cli/run/session.ts'
import { Secret } from '../../src/lib/secret.ts'
import { newToken } from '../../src/lib/tokens.ts'
import { EMPTY_HOLDER, runIn } from '../support/run-alone.ts'

let folder: string
let said: string
let ends: number
/** Looked at when something is first said of the end of the run. */
let whenSaid: (() => void) | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  vi.stubEnv('TMPDIR', folder)
  said = ''
  ends = 0
  whenSaid = undefined
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    whenSaid?.()
    whenSaid = undefined
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
      ...EMPTY_HOLDER,
      end: async () => {
        ends++
        return 0
      },
    },
    ...runIn(folder, program),
    unknown: 'deny',
    ...parts,
  })
const runFolders = async () => (await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))

describe('the end of a run', () => {
  it('has taken everything back, written the file and let signals go before it says a word', async () => {
    const listeners = process.listenerCount('SIGTERM')
    const summaryFile = join(folder, 'summary.json')
    const there: unknown[] = []
    whenSaid = () => {
      const { exit_code } = JSON.parse(readFileSync(summaryFile, 'utf8')) as { exit_code: number }
      const left = readdirSync(folder).filter((name) => name.startsWith('agent-gateway-run-'))
      there.push(ends, exit_code, left, process.listenerCount('SIGTERM'))
    }
    expect(await run('process.exit(3)', { summaryFile })).toBe(3)
    expect(said).toContain('ended with 3')
    expect(there).toEqual([1, 3, [], listeners])
  })

  it.each([
    [
      'before the program was started',
      143,
      'listed',
      'told to end (SIGTERM) before the program was started.',
    ],
    ['while it is taken back', 0, 'ended', 'the program has ended; what it was given is taken back.'],
  ])('answers a signal with no word before everything is taken back: %s', async (_, code, when, words) => {
    let saidAtEnd: string | undefined
    const tell = (at: string) => {
      if (at === when) process.emit('SIGTERM', 'SIGTERM')
    }
    const client = {
      url: 'http://localhost:1',
      call: async () => {
        tell('listed')
        return { providers: [] } as never
      },
      get: async () => ({}),
    }
    const holder = {
      providers: new Set<string>(),
      covers: async () => true,
      find: async () => undefined,
      made: () => [],
      end: async () => {
        tell('ended')
        saidAtEnd = said
        return 0
      },
    }
    expect(await run('', { client, holder })).toBe(code)
    expect(saidAtEnd).toBe('')
    expect(said).toContain(`agent-gateway run: ${words}\n`)
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

describe('the attempts of a run', () => {
  it('are waited for anew with each page', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const call = async (tool: { name: string }, _input: object, _token: unknown, signal?: AbortSignal) => {
      if (!tool.name.includes('attempts')) return { providers: [] }
      return { attempts: [], next: signals.push(signal) < 3 ? 'att_1' : null }
    }
    const client = { url: 'http://localhost:1', call, get: async () => ({}) } as unknown as RunParts['client']
    const held = { id: 'cap_1', credentialId: 'cred_1', token: new Secret('agw_cap_x'), expiresAt: 0 }
    const holder = {
      providers: new Set<string>(),
      covers: async () => true,
      find: async () => undefined,
      made: () => [held],
      end: async () => 0,
    }
    expect(await run('', { client, holder })).toBe(0)
    expect(signals).not.toContain(undefined)
    expect(new Set(signals).size).toBe(3)
  })
})

describe('the summary of a run', () => {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'))

  it('takes the place of what was in the file, which nobody else may read', async () => {
    const summaryFile = join(folder, 'summary.json')
    await writeFile(summaryFile, 'x'.repeat(10_000), { mode: 0o600 })
    expect(await run('', { summaryFile })).toBe(0)
    expect(await read(summaryFile)).toMatchObject({ exit_code: 0 })
    await rm(summaryFile)
    expect(await run('process.exit(6)', { summaryFile })).toBe(6)
    expect(await read(summaryFile)).toMatchObject({ exit_code: 6 })
    expect((await lstat(summaryFile)).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['a link to another file', `rmSync(file); symlinkSync(folder + '/victim', file)`],
    ['a pipe that nobody reads', `rmSync(file); execFileSync('mkfifo', [file])`],
    ['another file', `rmSync(file); writeFileSync(file, 'mine')`],
    ['nothing, nor a folder', `rmSync(dirname(file), { recursive: true })`],
  ])('follows nothing that the program puts in its place: %s', async (_, act) => {
    await mkdir(join(folder, 'out'))
    await writeFile(join(folder, 'victim'), 'kept')
    const summaryFile = join(folder, 'out', 'summary.json')
    const program = `
      import { execFileSync } from 'node:child_process'
      import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
      import { dirname } from 'node:path'
      const [folder, file] = ${JSON.stringify([folder, summaryFile])}
      ${act}
      process.exit(7)`
    expect(await run(program, { summaryFile })).toBe(7)
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('kept')
    expect(said).toContain('ended with 7')
    expect(said).toContain(
      `agent-gateway run: The summary is not in ${summaryFile}: the file was replaced or removed during the run.\n`,
    )
    expect([ends, await runFolders()]).toEqual([1, []])
  })

  it.each([
    ['a link', 'it is a link', (file: string) => symlink(join(folder, 'victim'), file)],
    ['a link that leads nowhere', 'it is a link', (file: string) => symlink(join(folder, 'none'), file)],
    ['a pipe', 'it is no file', (file: string) => promisify(execFile)('mkfifo', [file])],
    ['a folder', 'name a file', (file: string) => mkdir(file)],
  ])('is not written to %s, and nothing is started', async (_, words, make) => {
    await writeFile(join(folder, 'victim'), 'kept')
    const summaryFile = join(folder, 'summary.json')
    await make(summaryFile)
    const marker = join(folder, 'started')
    const program = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(marker)}, '')`
    await expect(run(program, { summaryFile })).rejects.toThrow(words)
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('kept')
    expect((await readdir(folder)).sort()).toEqual(['summary.json', 'victim'])
  })

  it('goes to what a shell has opened', async () => {
    const file = join(folder, 'out')
    const handle = await open(file, 'w')
    await handle.write('said before\n')
    expect(await run('', { summaryFile: `/dev/fd/${handle.fd}` })).toBe(0)
    await handle.close()
    expect(await readFile(file, 'utf8')).toMatch(/^said before\n\{\n {2}"exit_code": 0,/)
    expect(await run('', { summaryFile: '/dev/null' })).toBe(0)
    expect(said).not.toContain('could not be written')
  })

  it('is refused in words of its own where what was handed over cannot be opened: nobody should remove that link', async () => {
    const socket = createServer()
    await once(socket.listen(0, '127.0.0.1'), 'listening')
    const { fd } = (socket as unknown as { _handle: { fd: number } })._handle
    const summaryFile = `/proc/self/fd/${fd}`
    expect((await lstat(summaryFile)).isSymbolicLink()).toBe(true)
    await expect(run('', { summaryFile })).rejects.toThrow('or it is a socket')
    socket.close()
  })

  it.each(['self', 'thread-self', String(process.pid)])(
    'goes to what a process has opened: /proc/%s',
    async (owner) => {
      const file = join(folder, 'out')
      const handle = await open(file, 'w')
      expect(await run('', { summaryFile: `/proc/${owner}/fd/${handle.fd}` })).toBe(0)
      await handle.close()
      expect(await readFile(file, 'utf8')).toContain('"exit_code": 0,')
      expect(said).not.toContain('could not be written')
    },
  )
})

describe('the end of a run whose gateway keeps it waiting', () => {
  let server: Server
  /** What was asked for, in order. */
  let asked: string[]
  /** @returns undefined for what is not answered */
  let answer: (path: string) => object | undefined
  const LIST = 'GET /v1/egress/attempts'
  const REVOKE = /^POST .*\/(cap_\d)\/revoke$/

  beforeEach(async () => {
    asked = []
    vi.stubEnv('GATEWAY_OPERATOR_KEY', newToken('sk'))
    server = createServer((req, res) => {
      const path = `${req.method} ${req.url!.split('?')[0]}`
      asked.push(path)
      const document = setUp(path) ?? answer(path)
      if (document) res.end(JSON.stringify(document))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const names = ['a', 'b', 'c']
  const hosts = names.map((name) => `${name}.example.com`)
  const issued = () => asked.filter((path) => path === 'POST /v1/egress/capabilities').length
  function setUp(path: string): object | undefined {
    switch (path) {
      case 'GET /v1/egress/credentials':
        return {
          credentials: [
            {
              credential_id: 'cred_1',
              label: 'one',
              provider: 'openai',
              hosts,
              path_prefixes: ['/'],
              methods: ['GET'],
              revoked_at: null,
            },
          ],
          next: null,
        }
      case 'GET /v1/egress/providers':
        return { providers: [] }
      case 'POST /v1/egress/capabilities':
        return {
          capability_id: `cap_${issued()}`,
          credential_id: 'cred_1',
          capability: newToken('cap'),
          expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        }
      default:
        return undefined
    }
  }

  /** Three capabilities are made before the program starts, which ends with 8. */
  async function runWithThree(parts: Partial<RunParts> = {}): Promise<unknown> {
    const client = await connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    const giveUp = new AbortController()
    const holder = await holdCredentials(givenUpWith(client, giveUp.signal), undefined, { label: 'run' })
    for (const host of hosts) await holder.find({ host, port: 443, method: 'GET', path: '/' })
    const summaryFile = join(folder, 'summary.json')
    expect(await run('process.exit(8)', { client, holder, giveUp, summaryFile, ...parts })).toBe(8)
    expect(await runFolders()).toEqual([])
    expect(said).toContain('ended with 8\n')
    expect(said).toContain('  not all attempts could be read from the gateway, which has them')
    expect(said).not.toContain('nothing was called')
    return JSON.parse(await readFile(summaryFile, 'utf8'))
  }

  // Each ends at once; the gateway's own bound for a call is a minute.
  it('comes within bounds where it answers nothing any more', { timeout: 30_000 }, async () => {
    answer = () => undefined
    expect(await runWithThree({ endMs: 1 })).toMatchObject({ attempts: [], attempts_incomplete: true })
    expect(said).toContain("3 of the run's capabilities could not be revoked")
  })

  it(
    'asks for all attempts at once, and no longer where it is told to end twice; the capabilities are revoked',
    { timeout: 30_000 },
    async () => {
      answer = (path) => {
        if (path === LIST && asked.filter((one) => one === LIST).length === hosts.length)
          for (let i = 0; i < 2; i++) process.emit('SIGTERM', 'SIGTERM')
        return REVOKE.test(path) ? {} : undefined
      }
      // Longer than this test may take.
      expect(await runWithThree({ endMs: 3_600_000 })).toMatchObject({ attempts_incomplete: true })
      expect(asked.flatMap((path) => REVOKE.exec(path)?.[1] ?? []).sort()).toEqual([
        'cap_1',
        'cap_2',
        'cap_3',
      ])
      expect(said).not.toContain('could not be revoked')
    },
  )

  it('keeps what it said of the attempts, where it then fails', async () => {
    const attempt = {
      attempt_id: 'att_1',
      host: hosts[0],
      state: 'settled',
      credits_charged: 1,
      receipt_id: null,
    }
    answer = (path) => {
      if (REVOKE.test(path)) return {}
      const times = asked.filter((one) => one === LIST).length
      return times === 1 ? { attempts: [attempt], next: null } : { no: 'list' }
    }
    expect(await runWithThree({ endMs: 3_600_000 })).toMatchObject({
      attempts: [attempt],
      attempts_incomplete: true,
    })
  })
})
