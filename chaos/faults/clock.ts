// The clock of the machine steps, as where a time server was wrong, or a machine slept.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { isFile } from '../mounts.ts'
import { loseReceipt, takeCredit } from '../spoil.ts'

const LIBRARIES = ['x86_64', 'aarch64'].map((arch) => `/usr/lib/${arch}-linux-gnu/faketime/libfaketime.so.1`)
const STEP_S = 600
const SLACK_S = 60
const FAULT_MS = 8000

type ClockScene = CallScene & { step(seconds: number): Promise<void> }

async function library(): Promise<string | undefined> {
  for (const path of LIBRARIES) if (await isFile(path)) return path
  return undefined
}

async function open(): Promise<ClockScene> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-clock-'))
  const file = join(folder, 'time')
  async function step(seconds: number): Promise<void> {
    // Renamed into place, so that nobody reads half of it.
    await writeFile(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`)
    await rename(`${file}.new`, file)
  }
  await step(0)
  const scene = await openCalls({
    engine: 'postgres',
    replicas: 2,
    envOf: async (replica) =>
      // The second replica keeps its clock: the two disagree for as long as the step lasts.
      replica === 0
        ? {
            LD_PRELOAD: (await library()) ?? '',
            FAKETIME_TIMESTAMP_FILE: file,
            FAKETIME_NO_CACHE: '1',
            // Timers go on as they did: it is the wall clock that steps.
            DONT_FAKE_MONOTONIC: '1',
          }
        : {},
    cleanUp: () => rm(folder, { recursive: true }),
  })
  return { ...scene, step }
}

const shared = {
  missing: async () => ((await library()) === undefined ? 'there is no libfaketime' : undefined),
  open,
  heal: ({ step }: ClockScene) => step(0),
  promise: 'calls go on; no credit is lost or found, no receipt is refused',
  notCovered: 'payments whose authorization ends within the step are refused as expired; a step of days',
}
const hold = (seconds: number) => async (scene: ClockScene) => {
  await scene.step(seconds)
  await sleep(FAULT_MS)
  const { headers } = await scene.operator.rest('GET', '/healthz')
  const stepped = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1000
  if (Math.abs(stepped - seconds) > SLACK_S)
    throw new Error(`the clock was ${stepped} s away, not ${seconds}`)
}

export const faults: readonly Fault<ClockScene>[] = [
  {
    ...shared,
    name: 'clock of one replica 10 minutes ahead, and back',
    command: 'libfaketime +600 on one of two, 8 s',
    inject: hold(STEP_S),
    control: takeCredit,
  },
  {
    ...shared,
    name: 'clock of one replica 10 minutes behind, and back',
    command: 'libfaketime -600 on one of two, 8 s',
    inject: hold(-STEP_S),
    control: loseReceipt,
  },
]
