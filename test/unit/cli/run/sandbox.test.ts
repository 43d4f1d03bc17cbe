import { spawnSync } from 'node:child_process'
import { mkdtemp, realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  bubblewrapCommand,
  findSockets,
  INNER_PORT,
  type SandboxPlan,
} from '../../../../src/cli/run/sandbox.ts'
import { seatbeltProfile } from '../../../../src/cli/run/seatbelt.ts'
import { removeFolder } from '../../../support/remove-folder.ts'

const plan: SandboxPlan = {
  socket: '/tmp/door-1/door.sock',
  runFolder: '/tmp/run-1',
  workingDirectory: '/srv/project',
  hidden: ['/srv/project/data', '/srv/settings/agent-gateway'],
  hiddenFiles: ['/srv/project/agent.cap'],
  node: process.execPath,
  needsNewSession: true,
  command: ['claude', '-p', '--', 'hello'],
}
const argumentsOf = (change: Partial<SandboxPlan> = {}) => bubblewrapCommand({ ...plan, ...change })
const at = (args: readonly string[], ...wanted: readonly string[]) =>
  args.findIndex((_, i) => wanted.every((text, j) => args[i + j] === text))

describe('the arguments of bubblewrap', () => {
  it('take the network away, and end with the command behind the forwarder', () => {
    const args = argumentsOf()
    expect(args).toContain('--unshare-net')
    expect(args).toContain('--die-with-parent')
    expect(at(args, '--cap-drop', 'ALL')).toBeGreaterThan(0)
    expect(args.slice(-6)).toEqual([plan.socket, String(INNER_PORT), ...plan.command])
    expect(args[at(args, '--', process.execPath) + 2]).toBe('-e')
  })

  it('hide what is hidden after everything that would show it again', () => {
    const args = argumentsOf({ workingDirectory: '/tmp/project', hidden: ['/tmp/project/data'] })
    const shown = at(args, '--bind', '/tmp/project', '/tmp/project')
    expect(shown).toBeGreaterThan(at(args, '--tmpfs', '/tmp'))
    expect(at(args, '--tmpfs', '/tmp/project/data')).toBeGreaterThan(shown)
    expect(at(args, '--tmpfs', '/tmp')).toBeGreaterThan(at(args, '--bind', '/', '/'))
    expect(at(args, '--ro-bind', '/tmp/run-1', '/tmp/run-1')).toBeGreaterThan(at(args, '--tmpfs', '/tmp'))
  })

  it('show the door, keep the kernel’s settings from being written, and hide files with keys', () => {
    const args = argumentsOf({ hiddenFiles: ['/tmp/project/agent.cap'], workingDirectory: '/tmp/project' })
    expect(at(args, '--ro-bind', '/tmp/door-1', '/tmp/door-1')).toBeGreaterThan(at(args, '--tmpfs', '/tmp'))
    for (const path of ['/proc/sys', '/sys'])
      expect(at(args, '--ro-bind-try', path, path)).toBeGreaterThan(at(args, '--proc', '/proc'))
    expect(at(args, '--ro-bind', '/dev/null', '/tmp/project/agent.cap')).toBeGreaterThan(
      at(args, '--bind', '/tmp/project'),
    )
  })

  it.runIf(process.platform === 'linux')(
    'hide the sockets that others listen on and that would be seen',
    async () => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-gateway-')))
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(join(folder, 'a socket'), resolve))
      try {
        expect(await findSockets(folder)).toContain(join(folder, 'a socket'))
        if (folder.startsWith('/tmp/'))
          expect(await findSockets('/srv/project')).not.toContain(join(folder, 'a socket'))
      } finally {
        await new Promise((resolve) => server.close(resolve))
        await removeFolder(folder)
      }
    },
  )

  it('hide where the sockets of other programs are', () => {
    const args = argumentsOf()
    for (const folder of ['/run', '/tmp', '/var/tmp']) expect(at(args, '--tmpfs', folder)).toBeGreaterThan(0)
    expect(at(args, '--bind', plan.workingDirectory)).toBe(-1)
  })

  it('take the terminal away only where it could be typed into', () => {
    expect(argumentsOf()).toContain('--new-session')
    expect(argumentsOf({ needsNewSession: false })).not.toContain('--new-session')
  })

  function startForwarder(command: readonly string[]) {
    const args = argumentsOf({ command })
    const inner = args.slice(at(args, '--', process.execPath) + 2)
    // Without bubblewrap the forwarder takes a port of this machine: any free one.
    inner[3] = '0'
    return spawnSync(process.execPath, inner, {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
  }

  it('hold a forwarder that starts the command and ends as it does', () => {
    const { status, stdout } = startForwarder([
      process.execPath,
      '-e',
      'console.log("inner"); process.exit(7)',
    ])
    expect(stdout).toBe('inner\n')
    expect(status).toBe(7)
  })

  it.each([
    ['there is no program', 'no-such-program-of-a-test', 127],
    ['could not be started', import.meta.dirname, 126],
    ['could not be started', `${import.meta.filename}/curl`, 126],
  ])('hold a forwarder that ends as a run without a sandbox does: %s (%s)', (words, program, code) => {
    const { status, stderr } = startForwarder([program])
    expect(stderr).toMatch(new RegExp(`^agent-gateway: .*${words}.*\\n$`))
    expect(status).toBe(code)
  })
})

describe('the profile of sandbox-exec', () => {
  it('denies the network but for the door, and the folders of the gateway', () => {
    expect(seatbeltProfile(4711, ['/srv/project/data', '/odd "name"\\'])).toMatchInlineSnapshot(`
      "(version 1)
      (allow default)
      (deny network*)
      (allow network-outbound (remote ip "localhost:4711"))
      (deny file-read* file-write* (subpath "/srv/project/data"))
      (deny file-read* file-write* (subpath "/odd \\"name\\"\\\\"))
      "
    `)
  })
})
