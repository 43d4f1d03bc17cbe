// A program in a sandbox of bubblewrap, which .ci/install-programs installs: a machine without it fails this, and skips nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findGatewayData } from '../../src/cli/run/gateway-data.ts'
import { bareEnv, runCli, runShell, startCli, startCliOnTerminal } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { type RunCommand, startRunCommand } from '../support/run-command.ts'
import { CTRL_C, type OnTerminal, startOnTerminal } from '../support/terminal.ts'

const SECRET = 'real-secret-0123456789abcdef'

let command: RunCommand
let gateway: TestGateway
let env: RunCommand['env']
let capability: string

beforeAll(async () => {
  command = await startRunCommand()
  ;({ gateway, env } = command)
  ;({ capability } = await gateway.grant({ secret: SECRET }))
})
afterAll(() => command.close())

/** Passes connections on to the port that it is told, and says its own. */
const FORWARDER = `
  const { createServer, connect } = require('node:net')
  const server = createServer((socket) => socket.pipe(connect(Number(process.argv[1]), '127.0.0.1')).pipe(socket))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

const node = (program: string) => ['--', process.execPath, '--input-type=module', '-e', program]

it('leaves a program in a sandbox its own door, and no other, no socket, no key, no data and no setting of the kernel', async () => {
  // No sandbox shows the folder for temporary files.
  const shown = await mkdtemp(join(process.cwd(), 'node_modules', '.run-'))
  await mkdir(join(shown, 'data'))
  await symlink(join(shown, 'data'), join(shown, 'link'))
  await writeFile(join(shown, 'data', 'file'), '')
  await writeFile(join(shown, 'agent.cap'), capability)
  // Whoever only looks whether somebody listens hangs up before the answer.
  const agent = createServer((socket) => socket.on('error', () => {}).end('agent'))
  await new Promise<void>((resolve) => agent.listen(join(shown, 'agent.sock'), resolve))
  const keys = createServer((socket) => socket.on('error', () => {}).end('keys'))
  await new Promise<void>((resolve) => keys.listen(join(shown, 'bound.sock'), resolve))
  await rename(join(shown, 'bound.sock'), join(shown, 'keys.sock'))
  const ownEnv = {
    ...env,
    SSH_AUTH_SOCK: join(shown, 'keys.sock'),
    TMPDIR: shown,
    GATEWAY_DATA_DIR: join(shown, 'link'),
  }
  const start = ['run', '--sandbox', '--capability-file', join(shown, 'agent.cap')]
  const first = startCli([...start, ...node(`console.log('started'); setInterval(() => {}, 1000)`)], ownEnv)
  try {
    await first.until('stdout', /started/)
    const program = `
        import { accessSync, constants, readFileSync, readdirSync } from 'node:fs'
        import { connect } from 'node:net'
        const shown = ${JSON.stringify(shown)}
        const reason = (read) => { try { return read() } catch (thrown) { return thrown.code } }
        const doors = [shown, '/tmp'].flatMap((folder) => readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('door.sock')))
        const { status } = await fetch(${JSON.stringify(gateway.url('/sandboxed'))})
        console.log(JSON.stringify({
          status,
          doors: doors.length,
          data: readdirSync(shown + '/data'),
          key: reason(() => readFileSync(shown + '/agent.cap', 'utf8')),
          kernel: ['/proc/sys/kernel/core_pattern', '/sys/fs/cgroup'].map((path) => reason(() => accessSync(path, constants.W_OK)) === undefined),
          sockets: await Promise.all(['/agent.sock', '/keys.sock'].map((name) => new Promise((resolve) => connect(shown + name).on('data', String).on('end', () => resolve('reached')).on('error', ({ code }) => resolve(code))))),
        }))`
    const ended = await runCli([...start, ...node(program)], ownEnv)
    expect({ ...JSON.parse(ended.stdout || '{}'), stderr: ended.stderr }).toMatchObject({
      status: 200,
      doors: 1,
      data: [],
      key: 'EACCES',
      kernel: [false, false],
      sockets: [expect.stringMatching(/^E/), expect.stringMatching(/^E/)],
    })
    expect(gateway.upstream.requests.at(-1)!.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
  } finally {
    first.kill('SIGTERM')
    await first.ended
    await Promise.all([agent, keys].map((server) => new Promise((resolve) => server.close(resolve))))
    await rm(join(shown, 'keys.sock'))
    expect((await readdir(shown)).sort()).toEqual(['agent.cap', 'data', 'link'])
    await removeFolder(shown)
  }
})

it('hides the data of a gateway that runs elsewhere on this machine, and starts nothing where it is not found', async () => {
  const shown = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  const data = join(shown, 'gateway', 'data')
  await mkdir(join(shown, 'gateway'))
  const other = await startTestGateway({ env: { GATEWAY_DATA_DIR: data } })
  // A proxy before it, which has no data of its own.
  const proxy = spawn(process.execPath, ['-e', FORWARDER, new URL(other.baseUrl).port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await other.grant({ secret: SECRET })
    const [port] = (await once(proxy.stdout, 'data')) as [Buffer]
    const proxied = `http://localhost:${port.toString().trim()}`
    const program = `console.log(JSON.stringify(require("node:fs").readdirSync("gateway/data")))`
    const run = (url: string, ...options: string[]) =>
      runShell(`cd ${shown} && agent-gateway run --sandbox ${options.join(' ')} -- node -e '${program}'`, {
        GATEWAY_BASE_URL: url,
        GATEWAY_OPERATOR_KEY: other.operatorKey,
        TMPDIR: env['TMPDIR']!,
        HOME: env['HOME']!,
      })
    expect(await run(other.baseUrl)).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(await readdir(data)).toContain('authority.jwk')
    const refused = await run(proxied)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain(`that of ${proxied} could not be found. Nothing was started.`)
    expect(await run(proxied, '--gateway-data', data)).toMatchObject({ code: 0, stdout: '[]\n' })
    const open = await runCli(['run', '--gateway-data', data, '--', 'true'], env)
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('--gateway-data is for --sandbox')])
  } finally {
    proxy.kill()
    await once(proxy, 'exit')
    await other.close()
    await removeFolder(shown)
  }
})

