// curl, git and gh behind `agent-gateway run`: what they are told is their environment, and nothing of it is a secret.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveRanges } from '../support/ranges.ts'
import { type RunWorld, startRunWorld } from '../support/run-world.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

const TOKEN = 'ghp_b7Qx4LmR9vTz2KpW8nYcEu5Jb7Qx4LmR9vTz'
const PASSWORD = 'git-9vTz2KpW8nYcEu5Jb7Qx4LmR'
const BASIC = Buffer.from(`x-access-token:${PASSWORD}`).toString('base64')
const MEGABYTES_20 = 20 * 1024 * 1024

let world: RunWorld
beforeAll(async () => {
  world = await startRunWorld({ secrets: [TOKEN, PASSWORD, BASIC] })
  await world.gw.grant({ secret: TOKEN, credential: { label: 'api', hosts: [world.host] } })
})
afterAll(() => world.close())

describe('curl', () => {
  const curl = (...args: string[]) => ['curl', '-sS', '-H', 'Authorization: Bearer placeholder', ...args]

  it('gets, asks for the head, and takes HTTP/1.1 where it wanted HTTP/2', async () => {
    world.gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
    )
    const { url } = world
    const got = await world.run('api', curl(url('/get')), { attempts: 1 })
    expect(got.stdout).toBe('{"ok":true}')
    const head = await world.run('api', curl('-I', url('/head')), { attempts: 1 })
    expect(head.stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/m)
    expect(head.received[0]!.method).toBe('HEAD')
    const two = await world.run('api', curl('--http2', '-w', ' %{http_version}', url('/h2')), { attempts: 1 })
    expect(two.stdout).toBe('{"ok":true} 1.1')
  })

  it('uploads 20 MB after it was told to go on', async () => {
    const body = randomBytes(MEGABYTES_20)
    await writeFile(join(world.folder, 'upload.bin'), body)
    world.gw.upstream.respond((request, res) =>
      res.end(createHash('sha256').update(request.body).digest('hex')),
    )
    const sent = await world.run(
      'api',
      curl('-v', '-H', 'Expect: 100-continue', '-T', 'upload.bin', world.url('/upload')),
      { attempts: 1 },
    )
    expect(sent.stdout).toBe(createHash('sha256').update(body).digest('hex'))
    expect(sent.stderr).toContain('HTTP/1.1 100 Continue')
  })

  it('gets a part, and goes on with a download that broke off', async () => {
    const body = randomBytes(3_000_000)
    world.gw.upstream.respond(serveRanges(() => body))
    const get = (...args: string[]) =>
      world.run('api', curl(...args, '-o', 'file.bin', world.url('/file')), { attempts: 1 })
    const file = () => readFile(join(world.folder, 'file.bin'))
    await get('-r', '0-99')
    expect(await file()).toEqual(body.subarray(0, 100))
    await get('-C', '-')
    expect((await file()).equals(body)).toBe(true)
    // There is nothing left to get.
    await get('-C', '-')
    expect((await file()).equals(body)).toBe(true)
  })

  it('shows each event of a stream before the next one is sent', async () => {
    // The upstream sends an event only when the one before it was seen by the program, which says so by a request of its own.
    const script = `
      curl -sSN ${world.url('/events')} | while IFS= read -r line; do
        case "$line" in data:*) echo "$line"; curl -sS -o /dev/null "${world.url('/seen')}" ;; esac
      done`
    let sendNext = () => {}
    world.gw.upstream.respond(({ target }, res) => {
      if (target === '/seen') {
        res.end()
        return sendNext()
      }
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      let sent = 0
      sendNext = () => (sent === 3 ? void res.end() : void res.write(`data: ${++sent}\n\n`))
      sendNext()
    })
    const { stdout } = await world.run('api', ['bash', '-c', script], { attempts: 4 })
    expect(stdout).toBe('data: 1\ndata: 2\ndata: 3\n')
  })
})

