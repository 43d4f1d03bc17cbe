// No space is left where the data is.
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { type FillableMount, missingFor, mountSmall } from '../mounts.ts'
import { loseReceipt, takeCredit } from '../spoil.ts'

const SQLITE_MB = 24
const POSTGRES_MB = 110
const FULL_MS = 10_000

type DiskScene = CallScene & { readonly disk: FillableMount }

async function open(engine: 'sqlite' | 'postgres'): Promise<DiskScene> {
  const disk = await mountSmall(engine === 'sqlite' ? SQLITE_MB : POSTGRES_MB)
  const folder = join(disk.folder, 'data')
  const scene = await openCalls({
    engine,
    ...(engine === 'sqlite' ? { dataDir: folder } : { cluster: { folder }, replicas: 2 }),
    cleanUp: () => disk.close(),
  })
  return { ...scene, disk }
}

const whole = {
  missing: () => missingFor('mount', 'dd'),
  async inject({ disk }: DiskScene) {
    await disk.fill()
    await sleep(FULL_MS)
  },
  heal: ({ disk }: DiskScene) => disk.free(),
}

export const faults: readonly Fault<DiskScene>[] = [
  {
    ...whole,
    name: 'disk full under SQLite',
    command: 'dd if=/dev/zero of=DATA/filler until nothing fits, 10 s; rm',
    promise: 'calls are told to repeat, nothing half is kept; work goes on once there is space',
    notCovered: 'a disk that stays full: see to space, a fault that no gateway can heal',
    open: () => open('sqlite'),
    control: loseReceipt,
  },
  {
    ...whole,
    name: 'disk full under PostgreSQL',
    command: 'the same in the folder of the server, under a supervisor that starts it again',
    promise: 'as above; PostgreSQL may end, and recovers once there is space',
    notCovered: 'a server that nobody starts again',
    open: () => open('postgres'),
    control: takeCredit,
  },
]
