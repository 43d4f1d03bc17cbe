import { spawnSync } from 'node:child_process'
import { mkdtemp, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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

  describe('hide the sockets of others that would be seen', () => {
    let folder: string
    const servers: Server[] = []
    beforeEach(async () => {
      folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-gateway-')))
    })
    const closeServers = () =>
      Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
    afterEach(async () => {
      await closeServers()
      await removeFolder(folder)
    })

    /** @returns where it is */
    async function listenAt(name: string): Promise<string> {
      const server = createServer()
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(name, resolve))
      return resolve(name)
    }
    async function tables(sockets: string, mounts: string) {
      const files = { sockets: join(folder, 'sockets'), mounts: join(folder, 'mounts') }
      await Promise.all([writeFile(files.sockets, sockets), writeFile(files.mounts, mounts)])
      return files
    }

    it.runIf(process.platform === 'linux')('on which somebody listens', async () => {
      const path = await listenAt(join(folder, 'a socket'))
      expect(await findSockets(folder, {})).toContain(path)
      // No sandbox shows them there, and the door of the run is one of them.
      if (folder.startsWith('/tmp/'))
        for (const elsewhere of ['/srv/project', '/tmp'])
          expect(await findSockets(elsewhere, {})).not.toContain(path)
    })

    it('that were bound by a name relative to the working directory', async () => {
      await listenAt(join(folder, 'bound.sock'))
      const table = (name: string) => `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 14921 ${name}
`
      expect(await findSockets(folder, {}, await tables(table('bound.sock'), ''))).toEqual([
        join(folder, 'bound.sock'),
      ])
      expect(await findSockets(folder, {}, await tables(table('@bound.sock'), ''))).toEqual([])
    })

    it('that are mounted from elsewhere', async () => {
      const path = await listenAt(join(folder, 'a mounted socket'))
      const mounts = [
        `590 581 0:24 / / rw,relatime - ext4 /dev/root rw`,
        `617 590 0:24 /docker.sock ${path.replaceAll(' ', '\\040')} rw,nosuid - tmpfs tmpfs rw`,
        `618 590 0:25 /hosts /etc/hosts rw,relatime - ext4 /dev/root rw`,
        '',
      ]
      expect(await findSockets(folder, {}, await tables('', mounts.join('\n')))).toEqual([path])
    })

    it.each([
      ['its path', (path: string) => path],
      ['an address', (path: string) => `unix://${path}`],
      ['an address of D-Bus', (path: string) => `unix:path=${path},guid=0123;unix:abstract=/x`],
      ['a relative path', (path: string) => relative(dirname(path), path)],
    ])('that a variable names, wherever they were moved to: %s', async (_how, value) => {
      await listenAt(join(folder, 'bound.sock'))
      const moved = join(folder, 'moved.sock')
      await rename(join(folder, 'bound.sock'), moved)
      expect(await findSockets(folder, {})).not.toContain(moved)
      expect(await findSockets(folder, { OTHER: undefined, SOME_HOST: value(moved) })).toContain(moved)
    })

    it('but not one that a variable names where nobody listens any more: a server inside takes its place', async () => {
      await listenAt(join(folder, 'bound.sock'))
      const left = join(folder, 'left.sock')
      await rename(join(folder, 'bound.sock'), left)
      const none = await tables('', '')
      expect(await findSockets(folder, { SOME_HOST: left }, none)).toEqual([left])
      await closeServers()
      expect((await stat(left)).isSocket()).toBe(true)
      expect(await findSockets(folder, { SOME_HOST: left }, none)).toEqual([])
    })
  })

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