describe('git', () => {
  let repositories: string
  let capability: string
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd,
      stdio: 'pipe',
      encoding: 'utf8',
    })
  beforeAll(async () => {
    repositories = join(world.folder, '..', `${world.folder.split('/').at(-1)}-repositories`)
    await mkdir(join(repositories, 'work'), { recursive: true })
    git(repositories, 'init', '-q', '--bare', 'ours.git')
    git(join(repositories, 'ours.git'), 'config', 'http.receivepack', 'true')
    const work = join(repositories, 'work')
    git(work, 'init', '-q')
    await writeFile(join(work, 'one.txt'), 'one\n')
    git(work, 'add', '.')
    git(work, 'commit', '-q', '-m', 'one')
    git(work, 'push', '-q', join(repositories, 'ours.git'), 'HEAD:refs/heads/main')
    git(join(repositories, 'ours.git'), 'symbolic-ref', 'HEAD', 'refs/heads/main')
    ;({ capability } = await world.gw.grant({
      secret: undefined as never,
      credential: {
        secret: undefined,
        parts: { user: 'x-access-token', password: PASSWORD },
        label: 'git',
        hosts: [world.host],
        path_prefixes: ['/ours.git'],
        settings: { placements: [{ in: 'header', name: 'authorization', scheme: 'Basic' }] },
      },
    }))
    world.gw.upstream.respond((request, res) => serveGit(repositories, request, res))
  })
  afterAll(() => execFileSync('rm', ['-rf', repositories]))

  it('clones, fetches, and pushes 20 MB', async () => {
    const cloned = await world.run('git', ['git', 'clone', '-q', world.url('/ours.git'), 'clone'], {
      attempts: 3,
    })
    expect(cloned.stderr).toContain('3 receipts')
    const clone = join(world.folder, 'clone')
    expect(git(clone, 'log', '--format=%s')).toBe('one\n')
    await world.run('git', ['git', '-C', 'clone', 'fetch', '-q'], { attempts: 2 })
    await writeFile(join(clone, 'big.bin'), randomBytes(MEGABYTES_20))
    git(clone, 'add', '.')
    git(clone, 'commit', '-q', '-m', 'big')
    // What is longer than its buffer git sends in chunks, after an empty request that finds out whether it may.
    await world.run('git', ['git', '-C', 'clone', 'push', '-q', 'origin', 'HEAD:main'], { attempts: 3 })
    expect(git(join(repositories, 'ours.git'), 'log', '--format=%s', 'main')).toBe('big\none\n')
  })

  it('clones by a base URL that has the capability as its password', async () => {
    const base = new URL('/via/git/ours.git', world.gw.baseUrl)
    Object.assign(base, { username: 'x', password: capability })
    const folder = join(repositories, 'by-base-url')
    const env = {
      PATH: process.env['PATH'],
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      HOME: repositories,
    }
    await promisify(execFile)('git', ['clone', '-q', base.href, folder], { env })
    expect(git(folder, 'log', '--format=%s')).toContain('one')
  })

  it('is refused another repository than that of the credential', async () => {
    const { stderr } = await world.run('git', ['git', 'clone', '-q', world.url('/theirs.git'), 'theirs'], {
      attempts: 0,
      code: 128,
      env: { GIT_TERMINAL_PROMPT: '0' },
    })
    expect(stderr).toContain('403')
  })
})

describe('gh', () => {
  it('asks who it is', async () => {
    world.gw.upstream.respond((_request, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"login":"octocat"}'),
    )
    const env = { GH_HOST: world.host, GH_ENTERPRISE_TOKEN: 'ghp_placeholder' }
    const { stdout } = await world.run('api', ['gh', 'api', 'user', '--jq', '.login'], { attempts: 1, env })
    expect(stdout).toBe('octocat\n')
  })
})

/** git's own server behind the upstream, by the interface that it is made for (git-http-backend(1)). */
function serveGit(
  root: string,
  { method, target, headers, body }: ReceivedRequest,
  res: ServerResponse,
): void {
  const [path = '', query = ''] = target.split('?')
  const header = (wanted: string) => headers.find(([name]) => name === wanted)?.[1]
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      REMOTE_USER: 'test',
      REQUEST_METHOD: method,
      PATH_INFO: path,
      QUERY_STRING: query,
      CONTENT_TYPE: header('content-type') ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: header('content-encoding') ?? '',
      GIT_PROTOCOL: header('git-protocol') ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const chunks: Buffer[] = []
  backend.stdin.on('error', () => {})
  backend.stdin.end(body)
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  backend.on('close', () => {
    const all = Buffer.concat(chunks)
    const end = all.indexOf('\r\n\r\n')
    const pairs = all
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line): [string, string] => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ])
    const { status = '200', ...rest } = Object.fromEntries(pairs)
    res.writeHead(Number.parseInt(status, 10), rest).end(all.subarray(end + 4))
  })
}
