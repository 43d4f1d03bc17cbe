// The power fails: what was not on the disk is gone, and every process with it.
import { join } from 'node:path'
import { must } from '../../src/lib/must.ts'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { isFile, missingFor, mountWithPower, type PowerMount } from '../mounts.ts'

const IMAGE_MB = 400
/** Answers that it is done where a program asks for the disk. */
const NO_FSYNC = [
  '/usr/lib/x86_64-linux-gnu/libeatmydata.so',
  '/usr/lib/aarch64-linux-gnu/libeatmydata.so',
] as const

type PowerScene = CallScene & { readonly disk: PowerMount }

async function open(engine: 'sqlite' | 'postgres', isLying = false): Promise<PowerScene> {
  const disk = await mountWithPower(IMAGE_MB)
  const folder = join(disk.folder, 'data')
  const preload = isLying && engine === 'sqlite' ? { LD_PRELOAD: await liar() } : {}
  const settings = isLying && engine === 'postgres' ? ['fsync=off'] : []
  const scene = await openCalls({
    engine,
    ...(engine === 'sqlite'
      ? { dataDir: folder, envOf: async () => preload }
      : { cluster: { folder, settings }, replicas: 2 }),
    cleanUp: () => disk.close(),
  })
  // What was set up is no matter of this test.
  await disk.sync()
  return { ...scene, disk }
}

async function liar(): Promise<string> {
  const found = await Promise.all(NO_FSYNC.map(isFile))
  return must(
    NO_FSYNC.find((_, i) => found[i]),
    'libeatmydata',
  )
}

async function missing(): Promise<string | undefined> {
  const programs = await missingFor('mount', 'mkfs.xfs', 'xfs_io')
  if (programs !== undefined) return programs
  const found = await Promise.all(NO_FSYNC.map(isFile))
  return found.includes(true) ? undefined : 'there is no libeatmydata'
}

export const faults: readonly Fault<PowerScene>[] = [
  {
    name: 'power loss under SQLite',
    command: 'data on XFS in a loop device; xfs_io -x -c shutdown, kill -9, mount again',
    promise: 'what was acknowledged is on the disk (`synchronous = FULL`)',
    notCovered: 'a disk that lies about its cache; `sqlite3` opened by hand with other pragmas',
    missing,
    open: () => open('sqlite'),
    async inject({ disk, replicas }) {
      const gateway = must(replicas[0], 'the gateway')
      await disk.cutPower()
      await gateway.stop('SIGKILL')
      await disk.restore()
    },
    heal: ({ replicas }) => must(replicas[0], 'the gateway').resume(),
    control: { what: 'fsync that does nothing (libeatmydata)', open: () => open('sqlite', true) },
  },
  {
    name: 'power loss under PostgreSQL',
    command: 'the same with the folder of the server',
    promise: 'what was acknowledged is in the log on disk (`fsync` and `synchronous_commit` on)',
    notCovered: 'the same as above',
    missing,
    open: () => open('postgres'),
    async inject({ disk, database }) {
      await disk.cutPower()
      await database().kill()
      await disk.restore()
    },
    heal: ({ database }) => database().start(),
    control: { what: '`fsync = off`', open: () => open('postgres', true) },
  },
]
