// Containers of the image that `npm run image` made, each as locked up as deploy/kubernetes asks for it, on the network of this machine.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Finished, finish } from './process.ts'

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
export const IMAGE = `localhost/agent-gateway:${version}`

/** runc and its own cgroups work where there is no systemd, too. */
const GLOBAL = ['--cgroup-manager=cgroupfs', '--runtime=runc']
/** As the pod of deploy/kubernetes. Of /tmp and the like podman would make places to write. */
const LOCKED = [
  '--read-only',
  '--read-only-tmpfs=false',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
]
/** What podman asks for by itself is more than some machines allow. */
const LIMITS = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096']

/** @throws with what it said, where podman fails */
export async function podman(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await tryPodman(...args)
  if (code !== 0) throw new Error(`podman ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

export const tryPodman = (...args: readonly string[]): Promise<Finished> =>
  finish('podman', [...GLOBAL, ...args])

export interface ContainerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** `source:target[:options]`; a source without a slash is a volume. */
  readonly volumes?: readonly string[]
}

const settings = ({ env = {}, volumes = [] }: ContainerOptions) => [
  '--network=host',
  ...LOCKED,
  ...LIMITS,
  ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
  ...volumes.map((volume) => `--volume=${volume}`),
]

/** Runs a program of the image to its end, with `input` on stdin. */
export const runInImage = (program: readonly string[], options: ContainerOptions = {}, input?: string) => {
  const [entrypoint, ...args] = program
  const interactive = input === undefined ? [] : ['--interactive']
  return finish(
    'podman',
    [
      ...GLOBAL,
      'run',
      '--rm',
      ...interactive,
      ...settings(options),
      `--entrypoint=${entrypoint}`,
      IMAGE,
      ...args,
    ],
    input === undefined ? {} : { input },
  )
}

export interface Container {
  readonly name: string
  /** Of its first process, outside. */
  pid(): Promise<number>
  logs(): Promise<string>
  /** Resolves with the exit code, when it has ended. */
  ended(): Promise<number>
  remove(): Promise<void>
}

export async function startContainer(options: ContainerOptions): Promise<Container> {
  const name = `gateway-test-${randomUUID().slice(0, 8)}`
  await podman('run', '--detach', `--name=${name}`, ...settings(options), IMAGE)
  return {
    name,
    pid: async () => Number(await podman('inspect', '--format={{.State.Pid}}', name)),
    async logs() {
      const { stdout, stderr } = await tryPodman('logs', name)
      return stdout + stderr
    },
    ended: async () => Number(await podman('wait', name)),
    remove: async () => void (await podman('rm', '--force', '--time=0', name)),
  }
}
