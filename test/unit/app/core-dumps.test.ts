// What a start and the doctor say of core dumps that are allowed, of processes that have the limits of a shell.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { coreLimit, describeCoreDumps } from '../../../src/app/core-dumps.ts'
import { checkCoreDumps } from '../../../src/app/doctor/runtime.ts'

/** Runs while a process with these limits does. */
async function withLimits<T>(ulimit: string, look: (pid: number) => T): Promise<Awaited<T>> {
  const shell = spawn('bash', ['-c', `ulimit ${ulimit} && echo ready && read`], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  try {
    await once(shell.stdout, 'data')
    return await look(shell.pid!)
  } finally {
    shell.stdin.end('\n')
    await once(shell, 'close')
  }
}

const config = loadConfig({})
const lookAt = async (pid: number) =>
  [
    describeCoreDumps(coreLimit(pid)),
    await checkCoreDumps({ config, running: { pid, url: 'http://127.0.0.1:8402' } }),
  ] as const

/** Nobody may allow more than the hard limit does. */
const isHardLimitOpen = /^Max core file size +\S+ +unlimited /m.test(
  readFileSync('/proc/self/limits', 'utf8'),
)

describe('core dumps', () => {
  it('that are off are not spoken of, whatever the hard limit is', async () => {
    const [said, findings] = await withLimits('-S -c 0', lookAt)
    expect(said).toBeUndefined()
    expect(findings).toEqual([{ level: 'ok', check: 'core dumps', says: 'off' }])
  })

  it.each(
    isHardLimitOpen
      ? [
          ['-S -c 1', 'of up to 1024 bytes'],
          ['-S -c unlimited', 'of any size'],
        ]
      : [],
  )('that %s allows are, and the doctor says how to switch them off', async (ulimit, size) => {
    const [said, findings] = await withLimits(ulimit, lookAt)
    expect(said).toBe(`a crash may leave a core dump ${size} behind, with the keys of the gateway in it`)
    expect(findings).toEqual([
      { level: 'warn', check: 'core dumps', says: said, todo: expect.stringContaining('LimitCORE=0') },
    ])
  })

  it('of this process are looked at where no gateway runs', async () => {
    const [finding] = await checkCoreDumps({ config, running: undefined })
    expect(finding?.level).toBe(describeCoreDumps() === undefined ? 'ok' : 'warn')
  })
})

it('says nothing where the system does not show the limits of a process', async () => {
  const pid = 2 ** 30
  expect(coreLimit(pid)).toBeUndefined()
  expect(await checkCoreDumps({ config, running: { pid, url: 'http://127.0.0.1:8402' } })).toEqual([])
})