it('takes no file of this machine for the lock of a gateway in a container, which has a root of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  for (const name of ['inside', 'data']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'lock.db'), '')
  }
  const program = `
    require('node:fs').openSync(${JSON.stringify(join(folder, 'data', 'lock.db'))})
    require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const start = (...mounts: string[]) =>
    spawn('bwrap', ['--bind', '/', '/', ...mounts, '--die-with-parent', process.execPath, '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const find = async (gateway: ReturnType<typeof start>) => {
    const [port] = (await once(gateway.stdout!, 'data')) as [Buffer]
    const url = `http://127.0.0.1:${port.toString().trim()}`
    try {
      return await findGatewayData({ url, dataDir: '/nowhere/data', named: undefined })
    } finally {
      gateway.kill('SIGKILL')
      await once(gateway, 'exit')
    }
  }
  try {
    expect((await find(start())).folders).toContain(join(folder, 'data'))
    const mounts = ['--bind', join(folder, 'inside'), join(folder, 'data')]
    await expect(find(start(...mounts))).rejects.toThrow('could not be found')
  } finally {
    await removeFolder(folder)
  }
})

it('leaves a program in a sandbox its door where it is started in the folder of doors', async () => {
  const program = `console.log((await fetch(${JSON.stringify(gateway.url('/sandboxed'))})).status)`
  const ended = await runShell(
    `cd /tmp && agent-gateway run --sandbox -- node --input-type=module -e '${program}'`,
    env,
  )
  expect(ended).toMatchObject({ code: 0, stdout: '200\n' })
})

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGTERM'] as const
/** Says what it gets, and ends with 5 at `end`. */
const LISTENER = `
  for (const signal of ${JSON.stringify(SIGNALS)}) process.on(signal, () => console.log('got ' + signal))
  process.stdin.on('data', (text) => { console.log('read ' + text); if (String(text).includes('end')) process.exit(5) })
  console.log('ready')`

it('passes every signal of the run on to a program in a sandbox, which ends as it will', async () => {
  const started = startCli(['run', '--sandbox', ...node(LISTENER)], env)
  await started.until('stdout', /ready/)
  for (const signal of SIGNALS) {
    started.kill(signal)
    await started.until('stdout', new RegExp(`got ${signal}`))
  }
  started.child.stdin!.write('end')
  expect((await started.ended).code).toBe(5)
  expect(started.stdout().match(/got \w+/g)).toEqual(SIGNALS.map((signal) => `got ${signal}`))
})

it('leaves a program in a sandbox the usual answer to signals, and nothing by which it is told of them', async () => {
  const script = 'test -e /proc/$$/fd/3 && echo left; kill -HUP $$; echo survived'
  const ended = await runCli(['run', '--sandbox', '--', 'sh', '-c', script], env)
  expect([ended.code, ended.stdout]).toEqual([129, ''])
})

/** Ctrl-C, and what is typed before and behind it. */
async function useTerminal(started: OnTerminal): Promise<void> {
  await started.until('stdout', /ready/)
  started.type('one\n')
  await started.until('stdout', /read one/)
  started.type(CTRL_C)
  await started.until('stdout', /got SIGINT/)
  started.type('end\n')
  expect((await started.ended).code).toBe(5)
  expect(started.stdout().match(/got \w+/g)).toEqual(['got SIGINT'])
}

it('has a program in a sandbox read the terminal, and tells it of Ctrl-C once', async () => {
  await useTerminal(startCliOnTerminal(['run', '--sandbox', ...node(LISTENER)], env))
})

it('tells a program in a sandbox of Ctrl-C once where it has this terminal, as on kernels without TIOCSTI', async () => {
  const door = await mkdtemp('/tmp/agent-gateway-door-')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(door, 'door.sock'), resolve))
  const source = (name: string) => JSON.stringify(new URL(`../../src/cli/run/${name}`, import.meta.url).href)
  const plan = {
    socket: join(door, 'door.sock'),
    runFolder: door,
    workingDirectory: process.cwd(),
    hidden: [],
    hiddenFiles: [],
    node: process.execPath,
    needsNewSession: false,
    command: node(LISTENER).slice(1),
  }
  const program = `
    import { runChild, takeEndingSignals } from ${source('child.ts')}
    import { bubblewrapCommand } from ${source('sandbox.ts')}
    const ending = takeEndingSignals()
    const route = { isTold: true, isApart: false }
    process.exitCode = await runChild(bubblewrapCommand(${JSON.stringify(plan)}), process.env, ending, route)
    ending.release()`
  try {
    await useTerminal(startOnTerminal([process.execPath, ...node(program).slice(2)], bareEnv({})))
  } finally {
    await new Promise((resolve) => server.close(resolve))
    await removeFolder(door)
  }
})
