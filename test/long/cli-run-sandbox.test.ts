// A program in a sandbox of bubblewrap, which .ci/install-programs installs: a machine without it fails this, and skips nothing.
import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.ts'
import { type TestGateway } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { type RunCommand, startRunCommand } from '../support/run-command.ts'

const SECRET = 'real-secret-0123456789abcdef'

let command: RunCommand
let gateway: TestGateway
let env: RunCommand['env']

beforeAll(async () => {
  command = await startRunCommand()
  ;({ gateway, env } = command)
})
afterAll(() => command.close())

const node = (program: string) => ['--', process.execPath, '--input-type=module', '-e', program]

it('leaves a program in a sandbox its own door, and no other, no socket, no key, no data and no setting of the kernel', async () => {
  // No sandbox shows the folder for temporary files.
  const shown = await mkdtemp(join(process.cwd(), 'node_modules', '.run-'))
  const { capability } = await gateway.grant({ secret: SECRET, credential: { label: 'shown' } })
  await mkdir(join(shown, 'data'))
  await symlink(join(shown, 'data'), join(shown, 'link'))
  await writeFile(join(shown, 'data', 'file'), '')
  await writeFile(join(shown, 'agent.cap'), capability)
  const agent = createServer((socket) => socket.end('agent'))
  await new Promise<void>((resolve) => agent.listen(join(shown, 'agent.sock'), resolve))
  const ownEnv = { ...env, TMPDIR: shown, GATEWAY_DATA_DIR: join(shown, 'link') }
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
          socket: await new Promise((resolve) => connect(shown + '/agent.sock').on('data', String).on('end', () => resolve('reached')).on('error', ({ code }) => resolve(code))),
        }))`
    const ended = await runCli([...start, ...node(program)], ownEnv)
    expect({ ...JSON.parse(ended.stdout || '{}'), stderr: ended.stderr }).toMatchObject({
      status: 200,
      doors: 1,
      data: [],
      key: 'EACCES',
      kernel: [false, false],
      socket: expect.stringMatching(/^E/),
    })
    expect(gateway.upstream.requests.at(-1)!.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
  } finally {
    first.kill('SIGTERM')
    await first.ended
    await new Promise((resolve) => agent.close(resolve))
    expect((await readdir(shown)).sort()).toEqual(['agent.cap', 'data', 'link'])
    await removeFolder(shown)
  }
})
